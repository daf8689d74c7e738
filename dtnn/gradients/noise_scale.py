"""`noise_scale`: how large a batch is worth while, from the gradients of the ranks."""

import math

import numpy as np

from ..allowed import listed
from ..records import Gradients, Step


def signal_and_noise(samples, local, whole):
    """What two sizes of batch tell of a gradient: the squared norm of the true one, and the variance of one sample's.

    With h_r the mean gradient over the n_r samples of rank r, h that over all B samples, P ranks that have samples, and 1/b
    the mean of 1/n_r::

        noise = (mean over ranks of |h_r|^2 - |h|^2) / (1/b - 1/B)            signal = |h|^2 - noise / B

    Parameters
    ----------
    samples : list of int
        n_r.
    local : float
        Sum over the ranks of \\|h_r\\|^2.
    whole : float
        \\|h\\|^2.

    Returns
    -------
    (float, float)
        Unbiased estimates of the signal and the noise, NaN where only one rank had samples.

    Notes
    -----
    McCandlish, Kaplan, Amodei et al. (2018), "An empirical model of large-batch training", appendix A.1.

    Examples
    --------
    >>> signal_and_noise([10, 10], local=2 * (1.0 + 5.0 / 10), whole=1.0 + 5.0 / 20)
    (1.0, 5.0)
    """
    counts = [count for count in samples if count]
    if len(counts) < 2:
        return math.nan, math.nan
    small, large = sum(1 / count for count in counts) / len(counts), 1 / sum(counts)
    noise = (local / len(counts) - whole) / (small - large)
    return whole - noise * large, noise


def noise_scale(records):
    """The simple noise scale of a training, from all its steps that tell of it.

    It is the variance of a sample's gradient over the squared norm of the true one: with batches much smaller than it a
    twice as large batch nearly halves the steps to make, with much larger ones it wins nothing.

    Parameters
    ----------
    records : list of records
        Of a run on several ranks: every eighth `Step` tells its `noise` where the ranks sum their gradients (`AllReduce`,
        `Accumulate`), whatever else is asked for. With other strategies it is known of the steps of ``keep_gradients_every``.

    Returns
    -------
    float
        In samples: mean noise over mean signal. Single steps say little, and those in which only one rank had samples nothing.
        NaN where nothing was told, as on one rank, or where the noise hides the signal.

    Examples
    --------
    >>> import dtnn
    >>> with dtnn.Cluster(2, "threads") as cluster:
    ...     history = dtnn.zoo.mlp().fit(dtnn.data.mnist5k(), cluster=cluster, show=False)
    >>> noise_scale(history.records) > 0
    True
    """
    records = listed("records", records, "records, such as run.records")
    steps = [record for record in records if isinstance(record, Step) and np.isfinite(record.noise)]
    told = {record.step for record in steps}
    kept = [record for record in records if isinstance(record, Gradients) and record.step not in told]
    found = [*map(_of_step, steps), *map(_of_gradients, kept)]
    known = [pair for pair in found if np.isfinite(pair).all()]
    return ratio(*np.mean(known, axis=0)) if known else math.nan


def ratio(signal, noise):
    """The noise scale; NaN where the estimate of the signal is not positive."""
    return float(noise / signal) if signal > 0 else math.nan


def _of_step(record):
    return record.gradient**2 - record.noise / record.samples, record.noise


def _of_gradients(record):
    return signal_and_noise(record.samples, record.local, sum(norm**2 for norm in record.total))
