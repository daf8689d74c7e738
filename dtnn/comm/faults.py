"""What can be wrong with a network and its ranks: settings of `Emulated`, checked and in words."""

from ..allowed import number, shown, whole
from .checked import known_rank

LONGEST, SLOWEST, MOST = 3600.0, 1, 10_000  # seconds of a message; bytes a second; times as long: beyond, nothing would end


def check(size, latency=0.0, bandwidth=None, slow=None, lose=None, damage=None, only=None):
    """Raise a `ValueError` unless these settings of `Emulated` make sense on `size` ranks."""
    number("latency", latency, "seconds that a message takes longer, such as 0.001", None)
    if not 0 <= latency <= LONGEST:
        wrong = "is longer than an hour, and a training sends thousands" if latency > 0 else "can't be"
        raise ValueError(f"latency={latency}: that {wrong}; give seconds that a message takes longer, 0 or more, such as 0.03")
    if bandwidth is not None and not number("bandwidth", bandwidth, "bytes a second, such as 125e6", None) >= SLOWEST:
        raise ValueError(f"bandwidth={bandwidth}: give at least {SLOWEST} byte a second, as 125e6; leave it out for no limit")
    if not isinstance(slow, dict | None):
        raise TypeError(f"slow={shown(slow)}: give a dict of ranks and factors, such as {{1: 2.0}}")
    for rank, factor in (slow or {}).items():
        known_rank(rank, size, "slow rank")
        number(f"factor of rank {rank}", factor, "a number of at least 1, such as 2", None)
        if not 1 <= factor <= MOST:
            raise ValueError(f"factor={factor} of rank {rank}: a rank can only be made slower; give 1 or more, at most {MOST:,}")
    for name, message in (("lose", lose), ("damage", damage)):
        if message is not None:
            _check_message(name, message, size)
    if only is not None:
        known_rank(only, size, "rank")


def _check_message(name, message, size):
    if not isinstance(message, tuple | list) or len(message) != 2:
        raise TypeError(f"{name}={shown(message)}: give (rank, number), such as (1, 10)")
    known_rank(message[0], size, "rank")
    whole("number", message[1])


def in_words(latency=0.0, bandwidth=None, slow=None, lose=None, damage=None, only=None):
    """What settings of `Emulated` do, a sentence each.

    >>> in_words(latency=0.01, only=2, slow={1: 1.5})
    ['rank 1 computes 1.5 times as long', "each message on rank 2's link takes 0.01 s longer"]
    """
    link, links = ("", "links carry") if only is None else (f" on rank {only}'s link", f"rank {only}'s link carries")
    said = [f"rank {rank} computes {factor:g} times as long" for rank, factor in (slow or {}).items()]
    said += [f"each message{link} takes {latency:g} s longer"] if latency else []
    said += [f"{links} {bandwidth:,.12g} bytes/s"] if bandwidth else []
    said += [f"message {lose[1]} of rank {lose[0]} is lost"] if lose else []
    return said + ([f"message {damage[1]} of rank {damage[0]} is damaged"] if damage else [])
