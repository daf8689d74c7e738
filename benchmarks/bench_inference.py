"""How long does a prediction take, of one image and of many, against PyTorch's?  One thread, float32.

    python benchmarks/bench_inference.py [--nets mlp,lenet5] [--batches 1,256] [--json file]

dtnn predicts by its public `Model.predict`, from NumPy's batch-first images to an array of the caller's own, all checks
included; PyTorch in `inference_mode`, from its own tensors in its own layouts, without conversions.  Both have the same
weights, and their outputs are compared with dtnn's plain path in float64 before anything is timed.  In brackets: how many times
as fast as the better layout dtnn should be.
"""

import os
import platform

import numpy as np
from options import append, parser
from reference import exact
from threadpoolctl import threadpool_limits
from timer import compare

import dtnn
from dtnn.nn import Pass

NETS = "mlp", "simplecnn", "lenet5", "resnet20"
LAYOUTS = "eager", "channels_last"
GOALS = {1: 0.8, 256: 1.0}  # by the number of images
RIGHT = 1e-3  # of the largest output


def torch_predict(network, x, layout):
    """A function that makes PyTorch's outputs for fixed images."""
    import torch

    form = torch.channels_last if layout == "channels_last" else torch.contiguous_format
    images = torch.from_numpy(x.transpose(0, 3, 1, 2).copy()).to(memory_format=form)
    network = network.to(memory_format=form).eval()

    def predict():
        with torch.inference_mode():
            return network(images)

    return predict


def competitors(model, x):
    """{name: function that returns the outputs for x}"""
    found = {"dtnn": lambda: model.predict(x)}
    try:
        import torch
    except ImportError:
        return found
    from torch_twin import twin

    torch.set_num_threads(1)
    return found | {layout: torch_predict(twin(model), x, layout) for layout in LAYOUTS}


def check(model, x, found):
    """AssertionError if the outputs of one of the competitors are wrong."""
    twin, inputs = exact(model), np.ascontiguousarray(np.moveaxis(x, (0, 3), (3, 0)), float)
    right = twin.net.forward(inputs, Pass(training=False))[0].T
    for who, predict in found.items():
        error = np.abs(np.asarray(predict()) - right).max() / np.abs(right).max()
        if not error < RIGHT:
            raise AssertionError(f"{who}: an output is wrong by {error:.1e} of the largest one")


def measure(name, batch, rounds, budget):
    """A row: microseconds of each, and how many times dtnn is faster."""
    model = getattr(dtnn.zoo, name)()
    x = np.random.default_rng(0).random((batch, *model.input_shape), np.float32)
    found = competitors(model, x)
    check(model, x, found)
    times = compare(found, rounds, 0.05, budget)
    own = times["dtnn"].median
    row = {"net": name, "batch": batch, "images_per_second": batch / own}
    for who, t in times.items():
        row |= {f"{who}_us": t.median * 1e6, f"{who}_kept": t.kept}
    ratios = {f"times_{who}": t.median / own for who, t in times.items() if who != "dtnn"}
    return row | ratios | ({"times_best": min(ratios.values()), "goal": GOALS.get(batch)} if ratios else {})


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default=",".join(NETS))
    arguments.add_argument("--batches", default="1,256", help="images at a time")
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--budget", type=float, default=15, help="seconds a net and batch")
    options = arguments.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, one thread")
    with threadpool_limits(1):
        for name in options.nets.split(","):
            for batch in map(int, options.batches.split(",")):
                row = measure(name, batch, options.rounds, options.budget)
                parts = [f"{key} {value:.2f}" for key, value in row.items() if key.endswith("_us") or key.startswith("times")]
                parts += [f"({row['goal']})"] if row.get("goal") else []
                print(f"{name:10} batch {batch:4}  {row['images_per_second']:9.0f} images/s   " + "   ".join(parts), flush=True)
                append(row, options.json)


if __name__ == "__main__":
    main()
