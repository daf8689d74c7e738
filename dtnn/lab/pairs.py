"""`PAIRS`: for each set of points two numbers of a place, of which two weights alone can tell the classes apart."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Pair:
    """A model of two weights: class 1 is where a * first + b * second is above 0.

    Parameters
    ----------
    first, second : str
        What the two numbers are, in x and y.
    of : function
        Points (N, 2) -> the two numbers of each, (N, 2).
    more : str
        What else is to be said of them.

    Examples
    --------
    >>> PAIRS["circle"].weights, PAIRS["circle"].of(np.array([[0.5, -0.5]])).tolist()
    (('a, weight of x² + y²', 'b, weight of 1'), [[0.5, 1.0]])
    >>> PAIRS["gauss"].border(2.0, -0.5)
    'class 1 is where 2.00 x − 0.50 y > 0'
    """

    first: str
    second: str
    of: Callable
    more: str = ""

    @property
    def weights(self):
        """Names of the two weights."""
        return f"a, weight of {self.first}", f"b, weight of {self.second}"

    def border(self, a, b):
        """What the model says, with its numbers."""
        first = f"({self.first})" if "+" in self.first else self.first
        second = "" if self.second == "1" else f" {self.second}"
        return f"class 1 is where {_signed(a)} {first} {'−' if b < 0 else '+'} {abs(b):.2f}{second} > 0{self.more}"


def _signed(number):
    return f"{number:.2f}".replace("-", "−")


def _radius(points):
    return np.stack([(points**2).sum(1), np.ones(len(points))], axis=1)


def _product(points):
    return np.stack([points.prod(1), np.ones(len(points))], axis=1)


def _turned(points):
    """Cosine and sine of the angle between a place and the arm of class 0 at the same distance from the middle."""
    angle = np.arctan2(*points.T) - 3.5 * np.pi / 0.95 * np.linalg.norm(points, axis=1)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


PAIRS = {
    "circle": Pair("x² + y²", "1", _radius),
    "xor": Pair("x y", "1", _product),
    "gauss": Pair("x", "y", lambda points: points),
    "spiral": Pair("cos φ", "sin φ", _turned, "; φ is the angle from the arm of class 0"),
}
