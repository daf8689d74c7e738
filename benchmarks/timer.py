"""Times of functions that compete: taken in turn (A B A B ...), without the samples in which others had the processor."""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

DISTURBED = 0.03  # share of a sample that this process may have waited for a processor


class Timing(NamedTuple):
    """Seconds a call: median and smallest of the samples that were kept, and how many those were."""

    median: float
    least: float
    kept: int
    taken: int


def waited():
    """Seconds that the threads of this process have waited for a processor so far (0 where the system doesn't say)."""
    total = 0
    for file in Path("/proc/self/task").glob("*/schedstat"):
        try:
            total += int(file.read_text().split()[1])
        except OSError:  # a thread that has just ended
            continue
    return total * 1e-9


def sample(function, calls):
    """(seconds a call, share of that time spent waiting for a processor)"""
    before, start = waited(), time.perf_counter()
    for _ in range(calls):
        function()
    seconds = time.perf_counter() - start
    return seconds / calls, (waited() - before) / seconds


def compare(functions, rounds=15, seconds=0.05, budget=30.0):
    """Time functions against each other.

    Parameters
    ----------
    functions : dict of name -> function without arguments
    rounds : int
        Samples of each.
    seconds : float
        Length of a sample, at least one call.
    budget : float
        Seconds after which no further round begins (but five are taken).

    Returns
    -------
    dict of name -> Timing
    """
    calls = {}
    for name, function in functions.items():
        for _ in range(3):
            function()
        calls[name] = max(1, round(seconds / max(sample(function, 1)[0], 1e-7)))
    samples, start = {name: [] for name in functions}, time.perf_counter()
    for number in range(rounds):
        for name, function in functions.items():
            samples[name].append(sample(function, calls[name]))
        if time.perf_counter() - start > budget and number >= 4:
            break
    return {name: kept(found) for name, found in samples.items()}


def kept(samples):
    """The Timing of the undisturbed samples; of the least disturbed third, if there are too few of them."""
    ordered = sorted(samples, key=lambda s: s[1])
    clean = [seconds for seconds, share in ordered if share < DISTURBED]
    if len(clean) < min(4, len(ordered)):
        clean = [seconds for seconds, _ in ordered[: max(4, len(ordered) // 3)]]
    return Timing(float(np.median(clean)), min(clean), len(clean), len(samples))
