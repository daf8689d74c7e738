"""All-reduce by whatever the communicator has of its own."""


def native(comm, array):
    """Sum `array` over all ranks, in place: ``comm.Allreduce``, MPI's own choice of algorithm.

    Parameters
    ----------
    comm, array
        As in all of `dtnn.comm.collectives`.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     array = np.full(2, comm.rank + 1.0)
    ...     native(comm, array)
    ...     return array.tolist()
    >>> run_threads(job, 2)
    [[3.0, 3.0], [3.0, 3.0]]
    """
    comm.Allreduce(array)
