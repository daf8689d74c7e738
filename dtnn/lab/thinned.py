"""`Thinned`: numbers that come step by step, kept in a room that does not grow."""

import numpy as np


class Thinned:
    """A list of numbers (or of arrays of one shape); when it is full, neighbours become their mean.

    Parameters
    ----------
    most : int
        So many are kept at most.

    Attributes
    ----------
    values : list
        Each is the mean over `width` steps.
    width : int
        1, 2, 4 ...

    Examples
    --------
    >>> kept = Thinned(4)
    >>> for number in range(1, 7):
    ...     kept.append(number)
    >>> kept.values, kept.width, kept.steps.tolist(), kept.last
    ([1.5, 3.5, 5.5], 2, [2, 4, 6], 6)
    """

    def __init__(self, most=1000):
        self.most, self.values, self.width, self.last, self._open = most, [], 1, None, []

    @property
    def steps(self):
        """The number of the last step that each value is of."""
        return self.width * np.arange(1, len(self.values) + 1)

    def append(self, number):
        """Of the next step."""
        self.last = number
        self._open.append(number)
        if len(self._open) == self.width:
            self.values.append(_mean(self._open))
            self._open = []
        if len(self.values) >= self.most:
            self.values = [_mean(two) for two in zip(self.values[::2], self.values[1::2])]
            self.width *= 2


def _mean(numbers):
    return numbers[0] if len(numbers) == 1 else sum(numbers) / len(numbers)
