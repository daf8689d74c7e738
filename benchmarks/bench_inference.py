"""How long does a prediction take, of one image and of many, against PyTorch's?  One thread, float32.

    python benchmarks/bench_inference.py [--nets mlp,lenet5] [--batches 1,256] [--json file]

dtnn predicts by its public `Model.predict`, from NumPy's batch-first images to an array of the caller's own, all checks
included; PyTorch in `inference_mode`, from its own tensors in its own layouts, without conversions.  Both have the same
weights, and their outputs are compared before anything is timed.
"""

import os
import platform

import numpy as np
from options import append, parser
from threadpoolctl import threadpool_limits
from timer import compare

import dtnn

NETS = "mlp", "simplecnn", "lenet5", "resnet20"
LAYOUTS = "eager", "channels_last"


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
    """{name: function that returns the outputs for x}; they agree."""
    found = {"dtnn": lambda: model.predict(x)}
    try:
        import torch
    except ImportError:
        return found
    from torch_twin import twin

    torch.set_num_threads(1)
    found |= {layout: torch_predict(twin(model), x, layout) for layout in LAYOUTS}
    outputs = {who: np.asarray(predict()) for who, predict in found.items()}
    for who, y in outputs.items():
        error = np.abs(y - outputs["dtnn"]).max() / np.abs(y).max()
        assert error < 1e-3, f"{who} and dtnn differ by {error:.1e} of the largest output"
    return found


def measure(name, batch, rounds, budget):
    """A row: microseconds of each, and how many times dtnn is faster."""
    model = getattr(dtnn.zoo, name)()
    x = np.random.default_rng(0).random((batch, *model.input_shape), np.float32)
    times = compare(competitors(model, x), rounds, 0.05, budget)
    own = times["dtnn"].median
    row = {"net": name, "batch": batch, "images_per_second": batch / own}
    for who, t in times.items():
        row |= {f"{who}_us": t.median * 1e6, f"{who}_kept": t.kept}
    ratios = {f"times_{who}": t.median / own for who, t in times.items() if who != "dtnn"}
    return row | ratios | ({"times_best": min(ratios.values())} if ratios else {})


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
                print(f"{name:10} batch {batch:4}  {row['images_per_second']:9.0f} images/s   " + "   ".join(parts), flush=True)
                append(row, options.json)


if __name__ == "__main__":
    main()
