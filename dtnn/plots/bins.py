"""Any number of points, kept as few."""

import math


class Bins:
    """Points kept as means of neighbours, so that any number of them fits into `limit` points.

    Up to `limit` points are kept as they are; then pairs are merged, and each bin holds twice as many.  Means of bins
    are exact means of the points in them.  A value that is not finite makes its bin NaN: a gap in the line.

    >>> bins = Bins(limit=4)
    >>> for i in range(1, 9):
    ...     bins.add(i, i * 10.0)
    >>> bins.x, bins.y, bins.each
    ([1.5, 3.5, 5.5, 7.5], [15.0, 35.0, 55.0, 75.0], 2)
    """

    def __init__(self, limit=512):
        self.limit, self.each, self.count = limit, 1, 0
        self.x, self.y = [], []
        self._x = self._y = self._n = 0

    def __len__(self):
        return len(self.x)

    def add(self, x, y):
        """One more point, in constant time (on average)."""
        self.count += 1
        self._x, self._y, self._n = self._x + x, self._y + (y if math.isfinite(y) else math.nan), self._n + 1
        if self._n == self.each:
            self._close()

    def _close(self):
        if len(self.x) == self.limit:
            self.x, self.y, self.each = _pairs(self.x), _pairs(self.y), self.each * 2
            if self._n < self.each:
                return
        self.x.append(self._x / self._n)
        self.y.append(self._y / self._n)
        self._x = self._y = self._n = 0


def _pairs(values):
    return [(a + b) / 2 for a, b in zip(values[::2], values[1::2])]
