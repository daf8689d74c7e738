"""Ports for a controller that nobody else takes before it does."""

import contextlib
import socket
import sys

WANTED = 32  # a controller listens on 18


@contextlib.contextmanager
def reserved(count=WANTED):
    """Within it, free ports that no other process is given; somebody who was told their numbers can listen on them.

    A controller chooses its ports long before it listens there, and meanwhile any connection of any process on this host may
    be given one of them: two of ten clusters that start at once had the same, now and then.  Here they are bound, so that the
    system gives them to nobody, but not listened on, so that it lets who asks for them by number have them.

    Yields
    ------
    list of int
        None at all where a system has no such half-bound ports; the controller then chooses some.

    Examples
    --------
    >>> with reserved(2) as ports, socket.create_server(("127.0.0.1", ports[0])) as server:
    ...     server.getsockname()[1] == ports[0]
    True
    """
    if sys.platform != "linux":
        yield []
        return
    with contextlib.ExitStack() as held:
        yield [_bound(held) for _ in range(count)]


def _bound(held):
    """A port of its own, and the right for others that ask for it by number."""
    one = held.enter_context(socket.socket())
    one.bind(("", 0))
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # now: before, it could have been given one of somebody else's
    return one.getsockname()[1]
