"""How much memory does a training step take, and do more steps take more?  Growth of the process beside PyTorch's.

    python benchmarks/bench_memory.py [--nets lenet5,resnet20] [--batch 64] [--json file]

Each is measured in a process of its own: its peak in 10 steps, less the memory that there was before the network was trained, and
what 90 more steps add.  dtnn's kernels come from the disk: a process before it has filled the cache, so that the memory of
compilers doesn't count (a first training of all takes that, too).  The ratio is dtnn's peak to that of PyTorch's layout that
takes less; in brackets: what it should be at most.
"""

import json
import subprocess
import sys
from pathlib import Path

from options import append, parser

GOALS = {"resnet20": 1.1}
WHO = "dtnn", "eager", "channels_last"
CODE = """
import json, resource, sys
import numpy as np
name, batch, who = sys.argv[1], int(sys.argv[2]), sys.argv[3]
import dtnn
from bench_step import own_step, torch_step
from dtnn.kernels.cache import compiling
model = getattr(dtnn.zoo, name)()
rng = np.random.default_rng(0)
x, y = rng.random((batch, *model.input_shape), np.float32), rng.integers(0, 10, batch)
if who != "dtnn":
    import torch
    from torch_twin import twin
    torch.set_num_threads(1)
    network = twin(model)

def memory(word="VmRSS"):
    kib = next(line.split()[1] for line in open("/proc/self/status") if line.startswith(word))
    return int(kib) / 1024

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

compiled = []
with compiling(lambda name, number: compiled.append(name)):
    before = memory()
    open("/proc/self/clear_refs", "w").write("5")  # the peak counts from here
    step = own_step(model, x, y, batch) if who == "dtnn" else torch_step(network, x, y, batch, who)
    [step() for _ in range(10)]
    peak, first, some = memory("VmHWM"), memory(), faults()
    [step() for _ in range(90)]
    last, more = memory(), faults()
print(json.dumps({"net": name, "who": who, "step_mb": first - before, "peak_mb": peak - before, "grown_mb": last - first,
                  "page_faults_a_step": (more - some) / 90, "compiled": len(compiled)}))
"""


def measure(net, batch, who):
    """One row, in MiB."""
    command = [sys.executable, "-c", CODE, net, str(batch), who]
    done = subprocess.run(command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def rows(net, batch):
    """Of dtnn, and of PyTorch in both of its layouts, if it is there; only now the ratio is known."""
    measure(net, batch, "dtnn")
    own, *others = (measure(net, batch, who) for who in (WHO if has_torch() else WHO[:1]))
    if others:
        own |= {"ratio": own["peak_mb"] / min(row["peak_mb"] for row in others), "goal": GOALS.get(net)}
    return own, *others


def has_torch():
    """Whether PyTorch can be compared with."""
    return not subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False).returncode


def line(row):
    """A row of the table."""
    text = (
        f"{row['net']:10} {row['who']:14} {row['step_mb']:7.1f} MiB, peak {row['peak_mb']:7.1f}, grown {row['grown_mb']:5.1f}, "
    )
    text += f"{row['page_faults_a_step']:.0f} page faults a step"
    if "ratio" in row:
        text += f"   {row['ratio']:.2f} times PyTorch's" + (f" ({row['goal']})" if row["goal"] else "")
    return text


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default="lenet5,resnet20")
    arguments.add_argument("--batch", type=int, default=64)
    options = arguments.parse_args()
    for net in options.nets.split(","):
        for row in rows(net, options.batch):
            print(line(row), flush=True)
            append(row, options.json)


if __name__ == "__main__":
    main()
