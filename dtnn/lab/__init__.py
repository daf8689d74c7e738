"""The lab: widgets to build a network by clicks, train it on a cluster, and look into what ranks say to each other.

`Studio` is the whole bench, `Builder` the list of layers behind it, without widgets; `AllReduceLab` shows a sum over all ranks
message by message, `Playground` trains on points in the plane, `ClusterPanel` looks after
ranks.
"""

import importlib

PLACES = {
    "AllReduceLab": "allreduce_lab",
    "Builder": "builder",
    "ClusterPanel": "cluster_panel",
    "Playground": "playground",
    "Studio": "studio",
}

__all__ = list(PLACES)


def __getattr__(name):
    if name in PLACES:
        try:
            return getattr(importlib.import_module(f".{PLACES[name]}", __name__), name)
        except ModuleNotFoundError as error:
            if error.name != "ipywidgets":
                raise
            raise ImportError(f"dtnn.lab.{name} needs ipywidgets: python -m pip install ipywidgets") from error
    raise AttributeError(f"dtnn.lab has no {name!r}; it has {', '.join(__all__)}")
