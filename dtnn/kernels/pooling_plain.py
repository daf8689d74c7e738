"""Max pooling in NumPy, window place by window place: any float type.  For proofs in float64, and to read first."""

import numpy as np


def windows(padded, y_shape, size, stride):
    """For each place in the window, the view of all pixels that lie there."""
    HO, WO = y_shape[1:3]
    for h in range(size[0]):
        for w in range(size[1]):
            yield padded[:, h : h + (HO - 1) * stride[0] + 1 : stride[0], w : w + (WO - 1) * stride[1] + 1 : stride[1]]


def framed(x, y_shape, size, stride, padding, value):
    """x with a border of `value`, as wide as the windows reach."""
    ends = [(y_shape[k + 1] - 1) * stride[k] + size[k] - padding[k] - x.shape[k + 1] for k in range(2)]
    return np.pad(x, ((0, 0), (padding[0], max(0, ends[0])), (padding[1], max(0, ends[1])), (0, 0)), constant_values=value)


def max_pool(x, y, size, stride, padding, relu):
    """See `pooling.max_pool`."""
    y[...] = 0 if relu else -np.inf
    for view in windows(framed(x, y.shape, size, stride, padding, -np.inf), y.shape, size, stride):
        np.maximum(y, view, out=y)


def max_pool_gradient(x, y, dy, size, stride, padding, relu, dx):
    """See `pooling.max_pool_gradient`."""
    frame = framed(x, y.shape, size, stride, padding, -np.inf)
    gradient = np.zeros_like(frame)
    left = np.where(y > 0, dy, 0) if relu else dy.copy()
    for view, target in zip(windows(frame, y.shape, size, stride), windows(gradient, y.shape, size, stride)):
        here = (view >= y) | (np.isnan(view) & np.isnan(y))
        target += np.where(here, left, 0)
        left[here] = 0
    dx[...] = gradient[:, padding[0] : padding[0] + x.shape[1], padding[1] : padding[1] + x.shape[2]]
