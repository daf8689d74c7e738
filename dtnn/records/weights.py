"""The weights themselves, of one moment."""

from dataclasses import dataclass

from .shapes import shapes


@dataclass(frozen=True, slots=True, repr=False)
class Weights:
    """Parameters and running statistics of one rank after `step` updates, by name "shape", "dtype" and "values", a base64 text.

    `asked` is the layer or the parameter that somebody asked for, "" for all of them.
    """

    rank: int
    step: int
    asked: str
    arrays: dict
    time: float

    def __repr__(self):
        told = f"rank={self.rank!r}, step={self.step!r}, asked={self.asked!r}"
        return f"Weights({told}, arrays={shapes(self.arrays)}, time={self.time!r})"
