"""Plans of a direct convolution: how a strip lies in scratch, and the tables of offsets that steer the tiles.

A plan depends on sizes alone, so it is made once for them and shared.
"""

from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

from .tile_sizes import choose_tile, odd_lines, table

SCRATCH_BYTES = 512 * 1024  # a strip stays in the second-level cache
USUAL, USUAL_GRADIENT = ((4, 5), (3, 7)), ((4, 5),)  # the tiles of most convolutions
NOWHERE = (1 << 40, 0)  # the range of taps of a row that has none; a union with it changes nothing


class Window(NamedTuple):
    """How a convolution's window moves, each (vertical, horizontal); padding is what lies above and to the left."""

    stride: tuple = (1, 1)
    padding: tuple = (0, 0)
    dilation: tuple = (1, 1)


class Strip(NamedTuple):
    """A strip of `strip` output rows of `blocks` blocks of 16 images in scratch; sc, sn: distance of channels, blocks."""

    strip: int
    blocks: int
    rows: int
    columns: int
    sc: int
    sn: int

    @property
    def size(self):
        return self.blocks * self.sn


class ProductPlan(NamedTuple):
    """For `conv_direct.product`: a convolution, or its data gradient."""

    strip: Strip
    tile: tuple
    moves: tuple  # steps of input and output, first row and column of the input strip
    xk: np.ndarray  # tap -> place in scratch
    wk: np.ndarray  # tap -> place in a row of weights
    ws: int  # distance of the rows of weights
    xv: np.ndarray  # column -> place in scratch
    yv: np.ndarray  # column -> place in the output
    rows: np.ndarray  # column -> row of the strip
    phases: np.ndarray  # (first column, row shift, columns a row) of each phase
    passes: int  # over the blocks of a strip; one, where the columns of all are in the tables
    reach: np.ndarray  # (phase, row) -> range of taps that lie inside the image


