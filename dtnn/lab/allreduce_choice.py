"""`Choice`: which all-reduce is looked at, on how many ranks, for how long a vector."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from ..comm.cost import lower_bound
from .allreduce_facts import ITEM, clocked, formula
from .rounds import rounds
from .trial import tried

PATIENCE = 5.0  # seconds that an all-reduce of the user's own may take


@dataclass(frozen=True)
class Choice:
    """An all-reduce, and what it is tried on.

    Parameters
    ----------
    name : str
    algorithm : callable
        ``algorithm(comm, array)``.
    ranks, length, ranks_per_node : int
    rows : int or None
        Of a torus.
    own : bool
        Whether it is the user's, so that no formula is known.

    Examples
    --------
    >>> from dtnn.comm.collectives import ring
    >>> chosen = Choice("ring", ring, ranks=3, length=6, ranks_per_node=1)
    >>> str(chosen), chosen.cost.messages, chosen.watched().messages
    ('ring on 3 ranks, 6 numbers', 12, 12)
    """

    name: str
    algorithm: Callable
    ranks: int
    length: int
    ranks_per_node: int
    rows: int | None = None
    own: bool = False

    @property
    def cost(self):
        """The formula's; None where there is none."""
        size = self.length * ITEM
        return None if self.own else formula(self.name, self.ranks, size, self.ranks_per_node, self.rows)

    @property
    def least(self):
        """What no all-reduce goes below."""
        return lower_bound(self.ranks, self.length * ITEM)

    def watched(self):
        """Its `Rounds`; an error, if it has not ended in time."""
        return rounds(self.algorithm, self.ranks, self.length, _limited(PATIENCE))

    def begun(self):
        """The same as a `Future`, from a thread of its own: it may take a while, and one of the user's own may never end."""
        outcome = Future()
        threading.Thread(target=self._watch, args=(outcome,), name="watch an all-reduce", daemon=True).start()
        return outcome

    def _watch(self, outcome):
        try:
            outcome.set_result(self.watched())
        except Exception as error:
            outcome.set_exception(error)

    def clocked(self, links, seconds, ending=None):
        """Seconds that it takes on such links, at most `seconds`; may be ended."""
        return clocked(self.algorithm, self.ranks, self.length, links, _limited(seconds, ending))

    def between(self, seen):
        """Messages and bytes from node to node; None where no node has several of the ranks, or no message is seen."""
        if not seen.parcels or not 1 < self.ranks_per_node < self.ranks:
            return None
        count, numbers = seen.between(self.ranks_per_node)
        return count, numbers * ITEM

    def __str__(self):
        columns = f" ({self.rows} × {self.ranks // self.rows})" if self.rows else ""
        return f"{self.name}{columns} on {self.ranks} ranks, {self.length} number{'s' * (self.length != 1)}"


def _limited(seconds, ending=None):
    return lambda job, ranks: tried(job, ranks, seconds, ending)
