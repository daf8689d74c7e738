"""What does a large batch cost in accuracy, and what helps?  Batch 2048 against SGD at batch 32, in as many epochs.

    python benchmarks/bench_large_batch.py [--net lenet5] [--epochs 50] [--seeds 5]

P ranks with a global batch give the weights of one rank with that batch, so one rank is enough to see it. The 4000 digits of
mnist5k are two steps an epoch at batch 2048. Rates were found by trying: what was best for SGD at batch 32, and for LARS at 2048.
"""

import math
import time

import numpy as np
from options import append, parser

import dtnn
from dtnn import optim

SMALL, LARGE = 32, 2048
TIMES = LARGE // SMALL
RATE = 0.03  # the best of 0.02, 0.03, 0.05 for SGD with momentum at batch 32
WARM = 5  # epochs of warm-up at batch 2048


def recipes():
    """(name, batch, optimizer): what is compared with the first."""
    linear = optim.scaled(RATE, TIMES, "linear")
    return [
        ("SGD", SMALL, optim.SGD(RATE, momentum=0.9)),
        ("SGD, as it is", LARGE, optim.SGD(RATE, momentum=0.9)),
        ("SGD, linear", LARGE, optim.SGD(linear, momentum=0.9)),
        ("SGD, linear, warm-up", LARGE, optim.SGD(optim.warm_up(linear, WARM), momentum=0.9)),
        ("SGD, LEGW", LARGE, optim.SGD(optim.legw(RATE, TIMES, WARM / TIMES), momentum=0.9)),
        ("LARS, LEGW", LARGE, lars()),
    ]


def lars():
    """0.0625 for batch 32, so 0.5 for 2048, after 5 epochs of warm-up, then down as a square."""
    return optim.LARS(optim.legw(optim.poly(0.0625, 2), TIMES, WARM / TIMES), trust=0.05, weight_decay=0.0)


def accuracy(net, optimizer, batch, epochs, seed, digits):
    """Of the test digits after training; that of guessing where the numbers left the finite ones."""
    model = getattr(dtnn.zoo, net)(seed=seed)
    settings = dict(epochs=epochs, batch_size=batch, optimizer=optimizer, seed=seed, validation_data=False, show=False)
    try:
        model.fit(digits, **settings)
    except dtnn.training.NotFinite:
        return 0.1
    return model.evaluate(digits)["accuracy"]


def measure(net, recipe, epochs, seeds, digits):
    """One row."""
    name, batch, optimizer = recipe
    start = time.perf_counter()
    found = [accuracy(net, optimizer, batch, epochs, seed, digits) for seed in range(seeds)]
    steps = epochs * math.ceil(len(digits.x_train) / batch)
    row = {"net": net, "recipe": name, "batch": batch, "optimizer": repr(optimizer), "epochs": epochs, "steps": steps}
    return row | {"accuracies": found, "accuracy": float(np.mean(found)), "seconds": time.perf_counter() - start}


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--net", default="lenet5")
    arguments.add_argument("--epochs", type=int, default=50)
    arguments.add_argument("--seeds", type=int, default=5)
    options = arguments.parse_args()
    digits = dtnn.data.mnist5k()
    for recipe in recipes():
        row = measure(options.net, recipe, options.epochs, options.seeds, digits)
        low, high = min(row["accuracies"]), max(row["accuracies"])
        print(
            f"{row['net']}  batch {row['batch']:4}  {row['recipe']:21} {row['steps']:5} steps  "
            f"{100 * row['accuracy']:5.1f} % ({100 * low:.1f} to {100 * high:.1f})  {row['seconds']:5.0f} s",
            flush=True,
        )
        append(row, options.json)


if __name__ == "__main__":
    main()
