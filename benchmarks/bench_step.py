"""How long is a training step, against PyTorch's?  Forward, loss, backward, SGD with momentum; batch 64, one thread, float32.

    python benchmarks/bench_step.py [--nets lenet5,resnet20] [--batch 64] [--tensorflow] [--json file]

dtnn is stepped by its public `train` on one rank (with its gathering of the mini-batch and its records); PyTorch in its
own layouts, without conversions, with its fused optimizer and with that which treats all weights at once (foreach): of the two
the faster one counts.  `--tensorflow` adds TensorFlow's compiled step of the three small nets, where it is installed.

All begin with the same weights.  Before anything is timed the losses of the first steps are compared with dtnn's plain path in
float64, and so is what dtnn's first step does to each weight.  dtnn's steps end with an update each; no compile time is counted.
Beside each ratio stands in brackets what it should be at batch 64.
"""

import os
import platform

import numpy as np
from options import append, parser
from reference import RATE as CHECKED_RATE
from reference import assert_changes, assert_losses, by_name, checkable, exact_steps
from threadpoolctl import threadpool_limits
from timer import compare

import dtnn
from dtnn.comm import Serial
from dtnn.data import Samples
from dtnn.optim import SGD
from dtnn.records import Step
from dtnn.training import train

# net -> how many times as long PyTorch's step should take: eager, and the better one of its layouts
GOALS = {
    "mlp": (1.7, 1.7), "simplecnn": (8.0, 4.0), "lenet5": (4.5, 3.6), "resnet20": (1.95, 1.5), "vgg11": (1.8, 1.8),
    "alexnet": (1.5, 1.5),
}  # fmt: skip
LAYOUTS, OPTIMIZERS = ("eager", "channels_last"), ("fused", "foreach")
RATE, MOMENTUM = 1e-4, 0.9
BATCHES = 100  # in an epoch: what comes at its end is no part of a step, and hardly counts


def own_step(model, x, y, batch, rate=RATE):
    """A function that makes the next step of `train`, and returns its loss."""
    optimizer = SGD(rate, momentum=MOMENTUM)
    run = train(Serial(), model, Samples(x, y), metrics=(), optimizer=optimizer, epochs=10**9, batch_size=batch)

    def step():
        return next(record.loss for record in run if isinstance(record, Step))

    return step


def torch_step(network, x, y, batch, layout, rate=RATE, optimizer="fused"):
    """A function that makes one step of PyTorch on a fixed mini-batch, and returns its loss."""
    import torch

    form = torch.channels_last if layout == "channels_last" else torch.contiguous_format
    images = torch.from_numpy(x[:batch].transpose(0, 3, 1, 2).copy()).to(memory_format=form)
    labels = torch.from_numpy(y[:batch])
    network = network.to(memory_format=form).train()
    update = torch.optim.SGD(network.parameters(), rate, MOMENTUM, **{optimizer: True})

    def step():
        update.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        update.step()
        return float(loss.detach())

    return step


def competitors(model, x, y, batch, rate=RATE, tensorflow=False):
    """{name: step function}; PyTorch's names are a layout and an optimizer, see `fastest`."""
    steps = {"dtnn": own_step(model, x, y, batch, rate)}
    if tensorflow:
        from keras_twin import tensorflow_step

        steps["tensorflow"] = tensorflow_step(model, x[:batch], y[:batch], rate, MOMENTUM)
    try:
        import torch
    except ImportError:
        return steps
    from torch_twin import twin

    torch.set_num_threads(1)
    for layout in LAYOUTS:
        for optimizer in OPTIMIZERS:
            steps[f"{layout} {optimizer}"] = torch_step(twin(model), x, y, batch, layout, rate, optimizer)
    return steps


def fastest(times):
    """Of both optimizers the faster one in each layout: {"dtnn", "eager", "channels_last": Timing}."""
    found = {}
    for who, timing in times.items():
        name = who.split()[0]
        if name not in found or timing.median < found[name].median:
            found[name] = timing
    return found


def check(name, x, y, batch, tensorflow=False, count=3):
    """The first steps on one mini-batch are right, dtnn's and those of all competitors; else AssertionError says what is not."""
    model, x, y = checkable(name), x[:batch], y[:batch]
    right, (before, after) = exact_steps(model, x, y, count, CHECKED_RATE, MOMENTUM)
    steps = competitors(model, x, y, batch, CHECKED_RATE, tensorflow)
    losses = {who: [step()] for who, step in steps.items()}
    assert_changes(name, by_name(model), before, after)
    for who, step in steps.items():
        assert_losses(name, who, losses[who] + [step() for _ in range(count - 1)], right)


def measure(name, batch, rounds, budget, tensorflow=False):
    """A row: milliseconds of each, and how many times dtnn is faster."""
    model, rng = getattr(dtnn.zoo, name)(), np.random.default_rng(0)
    x = rng.random((batch * BATCHES, *model.input_shape), np.float32)
    y = rng.integers(0, 10, batch * BATCHES)
    check(name, x, y, batch, tensorflow)
    times = fastest(compare(competitors(model, x, y, batch, tensorflow=tensorflow), rounds, 0.1, budget))
    own = times["dtnn"].median
    row = {"net": name, "batch": batch, "images_per_second": batch / own}
    for who, t in times.items():
        row |= {f"{who}_ms": t.median * 1e3, f"{who}_kept": t.kept}
    row |= {f"times_{who}": t.median / own for who, t in times.items() if who != "dtnn"}
    if "eager" in times:
        row |= {"times_best": min(row[f"times_{layout}"] for layout in LAYOUTS)}
        row |= dict(zip(("goal_eager", "goal_best"), GOALS[name] if batch == 64 else ()))
    return row


def line(row):
    """A row of the table."""
    text = f"{row['net']:10} {row['images_per_second']:9.0f} {row['dtnn_ms']:9.3f}"
    if "eager_ms" in row:
        text += f" {row['eager_ms']:9.3f} {row['channels_last_ms']:14.3f}"
        for kind in ("eager", "best"):
            goal = f"({row[f'goal_{kind}']:.2f})" if f"goal_{kind}" in row else ""
            text += f"   {row[f'times_{kind}']:5.2f} {goal:6}"
    if "tensorflow_ms" in row:
        text += f"   TensorFlow {row['tensorflow_ms']:.3f} ms, {row['times_tensorflow']:.2f}"
    return text


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default=",".join(GOALS))
    arguments.add_argument("--batch", type=int, default=64)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--budget", type=float, default=30, help="seconds a net")
    arguments.add_argument("--tensorflow", action="store_true", help="also TensorFlow, of the small nets")
    options = arguments.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, batch {options.batch}, one thread")
    print(f"{'net':10} {'images/s':>9} {'dtnn ms':>9} {'eager ms':>9} {'channels_last':>14}   times eager    times best")
    small = ()
    if options.tensorflow:
        from keras_twin import NETS as small
        from keras_twin import one_thread

        one_thread()
    with threadpool_limits(1):
        for name in options.nets.split(","):
            row = measure(name, options.batch, options.rounds, options.budget, name in small)
            print(line(row), flush=True)
            append(row, options.json)


if __name__ == "__main__":
    main()
