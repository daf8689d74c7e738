"""`Accidents`: which of a rank's messages is lost or damaged on its way, and what that does to it."""

import threading

import numpy as np

from .checked import described
from .flat import flat
from .threads import Threads

LOST, DAMAGED = "lost", "damaged"  # what may become of a message


class MessageLost(RuntimeError):
    """A message of this rank never arrived, as it was to be; the text says which, and that nobody can go on."""


class Accidents:
    """Counts the messages of a rank, and knows what becomes of each.

    Parameters
    ----------
    rank : int
    lose, damage : tuple of int, or None
        (rank, number), as for `Emulated`; those of other ranks are none of this one's.
    smallest : int
        Arrays of fewer bytes don't count.
    patience : float
        Seconds after which a rank gives up that waits because of a loss.

    Attributes
    ----------
    gone : str
        What to say when the rank's wait has been ended because of a loss; "" before that.
    """

    def __init__(self, rank, lose, damage, smallest, patience):
        self.rank, self.smallest, self.patience, self.sent, self.gone = rank, smallest, patience, 0, ""
        self.lost, self.damaged = (message[1] if message and message[0] == rank else None for message in (lose, damage))

    def fate(self, array):
        """What becomes of the next message: `LOST`, `DAMAGED`, or "" for nothing special."""
        if not isinstance(array, np.ndarray) or array.nbytes < self.smallest:
            return ""
        number, self.sent = self.sent, self.sent + 1
        return LOST if number == self.lost else DAMAGED if number == self.damaged else ""

    def loss(self, array, what):
        """What to say of the message that was lost, an array."""
        return (
            f"message {self.lost} of rank {self.rank} ({what}, {described(array)}) was lost, as it was to be; "
            f"for {self.patience:g} s nobody could go on"
        )

    def deliver(self, comm, array, what, send):
        """Have `send(array)` hand over a message, unless it is the one to be lost; whether it was."""
        fate = self.fate(array)
        if fate == LOST:
            self.give_up_later(comm, array, what)
        else:
            send(with_a_wrong_bit(array) if fate == DAMAGED else array)
        return fate != LOST

    def give_up_later(self, comm, array, what):
        """The sender knows nothing of a loss; where nobody sees that all ranks wait, its own wait ends after a while."""
        if isinstance(_innermost(comm), Threads):
            return  # where a deadlock is noticed at once

        def give_up():
            self.gone = self.loss(array, what)
            comm.interrupt()

        timer = threading.Timer(self.patience, give_up)
        timer.daemon = True
        timer.start()


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


def _innermost(comm):
    """The communicator that does the work, whatever is around it."""
    while hasattr(comm, "comm"):
        comm = comm.comm
    return comm
