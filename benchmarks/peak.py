"""The most multiply-adds that one core can do: what GF/s are compared with."""

import time

import numpy as np

from dtnn.kernels.cache import kernel
from dtnn.kernels.vector import add, load, multiply, store


@kernel
def chains(a, out, count):
    """16 independent chains of multiply-adds on vectors of 16 floats: enough to hide the time that each takes."""
    x, y = load(a, 0), load(a, 16)
    s0, s1, s2, s3, s4, s5, s6, s7 = (
        load(a, 32), load(a, 33), load(a, 34), load(a, 35), load(a, 36), load(a, 37), load(a, 38), load(a, 39),
    )  # fmt: skip
    s8, s9, s10, s11, s12, s13, s14, s15 = (
        load(a, 40), load(a, 41), load(a, 42), load(a, 43), load(a, 44), load(a, 45), load(a, 46), load(a, 47),
    )  # fmt: skip
    for _ in range(count):
        s0, s1, s2, s3 = add(multiply(s0, x), y), add(multiply(s1, x), y), add(multiply(s2, x), y), add(multiply(s3, x), y)
        s4, s5, s6, s7 = add(multiply(s4, x), y), add(multiply(s5, x), y), add(multiply(s6, x), y), add(multiply(s7, x), y)
        s8, s9, s10, s11 = add(multiply(s8, x), y), add(multiply(s9, x), y), add(multiply(s10, x), y), add(multiply(s11, x), y)
        s12, s13, s14, s15 = (
            add(multiply(s12, x), y),
            add(multiply(s13, x), y),
            add(multiply(s14, x), y),
            add(multiply(s15, x), y),
        )
    s0 = add(add(add(s0, s1), add(s2, s3)), add(add(s4, s5), add(s6, s7)))
    s8 = add(add(add(s8, s9), add(s10, s11)), add(add(s12, s13), add(s14, s15)))
    store(out, 0, add(s0, s8))


def fma_peak(seconds=0.3):
    """Floating-point operations a second, the best of several samples."""
    a, out, count = np.linspace(0.1, 0.9, 64, dtype=np.float32), np.empty(16, np.float32), 100_000
    chains(a, out, 1)
    best, end = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        chains(a, out, count)
        best = max(best, 16 * 16 * 2 * count / (time.perf_counter() - start))
    return best


if __name__ == "__main__":
    print(f"{fma_peak() / 1e9:.0f} GF/s")
