"""`plateau`: the schedule that looks at how well the training does."""

import math

from ..allowed import whole
from ..nn.metrics.direction import less_is_better
from .schedule import checked, of_direction, of_text, rate


@checked(lr=rate, metric=of_text, factor=rate, patience=whole, least_change=rate, least=rate, larger_is_better=of_direction)
def plateau(progress, lr, metric="val_loss", factor=0.1, patience=10, least_change=1e-4, least=0.0, larger_is_better=None):
    """lr, times `factor` each time that `metric` has not improved by `least_change` (relative) for more than `patience` epochs.

    Of losses and errors less is better, of everything else more, unless `larger_is_better` says True or False.  Read off the
    metrics of all epochs so far, so it needs no memory of its own; not below `least`.

    Parameters
    ----------
    lr : float
        The rate to begin with.
    metric : str
        What has to get better, such as "val_loss" or "val_accuracy".
    factor : float
        What the rate is multiplied by when it does not.
    patience : int
        Epochs without progress that are waited for.
    least_change : float
        Less progress than this, relative to the best so far, is none.
    least : float
        The rate never falls below this.
    larger_is_better : bool, optional
        Left out: the metric's name says it.

    Examples
    --------
    >>> from dtnn.optim import Progress
    >>> past = [{"val_loss": loss} for loss in (2.0, 1.0, 1.0, 1.0)]
    >>> plateau(0.5, patience=1)(Progress(step=1, epoch=4.0, past=past))
    0.05
    """
    sign = 1 if (less_is_better(metric) if larger_is_better is None else not larger_is_better) else -1
    best, waited, rate = math.inf, 0, lr
    for metrics in progress.past:
        value = sign * _measured(metrics, metric)
        if value < best - least_change * abs(best) if best < math.inf else value < math.inf:
            best, waited = value, 0
        else:
            waited += 1
        if waited > patience:
            rate, waited = max(least, rate * factor), 0
    return rate


def _measured(metrics, metric):
    if metric not in metrics:
        raise ValueError(
            f"plateau: metric={metric!r} is not measured; there are {', '.join(metrics) or 'none'}. "
            "Name one of them, or pass validation_data"
        )
    return metrics[metric]
