"""The method of `Run` that shows the weights of now, while it goes on."""

import base64
import time

import numpy as np

from ..allowed import number
from ..comm.checked import known_rank
from ..commands import ShowWeights
from ..records import Step
from .layer_names import LOOK, SECONDS, begun, known_layer
from .steering import tell


class Snapshot(dict):
    """Weights of one moment: arrays by name, as ``model.load_state_dict`` takes them.

    Attributes
    ----------
    step : int
        After so many steps.
    rank : int
        Whose.
    """

    def __init__(self, arrays, step, rank):
        super().__init__(arrays)
        self.step, self.rank = step, rank


def weights(run, layer=None, *, rank=0, timeout=10.0):
    """The weights as they are after the step that is under way: the run goes on, one that pauses goes on pausing.

    Only what is asked for is sent, once, and it is kept by nobody else.

    Parameters
    ----------
    layer : str, optional
        A layer, "conv2d_1", or a parameter, "conv2d_1.weight"; left out: all, with the running statistics.
    rank : int
        Whose: replicas differ between the averages of `dtnn.parallel.LocalSGD`, say, and running statistics are each rank's own
        until the end of an epoch. Of a parameter server rank 0 has the weights.
    timeout : float
        Seconds to wait at most.

    Returns
    -------
    Snapshot
        Arrays by name; its ``step`` is the number of steps made.

    Raises
    ------
    ValueError
        There is no such layer (the text has the nearest), or no such rank.
    RuntimeError
        The run is no training, or it ended without weights.
    TimeoutError
        No step ended in time; the text says what the run waits for.

    Notes
    -----
    Cost: the rank copies its weights into a text, about a millisecond a megabyte, and sends it when the network is free.

    Examples
    --------
    >>> import dtnn
    >>> model = dtnn.zoo.mlp()
    >>> with dtnn.Cluster(2, launcher="threads") as cluster:
    ...     run = model.start(dtnn.data.mnist5k(), cluster=cluster, epochs=1000, batch_size=20)
    ...     early = run.weights(timeout=30)
    ...     bias = run.weights("linear_3.bias", timeout=30)
    ...     run.end()
    >>> early["linear_3.weight"].shape, list(bias), bias.step >= early.step
    ((10, 128), ['linear_3.bias'], True)
    >>> twin = dtnn.zoo.mlp()
    >>> twin.load_state_dict(early)
    """
    until = time.monotonic() + number("weights: timeout", timeout, SECONDS, None)
    settings = begun(run, "weights", until, timeout)
    if layer is not None:
        known_layer("weights", layer, settings)
    rank = known_rank(rank, run.size, "weights: rank")
    if not run.done:
        asked = ShowWeights(layer or "", rank)
        before = run.snapshots.get((rank, asked.layer))
        tell(run, asked)
        told = _awaited(run, asked, before, until, timeout)
        if told is not None:
            return _decoded(told)
    return _final(run, layer)


def newest(run, rank=0):
    """The newest of all of a rank's weights that somebody has asked for and the run has told; None without any."""
    told = run.snapshots.get((rank, ""))
    return None if told is None else _decoded(told)


def _awaited(run, asked, before, until, timeout):
    """What was asked for; None if the run has ended meanwhile."""
    key = asked.rank, asked.layer
    while run.snapshots.get(key) is before:
        if run.done:
            return None
        if time.monotonic() > until:
            doing = run.waiting_for or f"it has told {len(run.records)} records"
            raise TimeoutError(f"no weights came within {timeout} s: {doing}. Give a longer timeout, if its steps take so long")
        run.wait(LOOK)
    return run.snapshots.get(key)  # None where they were forgotten, since the run has ended


def _decoded(told):
    arrays = {
        name: np.frombuffer(bytearray(base64.b64decode(entry["values"])), entry["dtype"]).reshape(entry["shape"])
        for name, entry in told.arrays.items()
    }
    return Snapshot(arrays, told.step, told.rank)


def _final(run, layer):
    """Those of a run that has ended, which are all ranks'."""
    result = run.results[0]
    if not isinstance(result, dict) or "weights" not in result:
        raise RuntimeError(f"weights: the run has ended ({run.state}) and left none; the model has those from before it")
    there = result["weights"].items()
    wanted = {name: np.array(array) for name, array in there if layer in (None, name) or name.startswith(f"{layer}.")}
    last = run.records.last(Step)
    return Snapshot(wanted, last.step if last else 0, 0)
