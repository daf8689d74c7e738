"""Mixed failures for as long as one likes: ``python -m tests.cluster.soak SECONDS [SEED]``.

Runs end well, are stopped, interrupted at any moment, raise on one rank, or lose a rank to SIGKILL.  After each, the sums of
the next run on the same cluster must be right bit by bit, and at the end nothing may be left.
"""

import os
import random
import signal
import sys
import time
from collections import Counter, defaultdict

import numpy as np

from dtnn.cluster import Cluster, watchdog

LONG = 10**9
WAYS = {"done": 5, "stop": 4, "interrupt": 6, "raise": 6, "kill": 1}  # how often each
ENDS = {
    "done": {"done"},
    "stop": {"stopped", "interrupted"},
    "interrupt": {"interrupted"},
    "raise": {"failed"},
    "kill": {"failed"},
}
SLOW = 5.0  # seconds that any end may take at most


def sums(comm, seed, steps, rank=None, step=None):
    """A generator job that sums random arrays; `rank` raises in `step`."""
    draw = np.random.default_rng([seed, comm.rank])
    for number in range(steps):
        array = draw.standard_normal(20_000)
        comm.Allreduce(array)
        if (comm.rank, number) == (rank, step):
            raise ValueError("as asked")
        asked = yield number
        if comm.Allreduce(float(asked is not None)):
            break
    return array


def right(seed, steps, ranks=2):
    """What `sums` should return."""
    draws = [np.random.default_rng([seed, rank]) for rank in range(ranks)]
    return [sum(draw.standard_normal(20_000) for draw in draws) for _ in range(steps)][-1]


def once(cluster, way, seed, chance):
    """One run that ends in a certain way; the seconds it took to end."""
    guilty = (chance.randrange(2), chance.randrange(30)) if way == "raise" else (None, None)
    run = cluster.run(sums, seed, 20 if way == "done" else LONG, *guilty)
    time.sleep(chance.random() * chance.choice([0.005, 0.05, 0.3]))
    began = time.monotonic()
    if way == "stop":
        run.stop()
    elif way == "interrupt":
        run.interrupt()
    elif way == "kill":
        os.kill(cluster.describe()[chance.randrange(2)]["pid"], signal.SIGKILL)
    assert run.wait(30), (seed, way, run)
    assert run.state in ENDS[way], (seed, way, run, run.error)
    assert way != "done" or run.records == list(range(20)), (seed, run.records)
    return time.monotonic() - began


def main(seconds, seed=0):
    """All of it; prints how many runs ended how, and the longest time each took."""
    chance, ended, longest = random.Random(seed), Counter(), defaultdict(float)
    until = time.monotonic() + seconds
    with Cluster(2, on_wait=False) as cluster:
        folders = {cluster._crew.folder}
        while time.monotonic() < until:
            way = chance.choices(list(WAYS), WAYS.values())[0]
            number = sum(ended.values())
            longest[way] = max(longest[way], once(cluster, way, number, chance))
            ended[way] += 1
            if cluster.state == "dead":
                folders.add(cluster.restart()._crew.folder)
            assert (cluster.run(sums, number, 5).result(30) == right(number, 5)).all(), (number, way)
    assert not any(watchdog.members(folder) or os.path.exists(folder) for folder in folders)
    assert max(longest.values()) < SLOW, dict(longest)
    print(dict(ended), {way: round(took, 2) for way, took in longest.items()})


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