def fit_strip(C, N, parts, rows_of, columns, height, multiple=1, more=0):
    """The strip that copies least: rows (a multiple of `multiple`) and blocks of images are chosen together.

    Fewer images and the whole image beat more images and a strip whose neighbours' rows are copied again and again.
    Each part has as many strips as the others, or as many images.
    """
    lines = max(1, -(-N // 16))

    def bytes_of(strip, blocks):
        return blocks * (C * rows_of(strip) * columns + more * strip) * 64

    choices = []
    for blocks in {min(blocks, lines) for blocks in (4, 2, 1)}:
        strip, even = multiple, 1 if -(-lines // blocks) % parts == 0 else parts
        while strip < height and bytes_of(strip + multiple, blocks) <= SCRATCH_BYTES:
            strip += multiple
        strips = -(-height // (strip * even)) * even
        strip = max(1, -(-height // (strips * multiple))) * multiple
        copied = strips * rows_of(strip) / rows_of(height)
        choices.append((copied + 0.15 * (4 / blocks - 1) + max(0, bytes_of(strip, blocks) / SCRATCH_BYTES - 1), blocks, strip))
    _, blocks, strip = min(choices)
    sc = odd_lines(rows_of(strip) * columns * 16)
    return Strip(strip, blocks, rows_of(strip), columns, sc, C * sc)


def blocks_in_tables(s, N):
    """The places of a pixel's blocks of images, as columns of their own: so a tile has few pixels, which see much the same taps.

    Where the last strip has fewer blocks, its columns are those of one block.
    """
    blocks = s.blocks if N % (16 * s.blocks) == 0 else 1
    return np.arange(blocks), s.blocks // blocks


@lru_cache(512)
def forward_plan(x_shape, w_shape, y_shape, window, parts=1):
    """Output row r, column j sees input row r SH - PH + h DH, column j SW - PW + k DW."""
    (C, H, _, N), (M, _, KH, KW), (_, HO, WO, _) = x_shape, w_shape, y_shape
    (SH, SW), (PH, PW), (DH, DW) = window
    s = fit_strip(C, N, parts, lambda r: (r - 1) * SH + (KH - 1) * DH + 1, (WO - 1) * SW + (KW - 1) * DW + 1, HO)
    taps = [(h, c, k) for h in range(KH) for c in range(C) for k in range(KW)]
    blocks, passes = blocks_in_tables(s, N)
    places = [(i, j, b) for i in range(s.strip) for j in range(WO) for b in blocks]
    inside = [[h for h in range(KH) if 0 <= r * SH - PH + h * DH < H] for r in range(HO)]
    reach = [(min(rows) * C * KW, (max(rows) + 1) * C * KW) if rows else NOWHERE for rows in inside]
    return ProductPlan(
        strip=s,
        tile=choose_tile(M, len(places), USUAL),
        moves=(SH, 1, -PH, -PW),
        xk=table(c * s.sc + (h * DH * s.columns + k * DW) * 16 for h, c, k in taps),
        wk=table((c * KH + h) * KW + k for h, c, k in taps),
        ws=C * KH * KW,
        xv=table((i * SH * s.columns + j * SW) * 16 + b * s.sn for i, j, b in places),
        yv=table((i * WO + j) * N + b * 16 for i, j, b in places),
        rows=table(i for i, _, _ in places),
        phases=np.array([[0, 0, WO * len(blocks)]]),
        passes=passes,
        reach=np.array([reach]),
    )


@lru_cache(512)
def data_gradient_plan(x_shape, w_shape, y_shape, window, parts=1):
    """dx is a product too: of dy with the filters turned, one phase for each place of a pixel in its stride x stride square.

    A phase has only the taps that hit it, so nothing is ever multiplied by the zeros of a dilated dy.  Near the border, where
    some taps lie outside of dy, columns have phases of their own.
    """
    (C, H, W, N), (M, _, KH, KW), (_, HO, WO, _) = x_shape, w_shape, y_shape
    (SH, SW), (PH, PW), (DH, DW) = window
    low_h, high_h = -(((KH - 1) * DH - PH) // SH), (SH - 1 + PH) // SH
    low_w, high_w = -(((KW - 1) * DW - PW) // SW), (SW - 1 + PW) // SW
    s = fit_strip(M, N, parts, lambda r: max(1, -(-r // SH) + high_h - low_h), max(1, -(-W // SW) + high_w - low_w), H, SH)
    blocks, passes = blocks_in_tables(s, N)
    xk, wk, xv, yv, rows, phases, reach = [], [], [], [], [], [], []
    for a in range(SH):
        for q in range(SW):
            taps_h = [(h, (a + PH - h * DH) // SH) for h in reversed(range(KH)) if (a + PH - h * DH) % SH == 0]
            all_taps_w = [(k, (q + PW - k * DW) // SW) for k in range(KW) if (q + PW - k * DW) % SW == 0]
            for columns, taps_w in alike(all_taps_w, -(-(W - q) // SW), WO):
                ranges = {}
                for h, up in taps_h:
                    start = len(xk)
                    for m in range(M):
                        xk += [m * s.sc + ((up - low_h) * s.columns + left - low_w) * 16 for _, left in taps_w]
                        wk += [(m * C * KH + h) * KW + k for k, _ in taps_w]
                    ranges[up] = start, len(xk)
                phases.append([len(xv), a, len(columns) * len(blocks)])
                for i in range(-(-(s.strip - a) // SH)):
                    xv += [(i * s.columns + j) * 16 + b * s.sn for j in columns for b in blocks]
                    yv += [((i * SH + a) * W + j * SW + q) * N + b * 16 for j in columns for b in blocks]
                    rows += [i * SH + a] * len(columns) * len(blocks)
                reach.append([union([k for up, k in ranges.items() if 0 <= r // SH + up < HO]) for r in range(H + SH)])
    return ProductPlan(
        strip=s,
        tile=choose_tile(C, max(width for _, _, width in phases) * -(-s.strip // SH), USUAL),
        moves=(1, SH, low_h, low_w),
        xk=table(xk or [0]),
        wk=table(wk or [0]),
        ws=KH * KW,
        xv=table(xv),
        yv=table(yv),
        rows=table(rows),
        phases=np.array(phases),
        passes=passes,
        reach=np.array(reach),
    )


def alike(taps, width, extent):
    """(columns, the taps that they see inside) for the columns 0 .. width, in groups of neighbours that see the same taps.

    >>> alike([(0, 1), (1, 0), (2, -1)], 4, 4)
    [([0], [(0, 1), (1, 0)]), ([1, 2], [(0, 1), (1, 0), (2, -1)]), ([3], [(1, 0), (2, -1)])]
    """
    seen = [[(k, left) for k, left in taps if 0 <= j + left < extent] for j in range(width)]
    return [(list(js), list(inside)) for inside, js in groupby(range(width), lambda j: seen[j])]


def union(ranges):
    """The smallest range that has all of them."""
    ranges = [k for k in ranges if k[0] < k[1]]
    return (min(k[0] for k in ranges), max(k[1] for k in ranges)) if ranges else NOWHERE
