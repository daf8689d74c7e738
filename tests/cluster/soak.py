"""Mixed failures for as long as one likes: ``python -m tests.cluster.soak SECONDS [SEED]``.

Runs end well, are stopped, interrupted at any moment, raise on one rank, can't be unpacked, lose a rank to SIGKILL; trainings
are paused, stepped through and go on; the cluster is restarted under a run.  After each, the sums of the next run on the same
cluster must be right bit by bit, now and then also the weights of a training, and at the end nothing may be left.
"""

import os
import random
import signal
import sys
import threading
import time
from collections import Counter, defaultdict

import numpy as np

import dtnn
from dtnn.cluster import Cluster, watchdog
from dtnn.records import Paused, Step

from .alone import alone

LONG = 10**9
WAYS = {"done": 5, "stop": 4, "interrupt": 6, "raise": 6, "steer": 2, "bad job": 2, "kill": 1, "restart": 1}  # how often each
ENDS = {
    "done": {"done"},
    "stop": {"stopped", "interrupted"},
    "interrupt": {"interrupted"},
    "raise": {"failed"},
    "steer": {"stopped"},
    "bad job": {"failed"},
    "kill": {"failed"},
    "restart": {"interrupted"},
}
SLOW = 10.0  # seconds that any end may take at most, on a machine that others use
PATIENCE = 900.0  # seconds after which nothing is waited for any more, be this process stopped meanwhile
TRAINS = 10  # runs between two looks at the weights of a training


class Clock:
    """Seconds in which this process had its turn: neither was it stopped, nor did all others of the machine come first."""

    TICK, LATE = 0.1, 0.4

    def __init__(self):
        self.lost, self._last = 0.0, time.monotonic()
        threading.Thread(target=self._tick, daemon=True).start()

    def now(self):
        """So many until now, counted from anywhere."""
        return time.monotonic() - self.lost

    def _tick(self):
        while True:
            time.sleep(self.TICK)
            now = time.monotonic()
            if now - self._last > self.LATE:
                self.lost += now - self._last - self.TICK
            self._last = now


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


class Unpackable:
    """Goes well here, and can't be made again on a rank."""

    def __reduce__(self):
        return refuse, (os.getpid(),)


def refuse(pid):
    """Raises anywhere but in the process of that number."""
    if os.getpid() != pid:
        raise RuntimeError("not here")


def network():
    """A small one, whose weights after some steps are compared."""
    layers = dtnn.nn.Flatten(), dtnn.nn.Linear(16), dtnn.nn.Dropout(0.2), dtnn.nn.Linear(10)
    return dtnn.Model(*layers, input_shape=(28, 28, 1))


def weights(cluster):
    """Of a training of some steps on it, as bytes: the same each time."""
    model, digits = network(), dtnn.data.mnist5k()
    model.fit(digits.x_train[::40], digits.y_train[::40], cluster=cluster, batch_size=20, deterministic=True, show=False)
    return model.parameters.value.tobytes()


def until(holds, what):
    """Wait until something is so."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < PATIENCE, what
        time.sleep(0.002)


def steer(cluster, chance):
    """A training that pauses, makes a step, goes on, perhaps pauses again."""
    digits = dtnn.data.mnist5k()
    run = network().start(digits.x_train[::40], digits.y_train[::40], cluster=cluster, batch_size=20, epochs=10**6)
    until(lambda: run.records.of(Step) or run.done, run)
    for _ in range(chance.randrange(1, 3)):
        time.sleep(chance.random() * 0.1)
        run.pause()
        until(lambda: run.state == "paused" or run.done, run)
        step = run.records.last(Paused).step
        run.step()
        until(lambda: run.records.last(Paused).step == step + 1 or run.done, run)  # noqa: B023
        assert run.records.last(Step).step == step + 1, run
        if chance.random() < 0.7:
            run.resume()
            until(lambda: run.state != "paused", run)
    return run


def begin(cluster, way, seed, chance):
    """A run that will end in a certain way."""
    if way == "steer":
        return steer(cluster, chance)
    if way == "bad job":
        return cluster.run(sums, Unpackable(), 20)
    guilty = (chance.randrange(2), chance.randrange(30)) if way == "raise" else (None, None)
    return cluster.run(sums, seed, 20 if way == "done" else LONG, *guilty)


def once(cluster, way, seed, chance):
    """One run that ends in a certain way; the seconds it took to end."""
    run = begin(cluster, way, seed, chance)
    time.sleep(chance.random() * chance.choice([0.005, 0.05, 0.3]))
    pid, began = cluster.describe()[chance.randrange(2)]["pid"] if way == "kill" else None, CLOCK.now()
    if way in ("stop", "steer"):
        run.stop()
    elif way == "interrupt":
        run.interrupt()
    elif way == "kill":
        os.kill(pid, signal.SIGKILL)
    elif way == "restart":
        cluster.restart()
    assert run.wait(PATIENCE), (seed, way, run)
    assert run.state in ENDS[way], (seed, way, run, run.error)
    assert way != "done" or run.records == list(range(20)), (seed, run.records)
    time.sleep(2 * Clock.TICK if CLOCK.now() - began > 1.0 else 0.0)  # whether it was lost shows a moment later
    return CLOCK.now() - began


def soak(cluster, seconds, seed):
    """All of it on one cluster; how many runs ended how, the longest time each took, and when that was."""
    chance, ended, longest = random.Random(seed), Counter(), defaultdict(lambda: (0.0, 0))
    over, folders, wanted = time.monotonic() + seconds, set(), weights(cluster)
    while time.monotonic() < over:
        folders.add(cluster._crew.folder)
        way, number = chance.choices(list(WAYS), WAYS.values())[0], sum(ended.values())
        took = once(cluster, way, number, chance)
        if took > max(1.0, longest[way][0]):
            print(f"{way}: {took:.2f} s, run {number}", flush=True)
        longest[way] = max(longest[way], (took, number))
        ended[way] += 1
        summed = cluster.run(sums, number, 5).result(PATIENCE)  # after a death: by new ranks
        assert (summed == right(number, 5)).all(), (number, way)
        assert number % TRAINS or weights(cluster) == wanted, (number, way)
        folders.add(cluster._crew.folder)
    return ended, longest, folders


def main(seconds, seed=0):
    """Soak a cluster, see that nothing is left of any, and print what has been."""
    before, began = open_files(), time.monotonic()
    with Cluster(2, on_wait=False, timeout=2 * PATIENCE) as cluster:
        ended, longest, folders = soak(cluster, seconds, int(seed))
    print(f"{sum(ended.values())} runs, {len(folders)} starts, {time.monotonic() - began:.0f} s:", dict(ended))
    print("longest (seconds, run):", {way: (round(took, 2), number) for way, (took, number) in longest.items()})
    assert not any(watchdog.members(folder) or os.path.exists(folder) for folder in folders)
    assert open_files() < before + 100, (before, open_files())
    most = {"restart": 3 * SLOW}  # it is a start, too
    slow = {way: took for way, (took, _) in longest.items() if took > most.get(way, SLOW)}
    assert not slow, slow
    return ended


CLOCK = Clock()


def open_files():
    """How many this process has."""
    return len(os.listdir("/proc/self/fd"))


if __name__ == "__main__":
    with alone():
        main(*map(float, sys.argv[1:]))
