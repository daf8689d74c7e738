"""The convolution as its formula: six loops, any float type.  For proofs in float64, and to read first.

The same three functions as `conv_direct`, with the same arguments.
"""

import numpy as np

from .cache import kernel


def forward(x, w, bias, y, window, relu=False):
    """y = w * x + bias (then ReLU); see `conv_direct.forward`."""
    y[...] = 0 if bias is None else bias[:, None, None, None]
    add_products(x, w, y, *window)
    if relu:
        y[y <= 0] = 0


def data_gradient(dy, w, dx, window, adds=False):
    """dx from dy; see `conv_direct.data_gradient`."""
    if not adds:
        dx[...] = 0
    add_data_gradient(dy, w, dx, *window)


def filter_gradient(x, dy, y, dw, dbias, window, back=True):
    """Add to dw and dbias; see `conv_direct.filter_gradient`."""
    if y is not None:
        dy[~(y > 0)] = 0
    if dbias is not None:
        dbias += dy.sum((1, 2, 3))
    add_filter_gradient(x, dy, dw, *window)


@kernel
def add_products(x, w, y, stride, padding, dilation):
    M, HO, WO, N = y.shape
    for m in range(M):
        for c in range(w.shape[1]):
            for h in range(w.shape[2]):
                for k in range(w.shape[3]):
                    for i in range(HO):
                        for j in range(WO):
                            a, b = i * stride[0] - padding[0] + h * dilation[0], j * stride[1] - padding[1] + k * dilation[1]
                            if 0 <= a < x.shape[1] and 0 <= b < x.shape[2]:
                                for n in range(N):
                                    y[m, i, j, n] += w[m, c, h, k] * x[c, a, b, n]


@kernel
def add_data_gradient(dy, w, dx, stride, padding, dilation):
    M, HO, WO, N = dy.shape
    for m in range(M):
        for c in range(w.shape[1]):
            for h in range(w.shape[2]):
                for k in range(w.shape[3]):
                    for i in range(HO):
                        for j in range(WO):
                            a, b = i * stride[0] - padding[0] + h * dilation[0], j * stride[1] - padding[1] + k * dilation[1]
                            if 0 <= a < dx.shape[1] and 0 <= b < dx.shape[2]:
                                for n in range(N):
                                    dx[c, a, b, n] += w[m, c, h, k] * dy[m, i, j, n]


@kernel
def add_filter_gradient(x, dy, dw, stride, padding, dilation):
    M, HO, WO, N = dy.shape
    for m in range(M):
        for c in range(dw.shape[1]):
            for h in range(dw.shape[2]):
                for k in range(dw.shape[3]):
                    s = np.zeros(1, dw.dtype)[0]
                    for i in range(HO):
                        for j in range(WO):
                            a, b = i * stride[0] - padding[0] + h * dilation[0], j * stride[1] - padding[1] + k * dilation[1]
                            if 0 <= a < x.shape[1] and 0 <= b < x.shape[2]:
                                for n in range(N):
                                    s += x[c, a, b, n] * dy[m, i, j, n]
                    dw[m, c, h, k] += s
