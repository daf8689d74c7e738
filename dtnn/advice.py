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


def on_batches(samples, ranks, batch_size=None, batch_size_per_rank=None):
    """Sentences on batches that can't be as large as they were asked for, or not large enough for all ranks.

    Parameters
    ----------
    samples : int
        That there are.
    ranks : int
    batch_size, batch_size_per_rank : int, optional
        As the user gave them.

    Returns
    -------
    list of str

    Examples
    --------
    >>> on_batches(20, 2, batch_size=64)
    ['batch_size=64, but there are only 20 samples: each step takes all of them, one step an epoch; for more give a smaller one']
    >>> on_batches(3, 4)
    ['3 samples for 4 ranks: some have nothing to do in any step; use 3 ranks or fewer, or more samples']
    >>> on_batches(20, 2, batch_size=20)
    []
    """
    if samples < ranks:
        use = f"{samples} rank{'s' * (samples != 1)}{' or fewer' * (samples > 1)}"
        few = f"{samples} sample{'s' * (samples != 1)}"
        return [f"{few} for {ranks} ranks: some have nothing to do in any step; use {use}, or more samples"]
    asked = batch_size if batch_size_per_rank is None else batch_size_per_rank * ranks
    if asked is None or asked <= samples:
        return []
    name, over = f"batch_size={batch_size}", ""
    if batch_size_per_rank is not None:
        name = f"batch_size_per_rank={batch_size_per_rank}"
        over = f" is {asked} over {ranks} ranks" if ranks > 1 else ""
    all_ = f"{samples} samples" if samples > 1 else "1 sample"
    return [
        f"{name}{over}, but there are only {all_}: each step takes all of them, one step an epoch; for more give a smaller one"
    ]
