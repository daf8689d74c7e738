"""How much memory does a training step take, and do more steps take more?  Growth of the process beside PyTorch's.

    python benchmarks/bench_memory.py [--nets lenet5,resnet20] [--batch 64]

Each is measured in a process of its own: resident memory after 10 steps, and its peak, less what there was before the network.
"""

import json
import subprocess
import sys
from pathlib import Path

from options import append, parser

CODE = """
import json, resource, sys
import numpy as np
name, batch, who = sys.argv[1], int(sys.argv[2]), sys.argv[3]
import dtnn
from bench_step import own_step, torch_step
model = getattr(dtnn.zoo, name)()
rng = np.random.default_rng(0)
x, y = rng.random((batch, *model.input_shape), np.float32), rng.integers(0, 10, batch)
if who != "dtnn":
    import torch
    from torch_twin import twin
    torch.set_num_threads(1)
    network = twin(model)

def memory():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * resource.getpagesize() / 2**20, resource.getrusage(resource.RUSAGE_SELF).ru_minflt

before = memory()[0]
step = own_step(model, x, y, batch) if who == "dtnn" else torch_step(network, x, y, batch, who)
[step() for _ in range(10)]
first, faults = memory()
[step() for _ in range(30)]
last, more = memory()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"net": name, "who": who, "step_mb": first - before, "peak_mb": peak - before, "grown_mb": last - first,
                  "page_faults_a_step": (more - faults) / 30}))
"""


def measure(net, batch, who):
    """One row, in MiB."""
    command = [sys.executable, "-c", CODE, net, str(batch), who]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default="lenet5,resnet20")
    arguments.add_argument("--batch", type=int, default=64)
    options = arguments.parse_args()
    for net in options.nets.split(","):
        for who in ("dtnn", "eager", "channels_last"):
            row = measure(net, options.batch, who)
            print(
                f"{net:10} {who:14} {row['step_mb']:7.1f} MiB, peak {row['peak_mb']:7.1f}, grown {row['grown_mb']:5.1f}, "
                f"{row['page_faults_a_step']:.0f} page faults a step",
                flush=True,
            )
            append(row, options.json)


if __name__ == "__main__":
    main()
