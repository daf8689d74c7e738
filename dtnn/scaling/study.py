"""The scaling experiment in one call: the same training on more and more ranks."""

import contextlib

from .. import known, machine
from ..allowed import listed, one_of, whole
from ..cluster import Cluster
from ..data import samples
from ..optim import SGD
from ..training.asked import check_model
from .measure import measure
from .result import Study

MODES = ("strong", "weak")


def study(model, data, ranks=(1, 2), mode="strong", repeats=3, batch_size=64, steps=40, optimizer=SGD(0.01), cluster=None):
    """Measure how training throughput scales with the number of ranks.

    Each number of ranks is measured `repeats` times, in turns, so that a slow minute of the machine meets them all.  A
    measurement is `steps` steps to warm up and as many that count; kernels are compiled before.  Every rank has the same
    number of threads at each number of ranks.

    Parameters
    ----------
    model : Model
        It is not changed.
    data : Dataset or (x, y)
    ranks : sequence of int
        The first one is what the others are compared with.
    mode : {"strong", "weak"}
        "strong": the global batch stays the same and is shared by more ranks.  "weak": each rank's share stays the
        same, so the global batch grows with the ranks.
    repeats : int
        Measurements for each number of ranks.
    batch_size : int
        The global batch (strong), or each rank's share (weak).
    steps : int
        Timed steps of a measurement.
    optimizer : Optimizer
    cluster : Cluster, optional
        Where to measure; without one, an own MPI cluster of as many ranks as are needed, ended afterwards.

    Returns
    -------
    Study
        ``study.plot()``, ``study.rows``, ``study.save(path)``.

    Raises
    ------
    ValueError, TypeError
        An unknown mode; ranks that are none, or more than the cluster has; a batch smaller than the number of ranks.

    Notes
    -----
    With throughput X_P on P ranks and P_1 the first of `ranks`: speed-up S_P = X_P / X_{P_1}, efficiency S_P P_1 / P, in
    both modes.  Amdahl (1967) is about the strong, Gustafson (1988) about the weak one.

    Examples
    --------
    >>> import dtnn
    >>> with dtnn.Cluster(2, "threads") as cluster:
    ...     found = study(dtnn.zoo.mlp(), dtnn.data.mnist5k(), ranks=[1, 2], repeats=1, steps=2, cluster=cluster)
    >>> [row["ranks"] for row in found.rows]
    [1, 2]
    """
    ranks = _known_ranks(ranks, cluster and known.cluster(cluster))
    mode, repeats, steps = one_of("mode", mode, MODES), whole("repeats", repeats, 1), whole("steps", steps, 1)
    batches = {count: whole("batch_size", batch_size, 1) * (count if mode == "weak" else 1) for count in ranks}
    if min(batches.values()) < max(ranks) and mode == "strong":
        raise ValueError(f"batch_size={batch_size} is less than the {max(ranks)} ranks of this study; use at least {max(ranks)}")
    optimizer, rows = known.optimizer(optimizer), samples(data)
    check_model(model)
    found = Study(
        model=repr(model),
        data=getattr(data, "name", "arrays"),
        mode=mode,
        batch_size=int(batch_size),
        optimizer=repr(optimizer),
        machine=machine.describe(),
    )
    with contextlib.nullcontext(cluster) if cluster is not None else Cluster(max(ranks)) as where:
        for repeat in range(1, repeats + 1):
            for count in ranks:
                found.measurements.append(measure(where, model, rows, count, repeat, batches[count], steps, optimizer))
        found.threads_per_rank = where.threads_per_rank
    return found


# ---- what was asked for


def _known_ranks(ranks, cluster):
    ranks = [ranks] if isinstance(ranks, int) else listed("ranks", ranks, "numbers of ranks, such as [1, 2, 4]")
    if not ranks:
        raise ValueError("ranks=[] is nothing to measure; give for example ranks=[1, 2, 4]")
    for count in ranks:
        whole("ranks", count, 1)
    if len(set(ranks)) < len(ranks):
        raise ValueError(f"ranks={ranks} names a number twice; repeats= measures each one several times")
    if cluster is not None and max(ranks) > cluster.ranks:
        raise ValueError(
            f"ranks={ranks}, but the cluster has {cluster.ranks}; start one of {max(ranks)}, or leave cluster= out for an own one"
        )
    return ranks
