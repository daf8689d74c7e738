"""What does it cost the training to be watched?  Steps a second of one run with its live view on and off, in turn.

    python benchmarks/bench_watching.py [--scenes 1,2,fit] [--net lenet5] [--rounds 15] [--json file]

"1" and "2" are clusters of so many ranks of one thread under MPI: on a machine of two cores the first leaves a core to the view,
the second none. "fit" trains in the process that draws. The view is drawn as in a notebook, into a widget. Measured is a run that
has been watched for some seconds: before, a dozen pictures come quickly. A sample in which other programs took more than 8 %
of a core is dropped. Samples differ by some per cent, so the mean of many counts, with its standard error; beside it what the
view itself took of a core, which is known exactly.
"""

import argparse
import json
import math
import os
import time

import numpy as np
from threadpoolctl import threadpool_limits

import dtnn
from dtnn.comm import Serial
from dtnn.data import Samples
from dtnn.lab.pane import Pane
from dtnn.optim import SGD
from dtnn.plots.live import Live
from dtnn.plots.pace import EAGER
from dtnn.records import Recorder, Step
from dtnn.training import train

BATCH, BATCHES = 64, 50  # samples of a step; steps of an epoch
DISTURBED = 0.08  # of a core that other programs may have taken in a sample; some always tick
LOOK = 0.1  # seconds between two looks of who waits for a run


class Watched(Pane):
    """The screen of a panel, which counts."""

    pictures, seconds = 0, 0.0

    def show(self, live):
        """Show the picture of this moment."""
        begin = time.thread_time()
        super().show(live)
        self.pictures, self.seconds = self.pictures + 1, self.seconds + time.thread_time() - begin


def material(net):
    """A model, and samples for it."""
    model, dice = getattr(dtnn.zoo, net)(), np.random.default_rng(0)
    rows = dice.random((BATCH * BATCHES, *model.input_shape), np.float32), dice.integers(0, 10, BATCH * BATCHES)
    return model, Samples(*rows)


def on_cluster(ranks, net):
    """The records of a run that goes on, as its view sees them; the function that passes time; the pids; the one that ends it."""
    model, rows = material(net)
    cluster = dtnn.Cluster(ranks, threads_per_rank=1).start()
    run = model.start(rows, cluster=cluster, epochs=10**6, batch_size=BATCH, optimizer=SGD(1e-4))
    pids = [row["pid"] for row in cluster.describe()]

    def passes(seconds, view):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            run.wait(LOOK)
            if view is not None:
                view.update()

    def ends():
        run.interrupt()
        run.wait(10)
        cluster.stop()

    return run, passes, pids, ends


def in_this_process(net):
    """The same of a `fit`, whose own loop draws."""
    model, rows = material(net)
    told, settings = Recorder(), {"epochs": 10**6, "batch_size": BATCH, "samples": BATCH * BATCHES}
    records = train(Serial(), model, rows, epochs=10**6, batch_size=BATCH, optimizer=SGD(1e-4), settings=settings)

    def passes(seconds, view):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            told.append(next(records))
            if view is not None:
                view.update()

    return told, passes, [], lambda: None


def measure(scene, net, rounds, seconds):
    """The row of one scene."""
    run, passes, pids, ends = in_this_process(net) if scene == "fit" else on_cluster(int(scene), net)
    try:
        live = Live(run, screen=Watched())
        begun = 1.5 * EAGER  # seconds of drawing: imports and fonts, and the pictures that come quickly at first
        while newest(run) is None or live.screen.pictures < 4 or live.screen.seconds < begun:
            passes(0.5, live)
        samples, screen = {"off": [], "on": []}, live.screen
        pictures, drawing = screen.pictures, screen.seconds
        for _ in range(rounds):
            for name, view in (("off", None), ("on", live)):
                first, busy = newest(run), others(pids)
                passes(seconds, view)
                live._next += 0 if view else seconds  # a picture that was due meanwhile is not drawn at once
                last = newest(run)
                each = (last.time - first.time) / (last.step - first.step)
                samples[name].append((each, (others(pids) - busy) / seconds))
    finally:
        ends()
    (off, error, kept), (on, more, also_kept) = mean(samples["off"]), mean(samples["on"])
    return {
        "scene": scene,
        "net": net,
        "off_ms": 1e3 * off,
        "on_ms": 1e3 * on,
        "cost": on / off - 1,
        "error": math.hypot(error / off, more / on),
        "drawing": (screen.seconds - drawing) / rounds / seconds,  # these two while it is on
        "pictures_a_second": (screen.pictures - pictures) / rounds / seconds,
        "kept": min(kept, also_kept),
        "rounds": rounds,
    }


def mean(samples):
    """Mean seconds a step, its standard error, and how many samples were undisturbed; of all, where none was."""
    clean = [seconds for seconds, share in samples if share < DISTURBED] or [seconds for seconds, _ in samples]
    return float(np.mean(clean)), float(np.std(clean) / max(1, len(clean) - 1) ** 0.5), len(clean)


def newest(run):
    """The newest step that is known."""
    return getattr(run, "records", run).last(Step)


def others(pids):
    """Seconds of processors that went to other processes than this one and these, so far; 0 where the system doesn't say."""
    try:
        with open("/proc/stat") as file:
            user, nice, system = map(int, file.readline().split()[1:4])
        own = sum(sum(map(int, ticks(pid)[11:13])) for pid in ("self", *pids))
    except OSError:
        return 0.0
    return (user + nice + system - own) / os.sysconf("SC_CLK_TCK")


def ticks(pid):
    """The numbers of a process, behind its name."""
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", default="1,2,fit")
    parser.add_argument("--net", default="lenet5")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a sample")
    parser.add_argument("--json", help="append one JSON object a row to this file")
    options = parser.parse_args()
    with threadpool_limits(1):
        for scene in options.scenes.split(","):
            row = measure(scene, options.net, options.rounds, options.seconds)
            took = f"a step {row['off_ms']:.3f} ms, watched {row['on_ms']:.3f}: {row['cost']:+.1%} ± {row['error']:.1%}"
            drawn = f"{row['pictures_a_second']:.2f} pictures a second, {row['drawing']:.1%} of a core"
            name = "fit in this process" if scene == "fit" else f"{scene} rank{'s' * (scene != '1')}"
            print(f"{name:20} {took}; {drawn}; {row['kept']} samples", flush=True)
            if options.json:
                with open(options.json, "a") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
