"""Matrix products for each image of a batch: C_n = scale A_n B_n, arrays (X, Z, N) and (Z, Y, N), batch last.

BLAS would need the batch first; here the lanes of a vector are the images, and nothing is turned.
"""

import numpy as np

from .cache import kernel
from .pair_tile import pair_tile
from .tile_sizes import registers


def batched_product(a, b, c, turn_a=False, turn_b=False, scale=1.0, adds=False):
    """c[x, y, n] = scale times the sum over z of a[x, z, n] b[z, y, n] (adds: added to c).

    Parameters
    ----------
    a : ndarray, (X, Z, N), or (Z, X, N) if turn_a
    b : ndarray, (Z, Y, N), or (Y, Z, N) if turn_b
    c : ndarray, (X, Y, N)
    turn_a, turn_b : bool
    scale : float
    adds : bool
    """
    if a.dtype != np.float32:
        a, b = (a.swapaxes(0, 1) if turn_a else a), (b.swapaxes(0, 1) if turn_b else b)
        c[...] = scale * np.einsum("xzn,zyn->xyn", a, b, optimize=True) + (c if adds else 0)
        return
    (X, Y, N), Z = c.shape, a.shape[0 if turn_a else 1]
    a_steps, b_steps = (N, X * N) if turn_a else (Z * N, N), (N, Z * N) if turn_b else (Y * N, N)
    run = batched_wide if registers() == 32 else batched_narrow
    run(a.reshape(-1), *a_steps, b.reshape(-1), *b_steps, Z, c.reshape(-1), X, Y, N, np.float32(scale), adds)


@kernel
def batched_wide(a, ai, ak, b, bk, bj, K, c, X, Y, N, scale, adds):
    """Tiles of 4 x 5 sums, for 32 registers of 16 floats."""
    for n in range(0, N, 16):
        lanes = min(16, N - n)
        for x in range(0, X, 4):
            for y in range(0, Y, 5):
                pair_tile(
                    4, 5, a, x * ai + n, ai, ak, b, y * bj + n, bk, bj, K, c, (x * Y + y) * N + n, Y * N, N,
                    X - x, Y - y, lanes, scale, adds,
                )  # fmt: skip


@kernel
def batched_narrow(a, ai, ak, b, bk, bj, K, c, X, Y, N, scale, adds):
    """Tiles of 2 x 2 sums, for 8."""
    for n in range(0, N, 16):
        lanes = min(16, N - n)
        for x in range(0, X, 2):
            for y in range(0, Y, 2):
                pair_tile(
                    2, 2, a, x * ai + n, ai, ak, b, y * bj + n, bk, bj, K, c, (x * Y + y) * N + n, Y * N, N,
                    X - x, Y - y, lanes, scale, adds,
                )  # fmt: skip
