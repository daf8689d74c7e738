"""Convolution as one matrix product: every window of the image becomes a column ("im2col"), and BLAS does the rest.

The textbook's fast algorithm, in NumPy, any float type.  The columns hold each pixel KH KW times: where there are few channels,
writing and reading them costs more than the product.  Chellapilla, Puri and Simard, 2006.

The same three functions as `conv_direct`, with the same arguments.
"""

import numpy as np


def forward(x, w, bias, y, window, relu=False):
    """y (M, HO WO N) = w (M, C KH KW) columns + bias"""
    M = len(w)
    np.matmul(w.reshape(M, -1), columns_of(x, w.shape, y.shape, window), out=y.reshape(M, -1))
    if bias is not None:
        y += bias[:, None, None, None]
    if relu:
        y[y <= 0] = 0


def data_gradient(dy, w, dx, window, adds=False):
    """The columns of dx are w^T dy; each goes back to the pixels that it came from."""
    M = len(w)
    columns = (w.reshape(M, -1).T @ dy.reshape(M, -1)).reshape(*w.shape[1:], *dy.shape[1:])
    frame = padded(dx if adds else np.zeros_like(dx), w.shape, dy.shape, window)
    for h, k, place in places(w.shape, dy.shape, window):
        frame[place] += columns[:, h, k]
    (top, left), (_, H, W, _) = window.padding, dx.shape
    dx[...] = frame[:, top : top + H, left : left + W]


def filter_gradient(x, dy, y, dw, dbias, window, back=True):
    """dw (M, C KH KW) += dy columns^T"""
    if y is not None:
        dy[~(y > 0)] = 0
    if dbias is not None:
        dbias += dy.sum((1, 2, 3))
    M = len(dw)
    dw += (dy.reshape(M, -1) @ columns_of(x, dw.shape, dy.shape, window).T).reshape(dw.shape)


def columns_of(x, w_shape, y_shape, window):
    """(C KH KW, HO WO N): row (c, h, k) is what tap (h, k) of channel c sees, for all places."""
    columns = np.empty((*w_shape[1:], *y_shape[1:]), x.dtype)
    frame = padded(x, w_shape, y_shape, window)
    for h, k, place in places(w_shape, y_shape, window):
        columns[:, h, k] = frame[place]
    return columns.reshape(w_shape[1] * w_shape[2] * w_shape[3], -1)


def places(w_shape, y_shape, window):
    """For each tap (h, k) the slices of the padded image that it sees."""
    (SH, SW), _, (DH, DW) = window
    for h in range(w_shape[2]):
        for k in range(w_shape[3]):
            rows = slice(h * DH, h * DH + (y_shape[1] - 1) * SH + 1, SH)
            yield h, k, (slice(None), rows, slice(k * DW, k * DW + (y_shape[2] - 1) * SW + 1, SW))


def padded(x, w_shape, y_shape, window):
    """x with zeros around it, as far as the windows reach."""
    margins = [(0, 0)]
    for k in (1, 2):
        stride, before, dilation = (pair[k - 1] for pair in window)
        reach = (y_shape[k] - 1) * stride + (w_shape[k + 1] - 1) * dilation + 1
        margins.append((before, max(0, reach - before - x.shape[k])))
    return np.pad(x, [*margins, (0, 0)])
