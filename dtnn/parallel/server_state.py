"""The optimizer's state of a parameter server, which a checkpoint needs on every rank."""

import numpy as np


def tell_state(comm, state):
    """Broadcast the server's state; on the server, while the workers `hear_state`. Returns it."""
    for name in sorted(state):
        comm.Bcast(np.atleast_1d(np.asarray(state[name])))
    return state


def hear_state(comm, state):
    """Put the server's state into one of the same kind, and return that; on the workers."""
    for name in sorted(state):
        array = np.atleast_1d(np.asarray(state[name]))
        comm.Bcast(array)
        state[name] = array if np.ndim(state[name]) else array.item()
    return state
