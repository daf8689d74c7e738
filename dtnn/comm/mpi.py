"""Ranks as processes of MPI, which wait without becoming deaf.

A blocking call of MPI hears neither an interrupt nor that the rank it waits for has failed.  So all calls here are begun
and then asked after (`polling`), and between two questions a rank looks for an interrupt and for another's notice of
failure, which travels on a communicator of its own (`notices`).
"""

import atexit
from functools import partial

import numpy as np

from . import alarm, between_two, host_memory, splitting
from .checked import known_rank
from .comparison import Comparison, Doubted
from .flat import flat, number_or_array, put_back, reducible
from .host_memory import NOTHING
from .letterheads import Letterheads
from .messages import known_to_mpi, memory, pieces, take_back
from .notices import Notices
from .pending import NUMBERS, Pending
from .polling import Patience, is_crowded
from .standstill import Standstill

UNUSED_TAG = 32_109


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

    Send, Recv, Probe, Sendrecv = between_two.Send, between_two.Recv, between_two.Probe, between_two.Sendrecv

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
        if op == "sum" and host_memory.adds_up(self, elements, asked, value):
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

    Split, Free = splitting.Split, splitting.Free

    def stir(self):
        """Let what is under way move on; from any thread. False: there is no use in doing it again, see `Stirring`."""
        library = self.library
        if self._interrupted or self._failed or library.Is_finalized() or library.Query_thread() < library.THREAD_MULTIPLE:
            return False
        self.world.Iprobe(tag=UNUSED_TAG)  # any call makes the library look after its messages; this one changes nothing
        return True

    # ---- waiting, and memory that spares it

    fail, spoil, interrupt, look = alarm.fail, alarm.spoil, alarm.interrupt, alarm.look
    shared, let_go = host_memory.shared, host_memory.let_go

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

    def _add_up(self, elements, text, number):
        self._count(elements)
        if not self._shared.add_up(elements, number):
            self._comparison.disagree(text)

    def _reduce(self, array, elements, op, begin):
        self._count(elements)
        numbers = known_to_mpi(elements, op)
        calls = (begin(self.library.IN_PLACE, piece, self._operations[op]) for piece in pieces(numbers))
        return Pending(self, calls, numbers, numbers.nbytes, partial(take_back, numbers, elements, array))

    def _count(self, elements):
        if self.size > 1:
            self.bytes += elements.nbytes
