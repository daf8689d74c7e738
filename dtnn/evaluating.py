"""The methods of `Model` with which it shows what it has learnt: loss and metrics, and its outputs."""

from . import known, training
from .comm import Serial
from .data import Samples, plain, samples


def evaluate(model, data, y=None, *, loss="cross_entropy", metrics=None, batch_size=64):
    """Loss and metrics as a dict; of a Dataset, those of its test rows if it has some. Metrics as in `fit`.

    Examples
    --------
    >>> import dtnn
    >>> sorted(dtnn.zoo.mlp().evaluate(dtnn.data.mnist5k()))
    ['accuracy', 'loss']
    """
    model.settle()
    loss, metrics, batch_size = known.loss(loss), known.metrics(metrics), known.whole("batch_size", batch_size, 1)
    rows = samples(data, y, part="train" if getattr(data, "test", None) is None else "test")
    rows = model.suited(rows, loss)
    metrics = known.usual_metrics(loss, rows.y, model.net.shapes[-1]) if metrics is None else metrics
    return training.evaluate(Serial(), model, rows, loss=loss, metrics=metrics, batch_size=batch_size)


def predict(model, x, *, batch_size=64):
    """The outputs for inputs of shape ``(N, *input_shape)``, batch first; for a classifier ``(N, classes)`` logits.

    Examples
    --------
    >>> import dtnn
    >>> dtnn.zoo.mlp().predict(dtnn.data.mnist5k().x_test[:3]).shape
    (3, 10)
    """
    model.settle()
    batch_size = known.whole("batch_size", batch_size, 1)
    rows = None if model.takes_tokens else plain(x, model.input_shape)
    if rows is None:
        rows = Samples(x).suit(model.input_shape, tokens=model.takes_tokens)
    return training.predict(model, rows, batch_size=batch_size)
