"""How large a register tile may be on this CPU, and which one suits a product of a given size."""

from functools import cache

import numba
import numpy as np
from llvmlite import binding


@cache
def registers():
    """How many vectors of 16 floats the CPU's registers hold: 32 with AVX-512, 8 with AVX2 or NEON (2 or 4 registers each)."""
    own = numba.config.CPU_FEATURES
    features = set(own.split(",")) if own is not None else {f"+{f}" for f, on in binding.get_host_cpu_features().items() if on}
    return 32 if "+avx512f" in features else 8


RARE = 1.35  # how many times slower a usual tile may be than one that must be compiled first


@cache
def choose_tile(rows, columns, usual=(), gradient=False):
    """(R, V) for a product of `rows` x `columns` vectors: the fewest cycles, with all of a step in registers.

    Counted are two multiply-adds a cycle, the loads, and the loop itself; of a gradient's tile, what was measured.  Each tile is
    a kernel, and takes half a second to compile: so the `usual` ones are taken, unless another is a good deal better.

    Examples
    --------
    >>> R, V = choose_tile(16, 100)
    >>> R <= 16
    True
    """
    rows, columns = max(1, rows), max(1, columns)
    R, V = np.mgrid[1 : min(rows, 5 if gradient else 8) + 1, 1 : min(columns, 16) + 1].reshape(2, -1)
    if registers() == 32:
        fits = (R + 1) * (V + 1) <= 32
    else:
        fits = R * V + V <= 8
    if gradient:
        cycles = np.maximum(R * V / 2 + 1.6, 0.86 * (R + V))
    else:
        cycles = np.maximum(np.maximum(R * V / 2, R / 2 + V + 1), 4.5) + 0.5
    cost = np.where(fits, -(-rows // R) * -(-columns // V) * cycles, np.inf)
    common = np.isin(16 * R + V, [16 * r + v for r, v in usual])
    best = int(np.where(common, cost, RARE * cost).argmin())
    return int(R[best]), int(V[best])


def table(values, slack=16):
    """Offsets for a tile: int64, the last one repeated, because a tile reads its tables in whole steps."""
    values = np.fromiter(values, np.int64)
    return np.concatenate([values, np.repeat(values[-1:], slack)])


def odd_lines(floats):
    """Round up to an odd number of cache lines: rows that far apart never fall into the same cache set."""
    return (floats // 16 | 1) * 16
