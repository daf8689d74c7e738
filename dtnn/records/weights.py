"""The weights themselves, of one moment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """Parameters and running statistics of one rank after `step` updates, by name "shape", "dtype" and "values", a base64 text.

    `asked` is the layer or the parameter that somebody asked for, "" for all of them.
    """

    rank: int
    step: int
    asked: str
    arrays: dict
    time: float
