"""How Winograd's tiles (4 x 4 pixels x 16 images) are counted, grouped, laid out in scratch, and asked for ahead.

What is read is asked for one channel ahead, no earlier: the channels of an image of 32 x 32 pixels lie a power of two apart, so
the same tile of all of them wants the same few places of a cache, and what comes early is driven out before it is needed.
"""

from functools import cache
from typing import NamedTuple

from numba.extending import register_jitable

from .cache import kernel


class Tiles(NamedTuple):
    """How a group of `group` tiles lies in scratch: distances of channels and of the places of x and of y."""

    group: int
    channel: int
    place_x: int
    place_y: int


@cache
def tiles_of(C, M, count, budget):
    """The largest group (a power of two) that stays in the cache."""
    group = 4
    while 2 * group <= max(4, min(count, 64)) and 36 * (C + M) * 2 * group * 64 <= budget:
        group *= 2
    return Tiles(group, group * 16, C * group * 16 + 80, M * group * 16 + 80)


def count_tiles(shape):
    """Tiles of an output (M, HO, WO, N)."""
    return -(-shape[1] // 4) * -(-shape[2] // 4) * -(-shape[3] // 16)


@kernel
def tile_at(number, columns, vectors):
    """(row, column, first image) of a tile; they are ordered by row, column, block of images."""
    r = number // vectors
    row = r // columns
    return 4 * row, 4 * (r - row * columns), (number - r * vectors) * 16


@register_jitable
def expect_tiles(expect, y, M, HO, WO, N, first, count, place, columns, vectors):
    """Ask for one 36th of the cache lines of a group of tiles, while the products of a place are summed."""
    share = (M * count + 35) // 36
    for q in range(place * share, min((place + 1) * share, M * count)):
        h, w, n = tile_at(first + q % count, columns, vectors)
        expect(y, ((q // count * HO + h) * WO + w) * N + n, WO * N, N)


@register_jitable
def expect_tile(expect, x, x_shape, number, padding, columns, vectors):
    """Ask for the cache lines of a tile of the first channel."""
    _, _, W, N = x_shape
    h, w, n = tile_at(number, columns, vectors)
    expect(x, ((h - padding[0]) * W + w - padding[1]) * N + n, W * N, N)
