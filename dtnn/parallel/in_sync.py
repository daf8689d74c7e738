"""`in_sync`: whether the replicas are still equal, bit by bit."""

import numpy as np

from ..comm.agreement import agree, digest, first_difference, who_says_what


class OutOfSync(RuntimeError):
    """The replicas of a network are not equal any more; the text names the ranks and the first parameter that differs."""


def in_sync(comm, parameters):
    """Compare the parameters of all ranks by their hash; collective.

    Parameters
    ----------
    comm : Communicator
    parameters : Parameters

    Raises
    ------
    OutOfSync
        On all ranks, when a single bit differs.

    Notes
    -----
    Cost: a hash of the parameters (about 1 GB/s) and one reduction of 16 bytes.

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
    if comm.size == 1 or agree(comm, int(parameters.hash()[:16], 16)):
        return
    place = first_difference(comm, [_digest(parameters, segment) for segment in parameters.segments])
    if place is None:
        raise OutOfSync("ranks differ in the numbers between their parameters: something wrote beyond a parameter's end")
    segment = parameters.segments[place]
    said = who_says_what(comm, f"{_digest(parameters, segment):016x}")
    raise OutOfSync(
        f"the replicas differ, first in {segment.name} (hashes: {said}). Their gradients were not summed alike, or something "
        f"changed weights on one rank only; train anew, or begin with broadcast()"
    )


def _digest(parameters, segment):
    return digest(np.ascontiguousarray(parameters.value[segment.start : segment.start + segment.size]))
