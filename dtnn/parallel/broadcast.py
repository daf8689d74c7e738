"""`broadcast`: all ranks begin with rank 0's parameters."""

from ..comm.agreement import agree, digest, first_difference, who_says_what
from ..comm.failures import Mismatch


def broadcast(comm, parameters):
    """Copy rank 0's parameters and buffers into those of all ranks; collective.

    First it makes sure that all ranks have the same network, or later sums would add up what doesn't belong together.

    Parameters
    ----------
    comm : Communicator
    parameters : Parameters
        Those of the same network on every rank; their values may differ.

    Raises
    ------
    Mismatch
        On all ranks, when the networks differ: names the first parameter that does, on which ranks.

    Notes
    -----
    Cost: one broadcast of all parameters, one of each buffer, and one reduction of 16 bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn import nn
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     layer = nn.Linear(2)
    ...     layer.build((3,), np.random.default_rng(comm.rank))
    ...     parameters = nn.Parameters(layer)
    ...     broadcast(comm, parameters)
    ...     return parameters.hash()
    >>> len(set(run_threads(job, 3)))
    1
    """
    parameters.take_over()  # of arrays that somebody has put in their place
    if comm.size == 1:
        return
    _check_same_network(comm, parameters)
    comm.Bcast(parameters.value)
    for name in sorted(parameters.buffers):
        comm.Bcast(parameters.buffers[name])


def _check_same_network(comm, parameters):
    texts = _descriptions(parameters)
    if agree(comm, digest("\n".join(texts))):
        return
    place = first_difference(comm, [digest(text) for text in texts])
    said = who_says_what(comm, texts[place] if place < len(texts) else "nothing any more")
    raise Mismatch(
        f"ranks were given different networks; the first difference is parameter {place + 1}: {said}. "
        f"Build the same layers in the same order on every rank"
    )


def _descriptions(parameters):
    """A line for each parameter and buffer: all that must be the same on every rank."""
    dtype = parameters.value.dtype
    described = [f"{s.name} {dtype} {tuple(s.shape)}{'' if s.trainable else ' frozen'}" for s in parameters.segments]
    return described + [f"{name} {array.dtype} {array.shape}" for name, array in sorted(parameters.buffers.items())]
