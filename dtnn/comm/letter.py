"""`Letter`: a message between two ranks that are threads."""

from .checked import described
from .failures import Mismatch


class Letter:
    """An array on its way from one rank to another."""

    def __init__(self, source, dest, tag, array, elements):
        self.source, self.dest, self.tag, self.array, self.elements = source, dest, tag, array, elements
        self.received, self.number = False, 0

    def is_received(self):
        """Whether it has reached the rank it is for."""
        return self.received

    def check(self, array):
        """Raise `Mismatch` if it is to be received in an array of another shape or type."""
        sent, wanted = described(self.array), described(array)
        if sent != wanted:
            raise Mismatch(f"rank {self.source} sent {sent} to rank {self.dest}, which receives {wanted}; make them alike")

    def __lt__(self, other):
        """Whether it was posted earlier."""
        return self.number < other.number

    def __str__(self):
        return f"{described(self.array)} to rank {self.dest} (tag {self.tag})"
