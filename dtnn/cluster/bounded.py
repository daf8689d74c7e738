"""Records that are large, and how many of them a client keeps."""

from collections import deque
from dataclasses import dataclass

LARGE, KEPT = 10_000, 20_000_000  # bytes: from which a record is large, and how much of large records is kept


@dataclass(frozen=True)
class Dropped:
    """Stands where a large record was that the client could not keep: too many came."""

    kind: str
    bytes: int


class Bounded:
    """Makes room in a list of records: the oldest large ones (pictures, gradients ...) are given up, small ones all stay.

    Examples
    --------
    >>> records, bounded = ["a picture"], Bounded()
    >>> bounded.make_room(records, [])
    >>> records
    ['a picture']
    """

    def __init__(self):
        self._places, self._bytes = deque(), 0

    def make_room(self, records, sizes):
        """For records of these sizes in bytes, which will be appended."""
        for place, size in enumerate(sizes, len(records)):
            if size >= LARGE:
                self._places.append((place, size))
                self._bytes += size
        while self._bytes > KEPT and self._places[0][0] < len(records):
            place, size = self._places.popleft()
            self._bytes -= size
            records[place] = Dropped(type(records[place]).__name__, size)
