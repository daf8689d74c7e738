"""`advice`: what is allowed, but hardly meant."""

from .nn import BatchNorm1d, CrossEntropy, Dropout, ReLU, Sigmoid, Softmax, Tanh, binary_cross_entropy, cross_entropy

LOUD = 100.0  # an input of an image beyond this is no share of 255; what has been normalised stays far below
LOOKED_AT = 256  # samples


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
    found = on_the_last_layer(model, loss)
    rows = [layer for layer, shape in zip(model.net.layers, model.net.shapes) if len(shape) == 1]  # a sequence has many values
    if batch_size < 2 * ranks and any(isinstance(layer, BatchNorm1d) and not layer.sync for layer in rows):
        found.append(
            f"batch_size={batch_size} gives a rank one sample at a time, of which BatchNorm1d() makes zeros: "
            f"give {2 * ranks} or more, many more if you can, or use LayerNorm()"
        )
    return found


def on_the_last_layer(model, loss):
    """Sentences on outputs that the loss can't make much of.

    >>> from dtnn import Model
    >>> from dtnn.nn import Linear
    >>> on_the_last_layer(Model(Linear(3), ReLU(), input_shape=(2,)), cross_entropy)
    ['the last layer is ReLU(), and what it cuts off is never learnt: cross_entropy takes any numbers, leave the layer out']
    """
    last, labels = model.net.layers[-1], getattr(loss, "takes_labels", False)
    name, kind = getattr(loss, "__name__", type(loss).__name__), type(last)
    if kind is Softmax and (loss is cross_entropy or isinstance(loss, CrossEntropy)):
        return [f"the last layer is {last!r}, and {name} makes a softmax of what it gives once more: leave the layer out"]
    if kind in (Sigmoid, Softmax) and loss is binary_cross_entropy:
        return [f"the last layer is {last!r}, and {name} makes a sigmoid of what it gives once more: leave the layer out"]
    if kind is ReLU and (labels or loss is binary_cross_entropy):
        return [
            f"the last layer is {last!r}, and what it cuts off is never learnt: {name} takes any numbers, leave the layer out"
        ]
    if kind in (Sigmoid, Tanh) and labels:
        return [
            f"the last layer is {last!r}, so that no output is much larger than another: {name} takes any, leave the layer out"
        ]
    if kind is Dropout:
        return [f"the last layer is {last!r}, which drops the outputs themselves: put it before the last Linear"]
    if labels and model.net.shapes[-1] == (1,):
        return [
            f"the model has a single output, so that for {name} all samples are of one class: give the last Linear an output a "
            "class, or use binary_cross_entropy"
        ]
    return []


def on_inputs(x, scale):
    """Sentences on images that are not scaled as networks want them.

    >>> import numpy as np
    >>> on_inputs(np.full((2, 28, 28, 1), 255, np.float32), 1.0)
    ['the inputs go up to 255: networks learn from numbers about 1; divide them by 255, or hand over uint8']
    >>> on_inputs(np.full((2, 28, 28, 1), 255, np.uint8), 1 / 255)
    []
    """
    largest = float(abs(x[:LOOKED_AT]).max()) * abs(scale) if x.ndim == 4 else 0.0
    if largest <= LOUD:
        return []
    return [f"the inputs go up to {largest:.6g}: networks learn from numbers about 1; divide them by 255, or hand over uint8"]


def on_epochs(epochs, done, evaluate_first):
    """Sentences on a training without an epoch; `done` were made before it is resumed.

    >>> on_epochs(2, 2, False)
    ['epochs=2, of which 2 were made before: nothing is trained. All are counted; give more']
    >>> on_epochs(0, 0, True)
    []
    """
    if epochs > done or (evaluate_first and not done):
        return []
    if done:
        return [f"epochs={epochs}, of which {done} were made before: nothing is trained. All are counted; give more"]
    return ["epochs=0: nothing is trained; give 1 or more, or evaluate_first=True to see the metrics alone"]


def on_pieces(strategy, batch_size, ranks):
    """Sentences on micro-batches without samples.

    >>> from dtnn.parallel import Accumulate
    >>> on_pieces(Accumulate(8), 32, 1), len(on_pieces(Accumulate(8), 4, 1))
    ([], 1)
    """
    steps, each = getattr(strategy, "steps", 1), batch_size // ranks
    if type(strategy).__name__ != "Accumulate" or steps <= max(each, 1):
        return []
    few = f"{each} sample{'s' * (each != 1)}"
    return [f"Accumulate({steps}) cuts {few} of a rank in {steps} pieces, of which some are empty: give a larger batch_size"]


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
