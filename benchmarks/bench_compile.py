"""How long does the first step take, with an empty cache and with a full one?  Compile time is in no other benchmark.

    python benchmarks/bench_compile.py [--nets mlp,lenet5,resnet20] [--json file]

Each net is tried in fresh processes with a cache folder of its own: the first step of the public `train`, from its call to the
first record of a step, gathering, loss and update included; imports and the making of the network are not counted.  In
brackets: what it should be at most.
"""

import json
import os
import subprocess
import sys
import tempfile

from options import append, parser

GOALS, MORE = {"mlp": 2.0, "lenet5": 5.0, "resnet20": 8.0}, 0.6  # seconds: cold; warm, more than a second step
STEP = """
import json, sys, time
import numpy as np
import dtnn
from dtnn.comm import Serial
from dtnn.data import Samples
from dtnn.kernels.cache import compiling
from dtnn.optim import SGD
from dtnn.records import Step
from dtnn.training import train

model, compiled = getattr(dtnn.zoo, sys.argv[1])(), []
data = Samples(np.ones((192, *model.input_shape), np.float32), np.arange(192) % 10)

def seconds():
    start = time.perf_counter()
    next(record for record in run if isinstance(record, Step))
    return time.perf_counter() - start

with compiling(lambda name, number: compiled.append(name)):
    run = train(Serial(), model, data, optimizer=SGD(0.01, momentum=0.9), batch_size=64)
    first, second = seconds(), seconds()
print(json.dumps({"first": first, "second": second, "kernels": len(compiled)}))
"""


def first_step(net, folder):
    """{first, second: seconds, kernels: compiled} of a fresh process."""
    environment = os.environ | {"DTNN_CACHE_DIR": folder, "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", STEP, net], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def measure(net):
    """A row, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = first_step(net, folder), first_step(net, folder)
    row = {"net": net, "cold": cold["first"], "warm": warm["first"], "step": warm["second"], "kernels": cold["kernels"]}
    return row | {"more": row["warm"] - row["step"], "compiled_again": warm["kernels"], "goal": GOALS.get(net)}


def line(row):
    """A row of the table."""
    goal = f"({row['goal']:.1f})" if row["goal"] else ""
    return (
        f"{row['net']:10} first step {row['cold']:6.2f} s cold {goal:6} {row['kernels']:3} kernels   {row['warm']:5.2f} s warm, "
        f"{row['more']:.2f} more than a second step ({MORE})"
    )


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default="mlp,simplecnn,lenet5,resnet20,vgg11,alexnet")
    options = arguments.parse_args()
    for net in options.nets.split(","):
        row = measure(net)
        print(line(row), flush=True)
        append(row, options.json)


if __name__ == "__main__":
    main()
