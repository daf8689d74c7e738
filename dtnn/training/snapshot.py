"""`snapshot`: the weights of this moment, as a record."""

import base64
import time

from ..records import Weights


def names(parameters):
    """All that a snapshot may hold, parameters and running statistics, by name: whether it is trained.

    >>> from dtnn import Model, nn
    >>> names(Model(nn.Linear(3), nn.BatchNorm1d(), input_shape=(2,)).parameters)
    {'linear_1.weight': True, ... 'batchnorm1d_1.running_mean': False, 'batchnorm1d_1.running_var': False}
    """
    return {segment.name: segment.trainable for segment in parameters.segments} | dict.fromkeys(parameters.buffers, False)


def snapshot(parameters, rank, step, asked=""):
    """What this rank holds now, after so many steps.

    Parameters
    ----------
    parameters : Parameters
    rank, step : int
    asked : str
        A layer or a parameter; "" for all there is.

    Returns
    -------
    Weights
    """
    arrays = {s.name: parameters.value[s.start : s.start + s.size].reshape(s.shape) for s in parameters.segments}
    arrays |= parameters.buffers
    wanted = {name: array for name, array in arrays.items() if asked in ("", name) or name.startswith(f"{asked}.")}
    return Weights(rank, step, asked, {name: _told(array) for name, array in wanted.items()}, time.time())


def _told(array):
    shape = [int(size) for size in array.shape]
    return {"shape": shape, "dtype": str(array.dtype), "values": base64.b64encode(array).decode()}
