"""What each layer of a model makes of given inputs."""

import numpy as np

from ..data import Samples, batch_last
from ..nn.one_layer import run
from ..nn.passes import Pass
from ..nn.tree import named_layers
from ..training.asked import check_model
from ..training.predict import batch_first

MOST = 256  # samples at once: all that the layers give is kept


def layer_outputs(model, x):
    """The outputs of every layer of a model, each layer done by itself, as inference does it.

    Parameters
    ----------
    model : Model
    x : array (N, *input_shape), or Samples
        Inputs, batch first; at most 256.

    Returns
    -------
    dict of str to ndarray
        By the names of ``model.summary()``, batch first: (N, H, W, C) of maps, (N, K) of numbers. A block, such as `Residual`, is
        one layer; of a layer used twice the second time has a mark.

    Raises
    ------
    ValueError
        More samples than can be kept, or samples that don't fit the model.

    Examples
    --------
    >>> import dtnn
    >>> found = layer_outputs(dtnn.zoo.lenet5(), dtnn.data.mnist5k().x_test[:2])
    >>> found["conv2d_1"].shape, found["linear_3"].shape
    ((2, 28, 28, 6), (2, 10))
    """
    check_model(model)
    rows = (x if isinstance(x, Samples) else Samples(x)).suit(model.input_shape, tokens=model.takes_tokens)
    if len(rows) > MOST:
        raise ValueError(
            f"{len(rows)} samples are too many, for all that the layers give is kept: give {MOST} at most, x[:{MOST}]"
        )
    model.settle()
    step, names, found = Pass(training=False), {id(layer): name for name, layer, _ in named_layers(model.net)}, {}
    step.begin(0, 0, len(rows), len(rows))
    dtype = np.int32 if rows.tokens else model.parameters.value.dtype
    y = rows.turned(0, len(rows), step.empty(batch_last(rows.input_shape, len(rows)), dtype))
    for layer in model.net.layers:
        name = names[id(layer)]
        while name in found:
            name += "'"
        y = run(layer, y, step, {})[0]
        found[name] = np.array(batch_first(y), order="C")  # its own: the next layer may work in place
    return found
