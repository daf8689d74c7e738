"""The method of `Run` that shows gradients: ask for a layer and wait for what comes, or find what was kept."""

import difflib
import time

from ..commands import Show
from ..gradients import GradientView
from ..records import Gradients, Start
from .steering import tell

LOOK = 0.02  # seconds between two looks for what was asked for


def gradients(run, layer=None, *, step=None, timeout=10.0):
    """The gradients of all ranks before their reduction, and what it made of them, in the next step.

    A run that pauses makes that step, and pauses again.  Of a run that has ended, or with `step`, those that were kept.

    Parameters
    ----------
    layer : str
        As `model.summary()` names it, "conv2d_1", or one parameter of it, "conv2d_1.weight": its numbers are told, too.
    step : int, optional
        A past step, of a run that was started with ``keep_gradients_every``.
    timeout : float
        Seconds to wait at most.

    Returns
    -------
    GradientView
        Norms, cosines between the ranks, noise scale, numbers; it draws itself with ``.plot()``.

    Raises
    ------
    ValueError
        There is no such layer (the text has the nearest), or nothing was kept of that step.
    RuntimeError
        The run is no training.
    TimeoutError
        The step didn't come in time; the text says what the run waits for.

    Examples
    --------
    >>> import dtnn
    >>> with dtnn.Cluster(2, launcher="threads") as cluster:
    ...     run = dtnn.zoo.mlp().start(dtnn.data.mnist5k(), cluster=cluster, epochs=1000, batch_size=20)
    ...     view = run.gradients("linear_3", timeout=30)
    ...     run.end()
    >>> view.samples, view.norms.shape, view.before("linear_3.weight").shape
    ([10, 10], (3, 2), (2, 10, 128))
    >>> view.warning
    ''
    """
    until = time.monotonic() + timeout
    if run.done or step is not None:
        return _kept(run.records, layer, step)
    layer = _known(run, layer, until, timeout)
    seen = len(run.records)
    tell(run, Show(layer))
    return _awaited(run, layer, seen, until, timeout)


def _kept(records, layer, step):
    """Those of a step, or the newest, and if there are some that were asked for by the layer's name, these."""
    asked = (record for record in records if isinstance(record, Gradients) and layer is not None and record.asked == layer)
    return GradientView.of(records, step, layer if any(step in (None, record.step) for record in asked) else None)


def _awaited(run, layer, seen, until, timeout):
    while True:
        told = run.records[seen:]
        if any(isinstance(record, Gradients) and record.asked == layer for record in told):
            return GradientView.of(told, asked=layer)
        if run.done or time.monotonic() > until:
            raise TimeoutError(_too_late(run, layer, timeout))
        run.wait(LOOK)


def _too_late(run, layer, timeout):
    if run.done:
        return f"the run has ended ({run.state}) before the gradients of {layer} were there; see run.result()"
    doing = run.waiting_for or f"it has told {len(run.records)} records"
    return (
        f"no gradients of {layer} came within {timeout} s: {doing}. Give a longer timeout, if its steps take so long; "
        "where ranks don't take their steps together, there are none of one step"
    )


def _known(run, layer, until, timeout):
    """The layer, if the run's training has it; waits for the run to begin."""
    while (start := run.records.last(Start)) is None and not run.done:
        if time.monotonic() > until:
            raise TimeoutError(f"the run has not begun within {timeout} s: it waits for {run.waiting_for}")
        run.wait(LOOK)
    layers = start.settings.get("layers") if start else None
    if not layers:
        raise RuntimeError(f"gradients: {run.name} tells nothing of layers that are trained; only a training by dtnn has them")
    if layer is None:
        raise ValueError(f"gradients: of which layer? There are {', '.join(layers)}")
    if not isinstance(layer, str):
        raise TypeError(f"gradients: layer={layer!r}: give its name as text; there are {', '.join(layers)}")
    parents = {name.rpartition(".")[0] for name in layers} - {""}
    if layer not in {*layers, *parents} and not _is_parameter(layer, layers):
        near = difflib.get_close_matches(layer, layers, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(layers)}"
        raise ValueError(f"there is no layer {layer!r} that is trained; {hint}")
    return layer


def _is_parameter(name, layers):
    return isinstance(name, str) and name.rpartition(".")[0] in layers
