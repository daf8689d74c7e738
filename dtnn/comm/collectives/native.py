"""All-reduce by whatever the communicator has of its own."""


def native(comm, array):
    """Sum `array` over all ranks, in place: ``comm.Allreduce``, MPI's own choice of algorithm.

    Parameters
    ----------
    comm : Communicator
    array : ndarray
    """
    comm.Allreduce(array)
