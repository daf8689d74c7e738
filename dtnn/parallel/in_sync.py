"""`in_sync`: whether the replicas are still equal, bit by bit."""

import numpy as np

from ..comm.agreement import agree, digest, first_difference, who_says_what


class OutOfSync(RuntimeError):
    """The replicas of a network are not equal any more; the text names the ranks and the first parameter that differs."""


def in_sync(comm, parameters, buffers=()):
    """Compare the parameters of all ranks by their fingerprint; collective.

    Parameters
    ----------
    comm : Communicator
    parameters : Parameters
    buffers : iterable of str
        Names of running statistics that should be equal, too; the same on all ranks. Those of a rank's own batches are not, until
        they are averaged.

    Raises
    ------
    OutOfSync
        On all ranks, when a single bit differs; names the ranks, and the first parameter or running statistic that differs.

    Notes
    -----
    Cost: one pass over the parameters at the speed of memory, and one reduction of 16 bytes.

    Examples
    --------
    >>> from dtnn import nn
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     layer = nn.Linear(2)
    ...     layer.build((3,), np.random.default_rng(comm.rank))
    ...     in_sync(comm, nn.Parameters(layer))
    >>> run_threads(job, 2)
    Traceback (most recent call last):
    dtnn.parallel.in_sync.OutOfSync: the replicas differ, first in weight ...
    """
    if comm.size == 1:
        return
    from ..nn.fingerprint_of import fingerprint_of  # it loads Numba, which a communicator's user may not want

    if agree(comm, fingerprint_of(parameters, buffers)):
        return
    held = {s.name: parameters.value[s.start : s.start + s.size] for s in parameters.segments}
    held |= {name: parameters.buffers[name] for name in sorted(buffers)}
    names, digests = list(held), [digest(np.ascontiguousarray(array)) for array in held.values()]
    place = first_difference(comm, digests)
    if place is None:
        raise OutOfSync("ranks differ in the numbers between their parameters: something wrote beyond a parameter's end")
    said = who_says_what(comm, f"{digests[place]:016x}")
    if names[place] in buffers:
        raise OutOfSync(
            f"the replicas differ, first in the running statistic {names[place]} (hashes: {said}). Something changed it on one "
            f"rank only, or its batches were not summed alike; train anew, or begin with broadcast()"
        )
    raise OutOfSync(
        f"the replicas differ, first in {names[place]} (hashes: {said}). Their gradients were not summed alike, or something "
        f"changed weights on one rank only; train anew, or begin with broadcast()"
    )
