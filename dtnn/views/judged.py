"""How a classifier judges data: what it takes for what, and which samples it gets worst."""

import numpy as np

from ..allowed import whole
from ..data import samples
from ..nn.metrics import ConfusionMatrix
from ..plots.confusion import confusion as draw_confusion
from ..plots.tiles import tiles
from ..training.asked import check_model
from ..training.predict import predict


def confusion(model, data, y=None, ax=None):
    """Draw which class a model takes for which: rows are the labels, columns what the samples were taken for.

    Parameters
    ----------
    model : Model
        A classifier.
    data, y : Dataset, or inputs and labels
        What `Model.evaluate` takes; of a Dataset its test rows, if it has some.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import dtnn
    >>> from matplotlib.figure import Figure
    >>> ax = confusion(dtnn.zoo.mlp(), dtnn.data.mnist5k(), ax=Figure().add_subplot())
    >>> ax.images[0].get_array().shape
    (10, 10)
    """
    counts = confusion_counts(model, data, y)
    return draw_confusion(counts, _names(model, data), ax)


def confusion_counts(model, data, y=None):
    """The numbers of `confusion`: (classes, classes), how many samples of each label were taken for each class.

    >>> import dtnn
    >>> int(confusion_counts(dtnn.zoo.mlp(), dtnn.data.mnist5k()).sum())
    1000
    """
    rows, outputs = _judged(model, data, y)
    metric = ConfusionMatrix(outputs.shape[1])
    return metric.matrix(metric.sums(outputs.T, rows.y)).astype(int)


def worst(model, data, y=None, ax=None, count=24):
    """Draw the samples that a model gets worst: what each is, what it was taken for, and how sure the model was of that.

    Parameters
    ----------
    model, data, y, ax
        As for `confusion`; images.
    count : int
        How many are shown.

    Returns
    -------
    matplotlib Axes
        The samples, the worst first; what is wrong with them are ``ax.texts``.

    Raises
    ------
    ValueError
        The samples are no images.
    """
    count = whole("count", count, 1)
    rows, outputs = _judged(model, data, y)
    if rows.x.ndim != 4:
        raise ValueError(
            f"samples of shape {rows.input_shape} are no images to show; worst_samples(model, data) tells their numbers"
        )
    found, names = _worst(rows, outputs, count), _names(model, data)
    words = [
        f"{names[label]} → {names[guess]} {probability:.0%}" if label != guess else f"{names[label]} {probability:.0%}"
        for label, guess, probability in zip(found["label"], found["taken_for"], found["probability"])
    ]
    wrong = int((outputs.argmax(axis=1) != rows.y).sum())
    title = f"The worst of {len(rows):,} samples ({wrong:,} are wrong)\nWhat it is → what it was taken for, how surely"
    wide = max((len(text) for text in words), default=0) > 12
    return tiles([rows.x[index] for index in found["index"]], words, ax, title, columns=6 if wide else 8)


def worst_samples(model, data, y=None, count=24):
    """The numbers of `worst`: a dict of columns "index", "label", "taken_for", "probability" (of that), "loss"; the worst first.

    Examples
    --------
    >>> import dtnn
    >>> found = worst_samples(dtnn.zoo.mlp(), dtnn.data.mnist5k(), count=3)
    >>> list(found), found["loss"][0] >= found["loss"][1] >= found["loss"][2]
    (['index', 'label', 'taken_for', 'probability', 'loss'], True)
    """
    return _worst(*_judged(model, data, y), whole("count", count, 1))


def _worst(rows, outputs, count):
    shifted = (outputs - outputs.max(axis=1, keepdims=True)).astype(np.float64)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    losses, guess = -logs[np.arange(len(rows)), rows.y], outputs.argmax(axis=1)
    index = np.argsort(-np.nan_to_num(losses, nan=np.inf), kind="stable")[:count]
    return {
        "index": index.tolist(),
        "label": rows.y[index].tolist(),
        "taken_for": guess[index].tolist(),
        "probability": np.exp(logs[index, guess[index]]).tolist(),
        "loss": losses[index].tolist(),
    }


def _judged(model, data, y):
    """Samples with labels, and the model's outputs for them."""
    shape = check_model(model).net.shapes[-1]
    if len(shape) != 1 or shape[0] < 2:
        raise ValueError(
            f"this model is no classifier: a sample's output has shape {shape}, not (classes,); end it with Linear(classes)"
        )
    rows = samples(data, y, part="train" if getattr(data, "test", None) is None else "test")
    rows = rows.suit(model.input_shape, shape[0], model.takes_tokens)
    model.settle()
    return rows, predict(model, rows)


def _names(model, data):
    """Names of the classes."""
    count, named = model.net.shapes[-1][0], getattr(data, "classes", None) or ()
    return [*map(str, named), *map(str, range(len(named), count))]
