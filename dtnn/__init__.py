"""dtnn: the classroom and the lab for distributed deep learning.

The table of contents.  Everything is imported on first use, so `import dtnn` is quick, starts no MPI and
works where there is none.
"""

import importlib

__version__ = "0.1.0"

ROOMS = (
    *("nn", "zoo", "data", "optim", "scaling", "plots", "lab"),
    *("training", "check", "parallel", "comm", "cluster", "inject", "kernels", "history", "machine", "model", "records"),
    *("commands", "gradients", "explain", "tracing", "views"),
)
NAMES = {
    "Model": "model",
    "load": "model_file",
    "Cluster": "cluster",
    "Run": "cluster",
    "Stop": "records",
    "EarlyStopping": "training",
    "StopAt": "training",
    "Save": "training",
    "History": "history",
    "Comparison": "comparison",
}

__all__ = [*NAMES, *ROOMS]


def __getattr__(name):
    if name in NAMES:
        return getattr(importlib.import_module(f".{NAMES[name]}", __name__), name)
    if name in ROOMS:
        return importlib.import_module(f".{name}", __name__)
    from .absent import absent  # here, so that the import alone loads nothing

    raise absent(__name__, name, __all__)


def __dir__():
    return sorted(__all__)
