"""How many times faster is a training step with more threads?  dtnn alone, stepped by its public `train`.

    python benchmarks/bench_threads.py [--nets lenet5,resnet20] [--threads 1,2] [--batch 64] [--json file]

In brackets: what two threads should gain.
Before anything is timed the losses of the first steps are compared.  A sample during which this process had to wait for a
processor counts less: with a second program on the machine, more threads than are free are slower than one.  They also gain less
where the cores are far from each other, which is measured, too.
"""

import numpy as np
from bench_step import BATCHES, own_step
from core_to_core import core_to_core
from options import append, parser
from timer import kept, sample

import dtnn
from dtnn.machine import threads

GOALS = {("lenet5", 2): 1.8, ("resnet20", 2): 1.8}  # times as fast as one thread


def steps(name, counts, batch):
    """{number of threads: step function}, each of a model of its own; their first losses agree."""
    rng, models = np.random.default_rng(0), {count: getattr(dtnn.zoo, name)() for count in counts}
    shape = models[counts[0]].input_shape
    x, y = rng.random((batch * BATCHES, *shape), np.float32), rng.integers(0, 10, batch * BATCHES)
    made, losses = {count: own_step(model, x, y, batch) for count, model in models.items()}, {}
    for count, step in made.items():
        with threads(count):
            losses[count] = [step() for _ in range(3)]
    for found in losses.values():
        np.testing.assert_allclose(found, losses[counts[0]], rtol=1e-4)
    return made


def measure(name, counts, batch, rounds, seconds=0.1):
    """A row a number of threads; they take turns."""
    made, calls, samples = steps(name, counts, batch), {}, {count: [] for count in counts}
    for number in range(rounds + 1):
        for count, step in made.items():
            with threads(count):
                step()
                if number == 0:
                    calls[count] = max(1, round(seconds / sample(step, 5)[0]))
                else:
                    samples[count].append(sample(step, calls[count]))
    times = {count: kept(found) for count, found in samples.items()}
    first = times[counts[0]]
    return [
        {"net": name, "batch": batch, "threads": c, "seconds": t.median, "kept": t.kept, "ratio": first.median / t.median}
        for c, t in times.items()
    ]


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default="lenet5,resnet20")
    arguments.add_argument("--threads", default="1,2")
    arguments.add_argument("--batch", type=int, default=64)
    arguments.add_argument("--rounds", type=int, default=15)
    options = arguments.parse_args()
    for net in options.nets.split(","):
        print(f"from core to core {1e9 * core_to_core():.0f} ns")
        for row in measure(net, [int(n) for n in options.threads.split(",")], options.batch, options.rounds):
            goal = GOALS.get((net, row["threads"]))
            text = f"{net:10} {row['threads']} threads {1e3 * row['seconds']:8.3f} ms a step, {row['ratio']:.2f} times"
            print(text + (f" ({goal})" if goal else ""), flush=True)
            append(row | {"goal": goal}, options.json)


if __name__ == "__main__":
    main()
