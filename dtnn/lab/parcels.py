"""`parcels`: the messages of an all-reduce, put into rounds by what each rank did one after the other."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parcel:
    """One message: `count` numbers from place `start` of the vector, from rank `source` to rank `dest`, in round `round`.

    `start` is None where what was sent is no part of the vector itself.
    """

    round: int
    source: int
    dest: int
    start: int | None
    count: int

    def __str__(self):
        what = "something" if self.start is None else f"numbers {self.start} to {self.start + self.count - 1}"
        return f"rank {self.source} -> rank {self.dest}: {what if self.count else 'nothing'}"


def parcels(operations):
    """The messages in their rounds, and for each rank the round in which each of its operations was over.

    A message goes when both sides have come to it; what a rank sends and receives at once may end in different rounds.
    """
    ranks = range(len(operations))
    at, clock, found, ended = [0] * len(ranks), [0] * len(ranks), [], [[] for _ in ranks]
    open_halves = [_halves(operations[rank], 0) for rank in ranks]
    last = [0] * len(ranks)
    while True:
        met = [
            (rank, operations[rank][at[rank]][0])
            for rank in ranks
            if "send" in open_halves[rank] and _waits_for(operations, at, open_halves, operations[rank][at[rank]][0][0], rank)
        ]
        if not met:
            return sorted(found, key=lambda parcel: (parcel.round, parcel.source)), ended
        for source, (dest, start, count) in met:
            number = max(clock[source], clock[dest]) + 1
            found.append(Parcel(number, source, dest, start, count))
            open_halves[source].discard("send")
            open_halves[dest].discard("receive")
            last[source], last[dest] = max(last[source], number), max(last[dest], number)
        for rank in ranks:
            if at[rank] < len(operations[rank]) and not open_halves[rank]:
                ended[rank].append(last[rank])
                at[rank], clock[rank] = at[rank] + 1, last[rank]
                open_halves[rank] = _halves(operations[rank], at[rank])


def _halves(operations, index):
    if index >= len(operations):
        return set()
    sent, source, _ = operations[index]
    return {half for half, there in (("send", sent is not None), ("receive", source is not None)) if there}


def _waits_for(operations, at, open_halves, dest, source):
    """Whether a rank has come to where it receives from that one."""
    return "receive" in open_halves[dest] and operations[dest][at[dest]][1] == source
