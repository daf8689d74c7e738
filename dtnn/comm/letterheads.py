"""`Letterheads`: what kind of array a message between two ranks of MPI is, which MPI itself does not say."""

import time
from collections import defaultdict

import numpy as np

from .checked import described
from .failures import Mismatch
from .need import Need
from .pending import HELD, NUMBERS

TAG = 10
PATIENCE = 1.0  # seconds that a letterhead may come later than its message


class Letterheads:
    """Tells the receiver type and shape of an array when the first of that kind is sent to it with that tag.

    Messages from one rank to another with one tag arrive in order, so both can count them; a letterhead says which one it is for.
    A message is of the kind that its letterhead says; without one, of a kind that was told before.  What is counted also says who
    still waits for which message, see `Standstill`.

    Parameters
    ----------
    comm : MPI
        Whose messages they are.
    beside : mpi4py.MPI.Comm or None
        Where letterheads travel; None: nowhere, and nothing is compared.

    Notes
    -----
    Cost: a message of some 40 bytes for each new kind; afterwards the receiver looks whether there is one.  So what is not
    noticed is only that two arrays of known kinds and of as many bytes come in another order later on.
    """

    def __init__(self, comm, beside):
        self.comm, self.beside, self.status = comm, beside, comm.library.Status()
        self.sent, self.received = defaultdict(int), defaultdict(int)  # messages, by the other rank and tag
        self.told, self.heard = set(), set()  # kinds
        self.letters, self.leaving = {}, []  # of messages that are yet to be received; what may not have left yet

    def send(self, array, dest, tag):
        """To be called before an array is sent; which message that is."""
        number, kind = self.sent[dest, tag], (dest, tag, array.dtype.kind, array.itemsize, array.shape)
        self.sent[dest, tag] = number + 1
        if self.beside is not None and kind not in self.told:
            self.told.add(kind)
            self._post(f"{tag} {number} {described(array)}", dest)
        return dest, tag, number

    def expect(self, source, tag):
        """To be called before an array is received; which message that is."""
        number = self.received[source, tag]
        self.received[source, tag] = number + 1
        return source, tag, number

    def check(self, array, place):
        """To be called when an array has been received; raises `Mismatch` if one of another kind was sent."""
        if self.beside is None:
            return
        source, tag, _ = place
        kind = source, tag, array.dtype.kind, array.itemsize, array.shape
        said = self.said(place, patience=0.0 if kind in self.heard else PATIENCE)
        if not said and kind in self.heard:
            return
        wanted = described(array)
        if said != wanted:
            self.comm.spoil()
            said = said or "an array of a kind that it had sent before with that tag"
            raise Mismatch(f"rank {source} sent {said} to rank {self.comm.rank}, which receives {wanted}; make them alike")
        self.heard.add(kind)

    def said(self, place, patience=0.0):
        """What the letterhead of a message says, or ""; waits for it a while."""
        if self.beside is None:
            return ""
        until = time.perf_counter() + patience
        self._fetch(place[0])
        while place not in self.letters and time.perf_counter() < until:
            self.comm.look()
            self._fetch(place[0])
        return self.letters.pop(place, "")

    def to_send(self, array, place):
        """The `Need` of whoever sends that message."""
        dest, tag, number = place
        return Need(f"to send {described(array)} to rank {dest} (tag {tag})", [(dest, f"received {tag}", number + 1)])

    def to_receive(self, array, place):
        """The `Need` of whoever receives that message."""
        source, tag, number = place
        return Need(f"to receive {described(array)} from rank {source} (tag {tag})", [(source, f"sent {tag}", number + 1)])

    def from_anybody(self, tag):
        """The `Need` of whoever waits for any message."""
        of = [(rank, f"sent {tag}", self.received[rank, tag] + 1) for rank in range(self.comm.size)]
        return Need(f"for a message from anybody (tag {tag})", of, anybody=True)

    def done(self, rank):
        """How many messages this one has sent to another, and begun to receive from it, of each tag."""
        for what, counts in (("sent", self.sent), ("received", self.received)):
            yield from ((f"{what} {tag}", times) for (other, tag), times in counts.items() if other == rank)

    def _post(self, text, dest):
        for entry in [entry for entry in self.leaving if entry[1].Test()]:
            self.leaving.remove(entry)
            del HELD[entry[0]]
        number, letters = next(NUMBERS), np.frombuffer(text.encode(), np.uint8)
        HELD[number] = letters
        self.leaving.append((number, self.beside.Isend(letters, dest, TAG)))

    def _fetch(self, source):
        """Take in what has come from a rank."""
        while self.beside.Iprobe(source, TAG, self.status):
            letters = np.empty(self.status.Get_count(self.comm.library.BYTE), np.uint8)
            self.beside.Recv(letters, source, TAG)
            tag, number, text = letters.tobytes().decode().split(" ", 2)
            self.letters[source, int(tag), int(number)] = text
