"""What does looking closely at steps cost?  Steps of LeNet-5 with no traces, with the default ones, and with every step traced.

    python benchmarks/bench_trace.py [--net lenet5] [--batch 64] [--json file]

Each is a `train` of its own, stepped in turn on one rank and one thread. Two figures for the default: the time of all its steps,
traced ones among them, against the median of the untraced run's; and, free of the machine's noise, what a traced step takes
more than another times how many of them there are in a second. To the latter belongs the time to pack a trace for sending.
"""

import pickle
import time

import numpy as np
from bench_step import BATCHES
from options import append, parser
from threadpoolctl import threadpool_limits
from timer import compare

import dtnn
from dtnn.comm import Serial
from dtnn.data import Samples
from dtnn.optim import SGD
from dtnn.records import Step, Trace
from dtnn.training import train
from dtnn.training.tracer import SHORTEST


def step_of(net, x, y, batch, trace):
    """A function that makes the next step, with what follows from it, and returns the last trace."""
    model, told = getattr(dtnn.zoo, net)(), [None]
    run = train(Serial(), model, Samples(x, y), metrics=(), optimizer=SGD(1e-4), epochs=10**9, batch_size=batch, trace=trace)

    def step():
        for record in run:
            if isinstance(record, Trace):
                told[0] = record
            if isinstance(record, Step):
                return told[0]

    return step


def measure(net, batch, rounds, budget):
    """The row of one network."""
    model, rng = getattr(dtnn.zoo, net)(), np.random.default_rng(0)
    x, y = rng.random((batch * BATCHES, *model.input_shape), np.float32), rng.integers(0, 10, batch * BATCHES)
    steps = {str(trace): step_of(net, x, y, batch, trace) for trace in (False, True, 1)}
    times = {name: t.median for name, t in compare(steps, rounds, 0.1, budget).items()}
    trace = steps["1"]()
    begin = time.perf_counter()
    for _ in range(100):
        pickle.dumps(trace)
    packing = (time.perf_counter() - begin) / 100
    more = times["1"] - times["False"]
    return {
        "net": net,
        "batch": batch,
        "plain_ms": times["False"] * 1e3,
        "default_ms": times["True"] * 1e3,
        "every_step_ms": times["1"] * 1e3,
        "spans": len(trace.spans),
        "traced_step_more_us": more * 1e6,
        "packing_us": packing * 1e6,
        "default_share": (more + packing) / SHORTEST,
    }


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--net", default="lenet5")
    arguments.add_argument("--batch", type=int, default=64)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--budget", type=float, default=30, help="seconds")
    options = arguments.parse_args()
    with threadpool_limits(1):
        row = measure(options.net, options.batch, options.rounds, options.budget)
    print("  ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()))
    append(row, options.json)


if __name__ == "__main__":
    main()
