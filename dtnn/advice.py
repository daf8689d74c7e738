"""`advice`: what is allowed, but hardly meant."""

from .nn import BatchNorm1d, Softmax, cross_entropy


def advice(model, loss, batch_size, ranks):
    """Sentences on settings with which a network learns little or nothing, each with a remedy.

    Parameters
    ----------
    model : Model
    loss : Loss
    batch_size : int
        Over all ranks.
    ranks : int

    Returns
    -------
    list of str

    Examples
    --------
    >>> import dtnn
    >>> from dtnn.nn import Linear
    >>> model = dtnn.Model(Linear(3), Softmax(), input_shape=(2,))
    >>> advice(model, cross_entropy, 32, 1)
    ['the last layer is Softmax(), and cross_entropy makes a softmax of what it gives once more: leave the layer out']
    """
    found = []
    if loss is cross_entropy and type(model.net.layers[-1]) is Softmax:
        found.append(
            "the last layer is Softmax(), and cross_entropy makes a softmax of what it gives once more: leave the layer out"
        )
    rows = [layer for layer, shape in zip(model.net.layers, model.net.shapes) if len(shape) == 1]  # a sequence has many values
    if batch_size < 2 * ranks and any(isinstance(layer, BatchNorm1d) and not layer.sync for layer in rows):
        found.append(
            f"batch_size={batch_size} gives a rank one sample at a time, of which BatchNorm1d() makes zeros: "
            f"give {2 * ranks} or more, many more if you can, or use LayerNorm()"
        )
    return found
