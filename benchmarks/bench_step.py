"""How long is a training step, against PyTorch's?  Forward, loss, backward, SGD with momentum; batch 64, one thread, float32.

    python benchmarks/bench_step.py [--nets lenet5,resnet20] [--batch 64] [--json file]

dtnn is stepped by its public `train` on one rank (with its gathering of the mini-batch and its records); PyTorch in its
own layouts, without conversions, with its fused optimizer.  Both begin with the same weights, and before anything is timed
the losses of the first steps are compared.  dtnn's steps end with an update each; no compile time is counted.
"""

import os
import platform

import numpy as np
from options import append, parser
from threadpoolctl import threadpool_limits
from timer import compare

import dtnn
from dtnn.comm import Serial
from dtnn.data import Samples
from dtnn.nn import Dropout
from dtnn.optim import SGD
from dtnn.records import Step
from dtnn.training import train

NETS = "mlp", "simplecnn", "lenet5", "resnet20", "vgg11", "alexnet"
RATE, MOMENTUM = 1e-4, 0.9
BATCHES = 100  # in an epoch: what comes at its end is no part of a step, and hardly counts


def own_step(model, x, y, batch):
    """A function that makes the next step of `train`, and returns its loss."""
    optimizer = SGD(RATE, momentum=MOMENTUM)
    run = train(Serial(), model, Samples(x, y), metrics=(), optimizer=optimizer, epochs=10**9, batch_size=batch)

    def step():
        return next(record.loss for record in run if isinstance(record, Step))

    return step


def torch_step(network, x, y, batch, layout):
    """A function that makes one step of PyTorch on a fixed mini-batch, and returns its loss."""
    import torch

    form = torch.channels_last if layout == "channels_last" else torch.contiguous_format
    images = torch.from_numpy(x[:batch].transpose(0, 3, 1, 2).copy()).to(memory_format=form)
    labels = torch.from_numpy(y[:batch])
    network = network.to(memory_format=form).train()
    optimizer = torch.optim.SGD(network.parameters(), RATE, MOMENTUM, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def competitors(model, x, y, batch):
    """{name: step function}"""
    steps = {"dtnn": own_step(model, x, y, batch)}
    try:
        import torch
    except ImportError:
        return steps
    from torch_twin import twin

    torch.set_num_threads(1)
    for layout in ("eager", "channels_last"):
        steps[layout] = torch_step(twin(model), x, y, batch, layout)
    return steps


def check(name, x, y, batch, count=3):
    """The losses of the first steps on one mini-batch agree; dropout, which every library draws otherwise, is off."""
    model = getattr(dtnn.zoo, name)()
    for layer in model.net.layers:
        if isinstance(layer, Dropout):
            layer.rate = 0
    steps = competitors(model, x[:batch], y[:batch], batch)
    losses = {who: [step() for _ in range(count)] for who, step in steps.items()}
    for who, found in losses.items():
        if not np.allclose(found, losses["dtnn"], rtol=2e-3):
            raise AssertionError(f"{name}: the losses of {who} are {found}, those of dtnn {losses['dtnn']}")


def measure(name, batch, rounds, budget):
    """A row: milliseconds of each, and how many times dtnn is faster."""
    model, rng = getattr(dtnn.zoo, name)(), np.random.default_rng(0)
    x = rng.random((batch * BATCHES, *model.input_shape), np.float32)
    y = rng.integers(0, 10, batch * BATCHES)
    check(name, x, y, batch)
    times = compare(competitors(model, x, y, batch), rounds, 0.1, budget)
    own = times["dtnn"].median
    row = {"net": name, "batch": batch, "images_per_second": batch / own}
    for who, t in times.items():
        row |= {f"{who}_ms": t.median * 1e3, f"{who}_kept": t.kept}
    ratios = {who: t.median / own for who, t in times.items() if who != "dtnn"}
    return (
        row | {f"times_{who}": ratio for who, ratio in ratios.items()} | ({"times_best": min(ratios.values())} if ratios else {})
    )


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default=",".join(NETS))
    arguments.add_argument("--batch", type=int, default=64)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--budget", type=float, default=30, help="seconds a net")
    options = arguments.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, batch {options.batch}, one thread")
    with threadpool_limits(1):
        for name in options.nets.split(","):
            row = measure(name, options.batch, options.rounds, options.budget)
            parts = [f"{key} {value:.2f}" for key, value in row.items() if key.endswith("_ms") or key.startswith("times")]
            print(f"{name:10} {row['images_per_second']:9.0f} images/s   " + "   ".join(parts), flush=True)
            append(row, options.json)


if __name__ == "__main__":
    main()
