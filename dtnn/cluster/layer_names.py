"""`known_layer`: whether a run's training has what somebody asks for by name, found out before it is asked."""

import difflib
import time

from ..records import Start

SECONDS = "seconds, such as 10"  # what a timeout may be
LOOK = 0.02  # seconds between two looks for the run's first record


def begun(run, verb, until, timeout):
    """The settings that the run's training has told; waits for the run to begin.

    Raises
    ------
    RuntimeError
        The run is no training.
    TimeoutError
        It did not begin in time.
    """
    while (start := run.records.last(Start)) is None and not run.done:
        if time.monotonic() > until:
            raise TimeoutError(f"the run has not begun within {timeout} s: it waits for {run.waiting_for}")
        run.wait(LOOK)
    settings = start.settings if start else {}
    if not settings.get("layers"):
        raise RuntimeError(f"{verb}: {run.name} tells nothing of layers that are trained; only a training by dtnn has them")
    return settings


def known_layer(verb, layer, settings):
    """Raise a `ValueError` unless a training has a layer, or a parameter, of that name; the text has the nearest.

    Parameters
    ----------
    verb : str
        What is asked for: "gradients", which only what is trained has, or "weights".
    layer : str
    settings : dict
        As `begun` returns them.

    Examples
    --------
    >>> settings = {"layers": ["linear_1"], "weights": {"linear_1.weight": True, "linear_1.bias": True}}
    >>> known_layer("gradients", "linear_1.wieght", settings)
    Traceback (most recent call last):
    ...
    ValueError: gradients: there is no 'linear_1.wieght'; did you mean 'linear_1.weight'?
    """
    there = settings.get("weights", {})
    right = [name for name, trained in there.items() if trained or verb == "weights"]
    layers = list(dict.fromkeys(name.rpartition(".")[0] for name in right))
    if not isinstance(layer, str):
        raise TypeError(f"{verb}: layer={layer!r}: give its name as text; there are {', '.join(layers)}")
    if layer in right or any(name.startswith(f"{layer}.") for name in right):
        return
    if layer in there or any(name.startswith(f"{layer}.") for name in there):
        raise ValueError(f"{verb}: {layer!r} is not trained, so it has none; run.weights({layer!r}) shows what it is")
    own = [name for name in right if name.startswith(f"{layer.rpartition('.')[0]}.")]
    near = difflib.get_close_matches(layer, own or [*layers, *right], 1, 0.8 if own else 0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(own or layers)}"
    raise ValueError(f"{verb}: there is no {layer!r}; {hint}")
