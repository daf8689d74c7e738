"""How long does a cache line take from one core to another?  What dividing a kernel costs hangs on it.

    python benchmarks/core_to_core.py

On a virtual machine it changes: cores that share a last-level cache need some 60 ns, others several times as long.
"""

import os
import threading
import time

import numpy as np

from dtnn.kernels.baton import seen, show, wait_a_little
from dtnn.kernels.cache import kernel

THERE, BACK = 0, 16  # two lines


@kernel
def throw(lines, own, other, first, count):
    """Count up in one's own line whenever the other has counted up in theirs; one of the two goes first."""
    for number in range(1, count + 1):
        if first:
            show(lines, own, number)
        looks = 0
        while seen(lines, other) < number:
            looks += 1
            wait_a_little(looks)
        if not first:
            show(lines, own, number)


def core_to_core(count=20_000, tries=5):
    """Seconds one way, the least of several tries; NaN where there is one core only."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        return float("nan")
    return min(_once(cores, count) for _ in range(tries))


def _once(cores, count):
    lines = np.zeros(64, np.int64)
    throw(lines, THERE, BACK, True, 0)

    def play(core, own, other, first):
        os.sched_setaffinity(0, {core})  # of this thread alone
        throw(lines, own, other, first, count)

    games = [(cores[0], THERE, BACK, True), (cores[1], BACK, THERE, False)]
    players = [threading.Thread(target=play, args=game) for game in games]
    start = time.perf_counter()
    for player in players:
        player.start()
    for player in players:
        player.join()
    return (time.perf_counter() - start) / count / 2


if __name__ == "__main__":
    print(f"{1e9 * core_to_core():.0f} ns")
