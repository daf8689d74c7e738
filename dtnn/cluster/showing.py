"""The method of `Run` that shows gradients: ask for a layer and wait for what comes, or find what was kept."""

import time

from ..allowed import number
from ..commands import Show
from ..gradients import GradientView
from ..records import Gradients, Refused, Start
from .layer_names import LOOK, SECONDS, begun, known_layer
from .steering import tell


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
        There is no such layer or parameter (the text has the nearest), it is not trained, ranks don't take their steps
        together, or nothing was kept of that step.
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
    until = time.monotonic() + number("gradients: timeout", timeout, SECONDS, None)
    if run.done or step is not None:
        return _kept(run, layer, step)
    settings = begun(run, "gradients", until, timeout)
    if layer is None:
        raise ValueError(f"gradients: of which layer? There are {', '.join(settings['layers'])}")
    known_layer("gradients", layer, settings)
    if settings.get("out_of_step"):
        raise ValueError(_none_of_all(settings["out_of_step"]))
    seen = len(run.records)
    tell(run, Show(layer))
    return _awaited(run, layer, seen, until, timeout)


def _kept(run, layer, step):
    """Those of a step, or the newest, and if there are some that were asked for by the layer's name, these."""
    records, start = run.records, run.records.last(Start)
    if layer is not None and start is not None and start.settings.get("weights"):
        known_layer("gradients", layer, start.settings)
    asked = (record for record in records if isinstance(record, Gradients) and layer is not None and record.asked == layer)
    view = GradientView.of(records, step, layer if any(step in (None, record.step) for record in asked) else None)
    view.asked = layer or view.asked  # what is kept is kept of all layers; this is the one that is looked at
    return view


def _awaited(run, layer, seen, until, timeout):
    while True:
        told = run.records[seen:]
        if any(isinstance(record, Gradients) and record.asked == layer for record in told):
            return GradientView.of(told, asked=layer)
        refused = next((record for record in told if isinstance(record, Refused) and record.layer == layer), None)
        if refused is not None:
            raise ValueError(_none_of_all(refused.text))
        if run.done or time.monotonic() > until:
            raise TimeoutError(_too_late(run, layer, timeout))
        run.wait(LOOK)


def _none_of_all(why):
    return f"gradients: {why}. There is no step whose gradients all ranks have"


def _too_late(run, layer, timeout):
    if run.done:
        return f"the run has ended ({run.state}) before the gradients of {layer} were there; see run.result()"
    doing = run.waiting_for or f"it has told {len(run.records)} records"
    return (
        f"no gradients of {layer} came within {timeout} s: {doing}. Give a longer timeout, if its steps take so long; "
        "where ranks don't take their steps together, there are none of one step"
    )
