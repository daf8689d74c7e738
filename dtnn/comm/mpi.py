"""Ranks as processes of MPI, which wait without becoming deaf.

A blocking call of MPI hears neither an interrupt nor that the rank it waits for has failed.  So all calls here are begun
and then asked after (`polling`), and between two questions a rank looks for an interrupt and for another's notice of
failure, which travels on a communicator of its own (`notices`).
"""

import atexit
import sys
from functools import partial

import numpy as np

from .checked import known_color, known_key, known_rank, known_tag
from .comparison import Comparison, Doubted
from .failures import RankFailed
from .flat import flat, number_or_array, put_back, reducible
from .letterheads import PATIENCE, Letterheads
from .messages import known_to_mpi, memory, pieces, take_back
from .notices import Notices
from .pending import NUMBERS, Pending
from .polling import Patience, is_crowded
from .shared_sum import KINDS, LEAST, SharedSum
from .standstill import Standstill

UNUSED_TAG = 32_109
NOTHING = np.empty(0)  # an array that nobody else has


class MPI:
    """The communicator of this process.  Making one is collective: all ranks of `world` do it.

    Parameters
    ----------
    world : mpi4py.MPI.Comm, optional
        For the work; ``COMM_WORLD`` if left out.
    notices : mpi4py.MPI.Comm, optional
        A duplicate of `world` for what must not get in the way of the work: notices of failure, and the comparison of what
        ranks ask for. Without it there are neither, but with `blocking` one is made for the comparison.
    blocking : bool
        Use MPI's blocking calls for collectives, once all ranks have come to them: for jobs under ``mpiexec`` that nobody
        interrupts; there a failure ends all processes.
    crowded : bool, optional
        Whether ranks share cores; found out if left out.
    house : MPI, optional
        The communicator that this one is a part of: what ends a wait there ends one here.
    name : str
        Of a part: what its ranks call it.

    Notes
    -----
    What is summed has the same bits on all ranks, but in which order it is added up is the library's affair.  Long arrays are
    added up in shared memory where all ranks are on one host, see `SharedSum`.

    Before each collective ranks compare what they ask for, in shared memory or in a message of 16 bytes, see `Comparison`; MPI
    itself would add up what doesn't belong together, wait for ever, or write beyond an array.  `Iallreduce` does so while it is
    under way.  `Send` tells what kind of array it is the first time, see `Letterheads`.  Ranks that wait only for each other
    find that out after a second, see `Standstill`, but for a rank that only asks after its requests (`Test`).

    After a failure or an interrupt neither `world` nor `notices` may be used again, which `clean` says (`checkout` looks).
    The arrays of operations that were under way are kept for the life of the process, for MPI may still write to them.
    """

    def __init__(self, world=None, notices=None, blocking=False, crowded=None, house=None, name=""):
        from mpi4py import MPI as library

        self.library = library
        self.world = library.COMM_WORLD if world is None else world
        self.rank, self.size = self.world.rank, self.world.size
        self.blocking, self.bytes, self.under_way = blocking, 0, 0
        self._notices, self._house = Notices(library, notices), house
        self._most_tag = library.COMM_WORLD.Get_attr(library.TAG_UB)
        self._crowded = is_crowded(self.world) if crowded is None else crowded
        self._patience = Patience(self._crowded, self._doubt)
        self._own = self.world.Dup() if blocking and notices is None and self.size > 1 else None
        beside = (notices if self._own is None else self._own) if self.size > 1 else None
        self._comparison, self._letterheads = Comparison(self, beside), Letterheads(self, beside)
        self.name, self.parts = name, 0
        self._standstill = Standstill(self, beside) if house is None else house._standstill
        self.ranks = self._standstill.enter(self)
        if self._own is not None and house is None:
            atexit.register(self._standstill.end)  # by an uncaught error, perhaps, of which nobody else would hear
        self._shared = None
        self._usual = NOTHING  # the flat array that was last added up in shared memory: a training asks for it in each step
        self._operations = {"sum": library.SUM, "max": library.MAX, "min": library.MIN}
        self._interrupted = self._failed = False

    @property
    def clean(self):
        """Whether everything begun here has ended, without a failure or an interrupt."""
        return not (self.under_way or self._interrupted or self._failed or self._notices.failure)

    def Send(self, array, dest, tag=0):
        self._send(array, dest, tag).Wait()

    def Recv(self, array, source, tag=0):
        self._receive(array, source, tag).Wait()

    def Probe(self, tag=0):
        status, need = self.library.Status(), partial(self._letterheads.from_anybody, known_tag(tag, self._most_tag))
        self.wait(lambda: self.world.Iprobe(self.library.ANY_SOURCE, tag, status), 0, need=need)
        return status.Get_source()

    def Sendrecv(self, sent, dest, received, source, tag=0):
        incoming = self._receive(received, source, tag)
        self._send(sent, dest, tag).Wait()
        incoming.Wait()

    def Bcast(self, array, root=0):
        elements, root = flat(array, writeable=True), known_rank(root, self.size, "root")
        self._count(elements)
        self._comparison.compare(f"Bcast from rank {root}", array)
        begin = self.world.Bcast if self.blocking else self.world.Ibcast
        calls = (begin(memory(piece), root) for piece in pieces(elements))
        Pending(self, calls, elements, elements.nbytes, partial(put_back, elements, array)).Wait()
        return array

    def Allreduce(self, array, op="sum"):
        if array is self._usual and op == "sum":
            self._add_up(array, *self._comparison.asking("Allreduce sum", array))
            return array
        value, plain = number_or_array(array)
        elements, asked = reducible(value, op), f"Allreduce {op}"
        if op == "sum" and self._sums_in_shared_memory(elements, asked, value):
            self._add_up(elements, *self._comparison.asking(asked, value))
            put_back(elements, array)
            self._usual = array if array.ndim == 1 and elements.base is array.base else NOTHING
        else:
            self._comparison.compare(asked, value)
            self._reduce(value, elements, op, self.world.Allreduce if self.blocking else self.world.Iallreduce).Wait()
        return value.item() if plain else array

    def Iallreduce(self, array, op="sum"):
        elements = reducible(array, op)
        verb = "Iallreduce" if self.blocking else "Allreduce"  # a blocking call of MPI and one that isn't never meet
        doubt = self._comparison.begin(f"{verb} {op}", array)
        pending = self._reduce(array, elements, op, self.world.Iallreduce)
        return pending if doubt is None else Doubted(pending, doubt, self._comparison.settle)

    def Gather(self, array, root=0):
        elements, root = flat(array), known_rank(root, self.size, "root")
        self._count(elements)
        self._comparison.compare(f"Gather to rank {root}", array)
        begin = self.world.Gather if self.blocking else self.world.Igather
        sent = pieces(elements)
        rows = [np.empty((self.size if self.rank == root else 0, piece.size), piece.dtype) for piece in sent]
        calls = (begin(memory(piece), memory(row.reshape(-1)), root) for piece, row in zip(sent, rows))
        Pending(self, calls, [sent, rows], self.size * elements.nbytes).Wait()
        return np.concatenate(rows, axis=1).reshape(self.size, *array.shape) if self.rank == root else None

    def Barrier(self):
        self._comparison.compare("Barrier")
        self.meet()

    def Split(self, color, key=0):
        color, key = known_color(color), known_key(key)
        self._comparison.compare("Split")
        self.parts += 1
        world = self.world.Split(self.library.UNDEFINED if color is None else color, key)
        if color is None:
            return None
        notices = None if self._notices.comm is None else world.Dup()
        return MPI(world, notices, self.blocking, self._crowded, house=self, name=f"{self.name}/{self.parts}.{color}")

    def Free(self):
        self.let_go()
        self._standstill.leave(self)
        if self.clean and self._house is not None:  # after an unclean end what was under way may still be
            self.world.Free()
            if self._notices.comm is not None:
                self._notices.comm.Free()
            if self._own is not None:
                self._own.Free()

    def fail(self, reason):
        self._failed = True
        if self.blocking and self.size > 1:
            print(f"rank {self.rank} failed: {reason}", file=sys.stderr, flush=True)  # the next line ends this process too
            self.world.Abort(1)
        self._notices.tell(reason)

    def spoil(self):
        """From now on this is good for nothing but `fail`: ranks disagree."""
        self._failed = True

    def stir(self):
        """Let what is under way move on; from any thread. False: there is no use in doing it again, see `Stirring`."""
        library = self.library
        if self._interrupted or self._failed or library.Is_finalized() or library.Query_thread() < library.THREAD_MULTIPLE:
            return False
        self.world.Iprobe(tag=UNUSED_TAG)  # any call makes the library look after its messages; this one changes nothing
        return True

    def interrupt(self):
        """Make the wait that this rank is in, or begins next, end with KeyboardInterrupt; from any thread."""
        self._interrupted = True

    def look(self):
        """Raise what a wait has to end with, if there is anything."""
        if self._house is not None:
            self._house.look()
        if self._interrupted:
            raise KeyboardInterrupt
        if self._notices.hear():
            raise RankFailed(*self._notices.failure)

    def wait(self, has_ended, size, look=None, need=None):
        """Poll for `size` bytes until `has_ended()`, looking round meanwhile; `look` looks for more than `self.look`.

        `need` gives the `Need`; left out, it is that of a collective.
        """
        self._waiting = next(NUMBERS), need or self._comparison.need  # whoever looks on can tell this wait from the one before
        self._patience.wait(has_ended, look or self.look, size)

    def done_for(self, rank):
        """How often this rank has done what another, by its number in the whole, may wait for here; see `Standstill`."""
        if rank not in self.ranks:
            return []
        return [*self._comparison.done(), *self._letterheads.done(self.ranks.index(rank))]

    def forget(self):
        """Take in what ranks have told each other of long waits, and nobody needs any more."""
        self._standstill.listen()

    def _doubt(self):
        """A wait lasts long: raise `Deadlock` if it can't end."""
        self._standstill.look(self, *self._waiting)

    def meet(self):
        """A barrier of which nobody is told, and before which nothing is compared."""
        Pending(self, ((self.world.Barrier if self.blocking else self.world.Ibarrier)() for _ in range(1)), None).Wait()

    def shared(self, size):
        """Memory in which sums are made without copies, or None; collective. See `SharedSum.room`."""
        return self._house_memory(f"{size} bytes to add up in").room(size) if self.size > 1 else None

    def let_go(self):
        """Give up the memory that ranks share, on this rank alone: nothing is to be added up here any more."""
        self._shared = self._comparison.rendezvous = None
        self._usual = NOTHING

    def _add_up(self, elements, text, number):
        self._count(elements)
        if not self._shared.add_up(elements, number):
            self._comparison.disagree(text)

    def _sums_in_shared_memory(self, elements, asked, value):
        """Whether a long array is added up there."""
        if self.size == 1 or elements.nbytes < LEAST or elements.dtype not in KINDS:
            return False
        return (self._shared or self._house_memory(asked, value)).works

    def _house_memory(self, asked, array=None):
        """That of the ranks of this host; the first time ranks find out together whether they share any.

        They don't where they share cores: there who waits for the others, twice, waits long.  What they ask for is compared
        before that, for a rank that asks for something else takes no part in it.
        """
        if self._shared is None:
            self._comparison.compare(asked, array)
            self._shared = SharedSum(self, wanted=not self._crowded)
            self._comparison.rendezvous = self._shared.rendezvous
        return self._shared

    def _send(self, array, dest, tag):
        elements, dest, tag = flat(array), known_rank(dest, self.size, "dest"), known_tag(tag, self._most_tag)
        self._count(elements)
        need = partial(self._letterheads.to_send, array, self._letterheads.send(array, dest, tag))
        calls = (self.world.Isend(memory(piece), dest, tag) for piece in pieces(elements))
        return Pending(self, calls, elements, elements.nbytes, need=need)

    def _receive(self, array, source, tag):
        elements, source = flat(array, writeable=True), known_rank(source, self.size, "source")
        tag = known_tag(tag, self._most_tag)
        messages = pieces(elements)
        calls = (self.world.Irecv(memory(piece), source, tag) for piece in messages)
        place = self._letterheads.expect(source, tag)
        said = partial(self._letterheads.said, place, PATIENCE)
        expected = [(source, piece.nbytes, said) for piece in messages]
        take_in, need = partial(self._take_in, elements, array, place), partial(self._letterheads.to_receive, array, place)
        return Pending(self, calls, elements, elements.nbytes, take_in, expected, need)

    def _take_in(self, elements, array, place):
        self._letterheads.check(array, place)
        put_back(elements, array)

    def _reduce(self, array, elements, op, begin):
        self._count(elements)
        numbers = known_to_mpi(elements, op)
        calls = (begin(self.library.IN_PLACE, piece, self._operations[op]) for piece in pieces(numbers))
        return Pending(self, calls, numbers, numbers.nbytes, partial(take_back, numbers, elements, array))

    def _count(self, elements):
        if self.size > 1:
            self.bytes += elements.nbytes
