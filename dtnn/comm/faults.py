"""What can be wrong with a network and its ranks: settings of `Emulated`, checked and in words, and what a loss is called."""

import math

import numpy as np

from .communicator import known_rank
from .flat import flat

LOST, DAMAGED = "lost", "damaged"  # what may become of a message


class MessageLost(RuntimeError):
    """A message of this rank never arrived, as it was to be; the text says which, and that nobody can go on."""


def check(size, latency=0.0, bandwidth=None, slow=None, lose=None, damage=None, only=None):
    """Raise a `ValueError` unless these settings of `Emulated` make sense on `size` ranks."""
    if not 0 <= latency < math.inf:
        raise ValueError(f"latency={latency}: seconds that a message takes longer can't be that; give 0 or more")
    if bandwidth is not None and not bandwidth > 0:
        raise ValueError(f"bandwidth={bandwidth}: bytes a second must be above 0; leave it out for no limit")
    for rank, factor in (slow or {}).items():
        known_rank(rank, size, "slow rank")
        if not 1 <= factor < math.inf:
            raise ValueError(f"factor={factor} of rank {rank}: a rank can only be made slower; give 1 or more")
    for message in filter(None, (lose, damage)):
        known_rank(message[0], size, "rank")
        if message[1] < 0:
            raise ValueError(f"number={message[1]}: messages are counted from 0")
    if only is not None:
        known_rank(only, size, "rank")


def in_words(latency=0.0, bandwidth=None, slow=None, lose=None, damage=None, only=None):
    """What settings of `Emulated` do, a sentence each.

    >>> in_words(latency=0.01, only=2, slow={1: 1.5})
    ['rank 1 computes 1.5 times as long', "each message on rank 2's link takes 0.01 s longer"]
    """
    link, links = ("", "links carry") if only is None else (f" on rank {only}'s link", f"rank {only}'s link carries")
    said = [f"rank {rank} computes {factor:g} times as long" for rank, factor in (slow or {}).items()]
    said += [f"each message{link} takes {latency:g} s longer"] if latency else []
    said += [f"{links} {bandwidth:g} bytes/s"] if bandwidth else []
    said += [f"message {lose[1]} of rank {lose[0]} is lost"] if lose else []
    return said + ([f"message {damage[1]} of rank {damage[0]} is damaged"] if damage else [])


def damage_one_bit(array):
    """Turn one bit over, in place, see `with_a_wrong_bit`."""
    array[...] = with_a_wrong_bit(array)


def with_a_wrong_bit(array):
    """A copy of an array in which one bit is wrong: the sign of a number in the middle that is not 0, so that it matters.

    >>> with_a_wrong_bit(np.array([0.5, 0.0, 0.0, 2.0, 1.0])).tolist()
    [0.5, 0.0, 0.0, -2.0, 1.0]
    """
    wrong = flat(array).copy()
    places = np.flatnonzero(wrong)
    if places.size and wrong.dtype.kind == "f":
        place = places[places.size // 2]
        wrong[place] = -wrong[place]
    elif wrong.size:
        letters = wrong.view(np.uint8)
        letters[letters.size // 2] ^= 128
    return wrong.reshape(array.shape)
