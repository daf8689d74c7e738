"""What ranks keep from step to step, each for itself, on its way into a checkpoint and out of it."""

import numpy as np


def gathered(comm, own):
    """What a checkpoint holds of the arrays that each rank keeps: on rank 0 a row for each rank, elsewhere one's own; collective.

    Parameters
    ----------
    comm : Communicator
    own : dict of str to ndarray
        This rank's, the same names and shapes on all ranks.

    Returns
    -------
    dict of str to ndarray

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> [rows["rest"].tolist() for rows in run_threads(lambda comm: gathered(comm, {"rest": np.array([comm.rank])}), 2)]
    [[[0], [1]], [[1]]]
    """
    rows = {name: comm.Gather(own[name]) for name in sorted(own)}
    return {name: own[name][None].copy() if rows[name] is None else rows[name] for name in rows}


def given_back(comm, kept, own):
    """Put what `gathered` gave, or a file that was made of rank 0's, into the arrays that each rank keeps; collective.

    On as many ranks as there were each gets its own. On another number rank 0 gets the sum of all, and the others begin with
    zeros: what is kept is a part of a sum over the ranks, so nothing of it is lost.

    Parameters
    ----------
    comm : Communicator
    kept : dict of str to ndarray
        Empty where there is nothing to go on from.
    own : dict of str to ndarray
        This rank's arrays, written to.

    Returns
    -------
    str
        What the user should know: that it was another number of ranks, or that nobody here has a use for it; else empty.

    Raises
    ------
    ValueError
        The arrays have another length.
    """
    told = ""
    for name in sorted(kept):
        rows = kept[name]
        made = int(comm.Bcast(np.array([len(rows)]))[0])
        if name not in own:
            told = f"what was kept to be sent later ({name}, on {made} ranks) is dropped: this strategy has no use for it"
        elif rows.shape[1:] != own[name].shape:
            raise ValueError(
                f"what was kept ({name}) has the shape {rows.shape[1:]}, the trainable parameters have {own[name].shape}: "
                "go on with the same network, or begin a new training with resume=False"
            )
        elif made == comm.size:
            own[name][...] = rows[comm.rank if len(rows) == made else 0]
        else:
            own[name][...] = rows.sum(0) if comm.rank == 0 else 0
            told = f"{name} was kept by {made} ranks, now there are {comm.size}: rank 0 goes on with the sum of all"
    return told
