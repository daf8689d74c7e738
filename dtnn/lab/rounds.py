"""What ranks say to each other in an all-reduce, round by round, found out by running it."""

from dataclasses import dataclass

import numpy as np

from ..comm import run_threads
from ..comm.traced import Traced
from ..plots.messages import places_of
from ..records import Message
from .parcels import parcels
from .witness import Witness

MOST = 16  # ranks: each has one bit in the sums


@dataclass(frozen=True)
class Rounds:
    """An all-reduce that was watched.

    Parameters
    ----------
    parcels : list of Parcel
        In order of their rounds, which are counted from 1: a message is in the round after the last one that its sender or its
        receiver had before.
    sums : list of ndarray (P, n)
        What each rank holds at first and after each round: a number whose bit r says that rank r's part is in. Of the library's
        own, whose messages are not seen, at first and at the end. Of a long vector only what can be shown.
    length : int
        Numbers in the vector.
    messages, bytes : int
        All that was sent.
    """

    parcels: list
    sums: list
    length: int
    messages: int
    bytes: int

    def __len__(self):
        return len(self.sums) - 1

    def between(self, ranks_per_node):
        """How many of the messages, and of the numbers in them, go from one node to another, with so many ranks on each."""
        across = [parcel for parcel in self.parcels if parcel.source // ranks_per_node != parcel.dest // ranks_per_node]
        return len(across), sum(parcel.count for parcel in across)

    def of(self, number):
        """The messages of one round."""
        return [parcel for parcel in self.parcels if parcel.round == number]


def rounds(algorithm, ranks, length, run=run_threads):
    """Run an all-reduce on ranks that are threads, and note who sends what to whom, and what each rank then holds.

    Each rank begins with a vector of 2^rank in float32, so that a partial sum says whose parts are in it. Of what the ranks hold
    between the rounds as many places are kept as a picture shows (`dtnn.plots.messages.places_of`).

    Parameters
    ----------
    algorithm : callable
        ``algorithm(comm, array)`` sums in place.
    ranks : int
        Up to 16.
    length : int
        Numbers in the vector.
    run : callable
        Has a function done by all ranks, as `run_threads` does.

    Returns
    -------
    Rounds

    Raises
    ------
    ValueError
        More than 16 ranks, or fewer than 1.
    Exception
        What the algorithm raises; a deadlock says who waits for whom.

    Examples
    --------
    >>> from dtnn.comm.collectives import ring
    >>> seen = rounds(ring, 3, 3)
    >>> len(seen), seen.messages, [(p.source, p.dest, p.start) for p in seen.of(1)]
    (4, 12, [(0, 1, 2), (1, 2, 0), (2, 0, 1)])
    >>> seen.sums[-1].tolist()
    [[7, 7, 7], [7, 7, 7], [7, 7, 7]]
    """
    if not 1 <= ranks <= MOST:
        raise ValueError(f"{ranks} ranks can't be shown; choose 1 to {MOST}")

    places = places_of(length, ranks)

    def job(comm):
        array = np.full(length, 2.0**comm.rank, np.float32)
        witness = Witness(Traced(comm), array, places)
        algorithm(witness, array)
        return witness.operations, array[places], witness.comm.notes

    told = run(job, ranks)
    sent = [note for _, _, notes in told for note in notes if isinstance(note, Message)]
    sent_in, ended = parcels([operations for operations, _, _ in told])
    begun = np.repeat(2 ** np.arange(ranks)[:, None], len(places), axis=1)
    return Rounds(sent_in, [begun, *_sums(told, ended)], length, len(sent), sum(note.bytes for note in sent))


def _sums(told, ended):
    """What each rank holds after each round: what its next operation began with."""
    sums = []
    for number in range(1, max((rounds[-1] for rounds in ended if rounds), default=1) + 1):
        rows = []
        for (operations, final, _), over in zip(told, ended):
            later = [before for (_, _, before), end in zip(operations, over) if end > number]
            rows.append(later[0] if later else final)
        with np.errstate(invalid="ignore"):  # what a wrong one makes of it may be no number
            sums.append(np.array(rows).astype(np.int64))
    return sums
