"""`once`: a double click on a button counts once."""

import contextlib
from datetime import datetime

from ..shell import in_kernel

REPEAT = 0.3  # seconds, on a button that does the same each time; who wants it often gets three a second, however fast they click
OTHER = 0.5  # seconds, on a button that stands for something else after the click, where the second would undo the first


def once(clicked, within=REPEAT):
    """A function that does what `clicked` does, but not for the second click of a double click.

    A click that comes within so many seconds of the last one *that counted* does nothing. People double-click in 0.1 to 0.3 s,
    and desktops take two clicks within 0.5 s for one; who clicks, looks what has happened and clicks again needs longer than
    `REPEAT`. As it is counted from the last click that counted, hammering on a button is slowed down and not shut out.

    It is the page's clock that counts: a kernel that is busy gets both clicks late, and the longer the first takes, the later the
    second. A click that does not come from a page, as `Button.click()` in a cell, always counts.

    Parameters
    ----------
    clicked : callable
    within : float
        Seconds: `REPEAT`, or `OTHER`.

    Examples
    --------
    >>> step = once(lambda: print("a step"))
    >>> step()
    a step
    """
    last = None

    def counted(*arguments):
        nonlocal last
        now = moment()
        if now is not None and last is not None and 0 <= now - last < within:
            return
        last = now
        clicked(*arguments)

    return counted


def moment():
    """When the page sent the click that is handled now, in seconds by its clock; None if no page did."""
    shell = in_kernel()
    header = (getattr(shell, "get_parent", dict)() or {}).get("header", {}) if shell else {}
    date = header.get("date") if header.get("msg_type") == "comm_msg" else None
    with contextlib.suppress(ValueError):
        date = (
            datetime.fromisoformat(date.replace("Z", "+00:00")) if isinstance(date, str) else date
        )  # text, once ipyparallel is imported
    return date.timestamp() if isinstance(date, datetime) else None
