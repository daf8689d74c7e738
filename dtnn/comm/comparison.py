"""`Comparison`: whether the ranks of an MPI communicator ask for the same, before MPI adds up what does not belong together."""

import time
from collections import deque

import numpy as np

from .agreement import digest, disagreement, extremes
from .checked import described
from .need import Need, of_nobody
from .pending import HELD, NUMBERS, Pending

TAG = 9  # of what ranks tell each other in words
PATIENCE = 2.0  # seconds: who has not come to the disagreement by then does something else


class Comparison:
    """Compares the calls of one communicator, in the order in which each rank makes them.

    A call is a text and 63 bits of it. Where ranks meet in shared memory they say these there; else they travel in a message of
    16 bytes.  A request does not wait for its message, and so nothing is known of it before it is asked after.

    Parameters
    ----------
    comm : MPI
        Whose calls they are.
    beside : mpi4py.MPI.Comm or None
        A duplicate for the messages, on which nobody else makes collectives; None: nothing is compared but sums in shared memory.
    """

    def __init__(self, comm, beside):
        self.comm, self.beside, self.texts, self.open = comm, beside, {}, deque()
        self.begun = 0  # doubts
        self.rendezvous = None  # where ranks meet, once there is such a place

    def asking(self, verb, array=None):
        """A call in words and as a number."""
        key = (verb,) if array is None else (verb, array.dtype, array.shape)
        if key not in self.texts:
            text = verb if array is None else f"{verb} of {described(array)}"
            self.texts[key] = text, digest(text) >> 1
        return self.texts[key]

    def compare(self, verb, array=None):
        """Wait for all, and raise `Mismatch` if they don't ask for the same."""
        if self.beside is None:
            return
        text, number = self.asking(verb, array)
        if self.rendezvous is not None:
            if self.rendezvous.meet(number) is None:
                self.disagree(text)
            return
        self._doubt(text, number)
        if not self.settle():
            self.comm.wait(self.settle, 0)

    def begin(self, verb, array):
        """The same without waiting: a `Doubt`, or None where nothing is compared."""
        if self.beside is None:
            return None
        doubt = self._doubt(*self.asking(verb, array))
        if self.rendezvous is not None:
            self.rendezvous.begin()
        return doubt

    def _doubt(self, text, number):
        doubt, self.begun = Doubt(self.comm, self.beside, text, number), self.begun + 1
        self.open.append(doubt)
        return doubt

    def settle(self):
        """Raise `Mismatch` for the first call that ranks disagree about; whether all that were begun are settled."""
        while self.open and self.open[0].pending.has_ended():
            doubt = self.open.popleft()
            if not doubt.alike():
                self.disagree(doubt.text)
            doubt.settled = True
        if self.open and self.rendezvous is not None and self.rendezvous.crossed():
            self.disagree(self.open[0].text)
        return not self.open

    def need(self):
        """The `Need` of whoever waits in a collective: those who have not come yet."""
        late, number = self.rendezvous.missing() if self.rendezvous is not None else ([], 0)
        if late:
            text = next((text for text, common in self.texts.values() if common == number), "a sum")
            return Need(f"for {{}} to join in {text}", [(rank, "", 1) for rank in late])
        if not self.open:
            return of_nobody()
        first, others = self.begun - len(self.open) + 1, (rank for rank in range(self.comm.size) if rank != self.comm.rank)
        return Need(f"for {{}} to join in {self.open[0].text}", [(rank, "begun", first) for rank in others])

    def done(self):
        """How many calls this rank has begun to compare, for those who wait in one."""
        return [("begun", self.begun)]

    def disagree(self, text):
        """Raise `Mismatch`, which says who asks for what; every rank comes here by itself."""
        self.comm.spoil()
        if self.rendezvous is not None and self.rendezvous.begun:
            text += f", after {self.rendezvous.begun} Iallreduce"
        raise disagreement(said_by_all(self.beside or self.comm.world, self.comm.library, text))


class Doubt:
    """Whether all ranks ask for the same in one call, while that is being found out."""

    def __init__(self, comm, beside, text, number):
        self.text, self.found, self.settled = text, extremes(number), False
        calls = (beside.Iallreduce(comm.library.IN_PLACE, self.found, comm.library.MAX) for _ in range(1))
        self.pending = Pending(comm, calls, self.found, self.found.nbytes)

    def alike(self):
        """Whether all have said the same, when all have."""
        return bool(self.found[0] == ~self.found[1])


class Doubted:
    """A request of a collective that ranks are still comparing: it has not ended before that has.

    Parameters
    ----------
    pending : Pending
    doubt : Doubt
    settle : callable
        What settles doubts.
    """

    def __init__(self, pending, doubt, settle):
        self.pending, self.doubt, self.settle = pending, doubt, settle

    def Test(self):
        self.pending.comm.look()
        return self._is_settled() and self.pending.has_ended()

    def Wait(self):
        if not self._is_settled():
            self.pending.comm.wait(self._is_settled, self.pending.size)
        self.pending.Wait()

    def _is_settled(self):
        """Whether all ranks have said that they ask for the same."""
        if not self.doubt.settled:
            self.settle()
        return self.doubt.settled


def said_by_all(comm, library, text):
    """What each rank says, in order of rank, as far as they come to say it within `PATIENCE`; nobody waits for ever.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
    library : module
        ``mpi4py.MPI``.
    text : str
        What this rank says.
    """
    letters = HELD[next(NUMBERS)] = np.frombuffer(text.encode(), np.uint8)  # for ever: others may never fetch it
    said, status, until = {comm.rank: text}, library.Status(), time.perf_counter() + PATIENCE
    sent = [comm.Isend(letters, peer, TAG) for peer in range(comm.size) if peer != comm.rank]
    while len(said) < comm.size and time.perf_counter() < until:
        if comm.Iprobe(tag=TAG, status=status):
            theirs = np.empty(status.Get_count(library.BYTE), np.uint8)
            comm.Recv(theirs, status.source, TAG)
            said[status.source] = theirs.tobytes().decode("utf-8", "replace")
        else:
            time.sleep(0.0001)
    while not library.Request.Testall(sent) and time.perf_counter() < until:
        time.sleep(0.0001)
    return [said.get(rank, f"something else (for {PATIENCE:g} s it did not come here)") for rank in range(comm.size)]
