"""How long does each picture of the lab take to be drawn again, and how long a click in the builder?

    python benchmarks/bench_redraw.py [--rounds 20]

Milliseconds from new numbers to the bytes of the PNG (of a click: to the updated list), median and largest; the bound is 60 ms.
On a machine that does other things the processor's time tells more.
"""

import argparse
import json
import statistics
import time

import dtnn
from dtnn.lab import AllReduceLab, Playground
from dtnn.lab.builder_panel import BuilderPanel
from dtnn.plots.picture import Picture
from dtnn.plots.story import Story
from dtnn.records import Step

BOUND = 60  # milliseconds


def live():
    """The picture of a run, with 20 steps more each time."""
    drawn, story, told = Picture(), Story(), []

    def again():
        for _ in range(20):
            number = len(told) + 1
            told.append(Step(number, 1 + number // 100, 2 / number**0.5, 64, 0.01, 0.01, time.time()))
        story.read(told)
        drawn.draw(story, "running")

    return again


def allreduce(ranks):
    """The next round."""
    lab = AllReduceLab("ring", ranks=ranks, length=2 * ranks)
    return lambda: lab.forward() if lab.round.value < lab.round.max else setattr(lab.round, "value", 0)


def playground(every):
    """The picture after a step, which itself is not counted."""
    panel = Playground("spiral", ranks=4)
    panel.every.value = every
    panel.play.forward(3)
    return panel._show


def network(name):
    """The drawing of a network."""
    panel = BuilderPanel(getattr(dtnn.zoo, name)(), names={})
    panel.tabs.selected_index = 1
    return panel._draw


def click(name):
    """The last layer gets more outputs, and all rows are looked at."""
    panel = BuilderPanel(getattr(dtnn.zoo, name)(), names={})
    panel._act("open", len(panel.builder.calls) - 1)
    features = panel._form.controls["features"]
    return lambda: setattr(features, "value", features.value + 1)


KINDS = {
    "live": live,
    "allreduce of 4": lambda: allreduce(4),
    "allreduce of 16": lambda: allreduce(16),
    "playground": lambda: playground(1),
    "playground, replicas differ": lambda: playground(2),
    "drawing of lenet5": lambda: network("lenet5"),
    "drawing of resnet20": lambda: network("resnet20"),
    "click in lenet5": lambda: click("lenet5"),
    "click in resnet20": lambda: click("resnet20"),
}


def measure(kind, rounds):
    """One row, in milliseconds."""
    again, spent, worked = KINDS[kind](), [], []
    again()
    for _ in range(rounds):
        begin, began = time.perf_counter(), time.process_time()
        again()
        spent.append(1000 * (time.perf_counter() - begin))
        worked.append(1000 * (time.process_time() - began))
    figures = {"median_ms": statistics.median(spent), "largest_ms": max(spent), "processor_ms": statistics.median(worked)}
    return {"what": kind, **figures, "rounds": rounds}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", help="append one JSON object a row to this file")
    options = parser.parse_args()
    for kind in KINDS:
        row = measure(kind, options.rounds)
        word = "" if row["median_ms"] <= BOUND else f"  more than {BOUND} ms"
        took = f"{row['median_ms']:6.1f} ms, at most {row['largest_ms']:6.1f}, of the processor {row['processor_ms']:6.1f}"
        print(f"{kind:28} {took}{word}", flush=True)
        if options.json:
            with open(options.json, "a") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
