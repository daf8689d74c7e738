"""`Finding`: one thing that took time, and what to try against it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that took time.

    Parameters
    ----------
    kind : str
        "imbalance", "jitter", "transfer", "exposed", "packing", "update", "evaluation", "data", "other" or "computing".
    share : float
        Of all ranks' time, 0 to 1: what could be won at most.
    text : str
        What was found, with numbers.
    advice : str
        One thing to try.

    Examples
    --------
    >>> Finding("data", 0.2, "Gathering takes 20 % of the time.", "Augment less.").advice
    'Augment less.'
    """

    kind: str
    share: float
    text: str
    advice: str
