"""The plan of a direct convolution that reads the plain array, without a copy.

Pixels that see the same taps inside the image are a phase of their own: so there is no border, and nothing is multiplied by it.
It pays for few channels, where a copy is read a few times only, and with full vectors of images.
"""

from functools import lru_cache
from itertools import product

import numpy as np

from .conv_plan import USUAL, ProductPlan, Strip
from .tile_sizes import choose_tile, table

MOST = 8  # channels: many fall out of the first-level cache
WIDEST = 1  # border that pays with one channel, which is copied in no time: a wide one makes many phases of few pixels
MOST_IMAGES = 64
LOW = 3  # rows of a window: all images go together; with a higher one they fall out of the cache until the next row
SLACK = 16  # a tile reads its tables in whole steps


def suits(x_shape, window, parts):
    """Whether it pays to read x (C, H, W, N) where it lies."""
    C, _, _, N = x_shape
    few = C <= MOST and (C > 1 or max(window.padding) <= WIDEST)
    return few and 16 * parts <= N <= MOST_IMAGES and N % 16 == 0


@lru_cache(512)
def forward_plan(x_shape, w_shape, y_shape, window):
    """See `conv_plan.forward_plan`."""
    _, C, KH, KW = w_shape
    rows, columns = groups(y_shape, x_shape, w_shape, window, sight_there)
    return plan(x_shape, y_shape, rows, columns, lambda h, c, k: (c * KH + h) * KW + k, C * KH * KW)


@lru_cache(512)
def data_gradient_plan(x_shape, w_shape, y_shape, window):
    """See `conv_plan.data_gradient_plan`; here dy is the source, and dx the result."""
    _, C, KH, KW = w_shape
    rows, columns = groups(x_shape, y_shape, w_shape, window, sight_back)
    return plan(y_shape, x_shape, rows, columns, lambda h, m, k: (m * C * KH + h) * KW + k, KH * KW)


def sight_there(place, extent, size, stride, padding, dilation):
    """A row or column of x, and how far from it which taps lie, that a row or column of y sees."""
    base = place * stride - padding
    return base, tuple((k, k * dilation) for k in range(size) if 0 <= base + k * dilation < extent)


def sight_back(place, extent, size, stride, padding, dilation):
    """The same of dy for one of dx."""
    base, ways = place // stride, [(k, place + padding - k * dilation) for k in reversed(range(size))]
    return base, tuple((k, w // stride - base) for k, w in ways if w % stride == 0 and 0 <= w // stride < extent)


def groups(result, source, w_shape, window, sight):
    """For rows and for columns {((tap, distance from a base), ...): [(place in the result, base in the source), ...]}."""
    for axis in (1, 2):
        found = {}
        for place in range(result[axis]):
            base, taps = sight(place, source[axis], w_shape[axis + 1], *(pair[axis - 1] for pair in window))
            found.setdefault(taps, []).append((place, base))
        yield found


def plan(source, result, rows, columns, weight, ws):
    """The tables: `weight(h, c, k)` is the place of a tap in a row of weights, `ws` the distance of these rows."""
    (C, H, W, N), (M, HO, WO, _) = source, result
    blocks = range(0, N, 16) if max(map(len, rows)) <= LOW else range(0, 16, 16)
    xk, wk, xv, yv, phases, reach = [], [], [], [], [], []
    for (taps_h, some_rows), (taps_w, some_columns) in product(rows.items(), columns.items()):
        taps = [(h, up, c, k, left) for h, up in taps_h for c in range(C) for k, left in taps_w]
        reach.append([(len(xk), len(xk) + len(taps))])
        xk += [((c * H + up) * W + left) * N for _, up, c, _, left in taps]
        wk += [weight(h, c, k) for h, _, c, k, _ in taps]
        phases.append([len(xv), HO - 1, len(some_rows) * len(some_columns) * len(blocks)])
        places = list(product(some_rows, some_columns, blocks))
        places += places[-1:] * SLACK
        xv += [(a * W + b) * N + n for (_, a), (_, b), n in places]
        yv += [(i * WO + j) * N + n for (i, _), (j, _), n in places]
    return ProductPlan(
        strip=Strip(HO, len(blocks), 0, 0, 0, 0),  # no rows: nothing is copied
        tile=choose_tile(M, max(count for _, _, count in phases), USUAL),
        moves=(1, 1, 0, 0),
        xk=table(xk or [0]),
        wk=table(wk or [0]),
        ws=ws,
        xv=table(xv),
        yv=table(yv),
        rows=np.zeros(len(xv) + SLACK, np.int64),
        phases=np.array(phases),
        passes=1,
        reach=np.array(reach),
    )
