"""Does any batch size do?  The time an image takes against the next multiple of 16, and a step against PyTorch's.

    python benchmarks/bench_batch.py [--nets lenet5,resnet20] [--sizes 17,20,...] [--against 16,32,128,256] [--json file]

The vectors of a kernel are 16 images, so a batch that is no multiple of 16 leaves lanes empty.  Sizes take turns, one thread.
"""

import numpy as np
from bench_step import BATCHES, competitors, fastest, own_step
from options import append, parser
from threadpoolctl import threadpool_limits
from timer import compare

import dtnn

SIZES = "17,20,24,31,33,40,47,49,56,63,65,72,100"
MOST = {1: 2.0, 2: 1.65}  # full vectors -> how many times as long as that of the next multiple an image may take
BEYOND = 1.5
GOALS = {"lenet5": 3.8, "resnet20": 1.75}  # times as fast as PyTorch eager, whatever the batch


def data(model, batch):
    """Random images and labels for a few steps."""
    rng = np.random.default_rng(0)
    return rng.random((batch * BATCHES, *model.input_shape), np.float32), rng.integers(0, 10, batch * BATCHES)


def partial(name, sizes, rounds, budget):
    """A row for each size that is no multiple of 16."""
    wanted = sorted({*sizes, *(-(-size // 16) * 16 for size in sizes)})
    models = {size: getattr(dtnn.zoo, name)() for size in wanted}
    times = compare({size: own_step(model, *data(model, size), size) for size, model in models.items()}, rounds, 0.05, budget)
    for size in sizes:
        full = -(-size // 16) * 16
        ratio = times[size].median / size / (times[full].median / full)
        yield {"net": name, "size": size, "next": full, "ratio": ratio, "most": MOST.get(size // 16, BEYOND)}


def against_torch(name, size, rounds, budget):
    """A row: how many times faster than each of PyTorch's layouts."""
    model = getattr(dtnn.zoo, name)()
    times = fastest(compare(competitors(model, *data(model, size), size), rounds, 0.05, budget))
    own = times.pop("dtnn").median
    row = {"net": name, "size": size, "ms": 1e3 * own, "goal": GOALS.get(name)}
    return row | {f"times_{who}": t.median / own for who, t in times.items()}


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default="lenet5,resnet20")
    arguments.add_argument("--sizes", default=SIZES)
    arguments.add_argument("--against", default="16,32,128,256")
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--budget", type=float, default=40, help="seconds a comparison")
    options = arguments.parse_args()
    with threadpool_limits(1):
        for net in options.nets.split(","):
            for row in partial(net, [int(size) for size in options.sizes.split(",")], options.rounds, options.budget):
                print("{net:10} {size:4} images: {ratio:.2f} times as long each as of {next} (at most {most})".format(**row))
                append(row, options.json)
            for size in filter(None, options.against.split(",")):
                row = against_torch(net, int(size), options.rounds, options.budget)
                ratios = "   ".join(f"{key} {value:.2f}" for key, value in row.items() if key.startswith("times"))
                goal = f"   (eager: at least {row['goal']})" if row["goal"] else ""
                print("{net:10} {size:4} images: {ms:.2f} ms".format(**row), "", ratios + goal, flush=True)
                append(row, options.json)


if __name__ == "__main__":
    main()
