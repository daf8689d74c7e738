"""The methods of `Engines` that tell whether its ranks live, whether they can still be heard, and what they died of."""

import time

from . import obituary

LAST_MAIL = 0.5  # seconds that messages may still take when the launcher or the controller has ended


def dead(engines):
    """Ranks whose engines have gone away, or can't be reached any more."""
    here = set(engines.client.ids) if engines.client is not None and not engines.processes.lost() else set()
    return {rank for rank, ident in enumerate(engines.ids) if ident not in here or engines._vanished.seconds(rank)}


def check(engines):
    """Raise `RankDied` if an engine has gone away."""
    dead = engines.dead()
    if dead:
        raise obituary.error(sorted(dead), engines.hellos, engines.processes.log())


def epitaph(engines):
    """Which ranks have died, and of what, in a line; "" if none has, or if it is not for us to start new ones."""
    dead = engines.dead() if engines.folder is not None else ()
    return obituary.line(sorted(dead), engines.hellos, engines.processes.log()) if dead else ""


def silent(engines, rank):
    """Whether nothing more will be heard of a rank, and what was under way has had time to arrive."""
    if engines.stopped:
        return True
    if not engines.processes.lost():
        engines._lost_since = None
    elif engines._lost_since is None:
        engines._lost_since = time.monotonic()
    lost = time.monotonic() - engines._lost_since if engines._lost_since is not None else 0.0
    return max(lost, engines._vanished.seconds(rank)) > LAST_MAIL
