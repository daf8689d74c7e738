"""How long does the first step take, with an empty cache and with a full one?  Compile time is in no other benchmark.

    python benchmarks/bench_compile.py [--nets mlp,lenet5,resnet20]

Each net is tried in fresh processes with a cache folder of its own; imports are not counted.
"""

import json
import os
import subprocess
import sys
import tempfile

from options import append, parser

STEP = """
import json, sys, time
import numpy as np
import dtnn
from dtnn.kernels.cache import compiling
from dtnn.nn import Pass, cross_entropy
from dtnn.optim import SGD, Progress
model = getattr(dtnn.zoo, sys.argv[1])()
H, W, C = model.input_shape
x, step, optimizer, compiled = np.ones((C, H, W, 64), np.float32), Pass(), SGD(0.01, momentum=0.9), []
state = optimizer.state(model.parameters)

def one(number):
    start = time.perf_counter()
    step.begin(number, 0, 64, 64, x=x)
    y, backward = model.net.forward(x, step)
    backward(cross_entropy(y, np.arange(64) % 10)[1])
    optimizer.update(model.parameters, state, Progress(step=number, epoch=0.0))
    return time.perf_counter() - start

with compiling(lambda name, number: compiled.append(name)):
    first, second = one(1), one(2)
print(json.dumps({"first": first, "second": second, "kernels": len(compiled)}))
"""


def first_step(net, folder):
    """{first, second: seconds, kernels: compiled} of a fresh process."""
    environment = os.environ | {"DTNN_CACHE_DIR": folder, "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", STEP, net], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default="mlp,simplecnn,lenet5,resnet20,vgg11,alexnet")
    options = arguments.parse_args()
    for net in options.nets.split(","):
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = first_step(net, folder), first_step(net, folder)
        row = {"net": net, "cold": cold["first"], "warm": warm["first"], "step": warm["second"], "kernels": cold["kernels"]}
        print(f"{net:10} first step {row['cold']:6.2f} s cold, {row['warm']:5.2f} s warm, {row['kernels']} kernels", flush=True)
        append(row, options.json)


if __name__ == "__main__":
    main()
