"""Requests of MPI under way, whose memory outlives whatever happens to those who wait."""

import itertools

from .failures import Mismatch
from .need import of_nobody

HELD = {}  # buffers MPI may still write to: of what is under way, and for the life of the process of what was abandoned
NUMBERS = itertools.count()


class Pending:
    """One operation of a communicator, perhaps in several messages: a request.

    Parameters
    ----------
    comm : MPI
        Whose operation it is.
    calls : iterable
        Each turn begins a message and gives its request; None says it has already ended (a blocking call).
    buffers : object
        All memory that the calls hand to MPI. It is held from before the first call until all have ended; if they never
        do, because the wait was interrupted or a rank failed, for ever.
    size : int
        Bytes that travel, for patience.
    finish : callable, optional
        Called once at the end.
    expected : list of tuple, optional
        For receiving: source and bytes of each message, which what arrives must match, and a function that says in words what
        was sent, if it is known.
    need : callable, optional
        Gives the `Need` of a wait for it. Of a collective it is nobody's: all ranks have agreed on it before.
    """

    def __init__(self, comm, calls, buffers, size=0, finish=None, expected=None, need=of_nobody):
        self.comm, self.finish, self.size, self.need = comm, finish, size, need
        self.number = next(NUMBERS)
        HELD[self.number] = buffers
        comm.under_way += 1
        expected = expected or itertools.repeat(None)
        self.left = [(request, wanted) for request, wanted in zip(calls, expected) if request is not None]
        self.left.reverse()  # the last is asked first, and taken off when it has ended

    def Test(self):
        self.comm.look()
        return self.has_ended()

    def Wait(self):
        if not self.has_ended():
            self.comm.wait(self.has_ended, self.size, need=self.need)

    def has_ended(self):
        """Whether all messages have arrived; looks at nothing else."""
        while self.left:
            if not self._ask(*self._test_of_last()):
                return False
            self.left.pop()
        if self.number in HELD:
            self._end()
        return True

    def _test_of_last(self):
        request, wanted = self.left[-1]
        return request.Test, wanted

    def _ask(self, call, wanted):
        if wanted is None:
            return call()
        source, size, said = wanted
        status = self.comm.library.Status()
        try:
            ended = call(status)
        except self.comm.library.Exception as error:
            if error.Get_error_class() != self.comm.library.ERR_TRUNCATE:
                raise
            raise Mismatch(
                f"rank {source} sent {_in_words(said)}more than the {size} bytes that rank {self.comm.rank} receives"
            ) from error
        got = status.Get_count(self.comm.library.BYTE) if ended else size
        if got != size:
            what = f"{_in_words(said)}{got} bytes, but rank {self.comm.rank} receives {size}"
            raise Mismatch(f"rank {source} sent {what}; make the arrays alike")
        return ended

    def _end(self):
        del HELD[self.number]
        self.comm.under_way -= 1
        if self.finish:
            self.finish()


def _in_words(said):
    text = said()
    return text and f"{text}, "
