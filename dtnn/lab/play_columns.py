"""The numbers behind the playground's pictures: a play in, columns of equal length out."""

import numpy as np

__all__ = ["gradients", "points", "steps"]


def steps(play):
    """The loss of each step (of a long training, the mean over some), and the weights after it, if there are two.

    Examples
    --------
    >>> from dtnn.data import toy2d
    >>> from dtnn.lab.pairs import PAIRS
    >>> from dtnn.lab.play import Play
    >>> from dtnn.lab.play_net import PlayNet
    >>> play = Play(toy2d.gauss(), ranks=1, net=PlayNet(pair=PAIRS["gauss"]))
    >>> play.forward(3)
    >>> told = steps(play)
    >>> told["step"], len(told["loss"]), list(told)[2:]
    ([1, 2, 3], 3, ['rank 0: a, weight of x', 'rank 0: b, weight of y'])
    >>> play.close()
    """
    told = {"step": play.losses.steps.tolist(), "loss": [float(loss) for loss in play.losses.values]}
    if play.path is not None:
        path = np.array(play.path.values)
        for rank in range(play.ranks):
            for place, name in enumerate(play.net.pair.weights):
                told[f"rank {rank}: {name}"] = path[:, rank, place].tolist()
    return told


def points(play):
    """Each point with its class, its rank, whether it is in the last batch, and the probability of class 1."""
    rows, (owners, now) = play.data.train, play.owners()
    told = {"x": rows.x[:, 0], "y": rows.x[:, 1], "class": rows.y, "rank": owners, "in batch": now}
    return {name: column.tolist() for name, column in {**told, "probability": play.outputs(rows.x)}.items()}


def gradients(play):
    """A row for each rank and weight: the rank's part of the last step's gradient, whose sum is that of the batch."""
    ranks, weights = play.gradients.shape
    rank, weight = np.divmod(np.arange(ranks * weights), weights)
    told = {"rank": rank, "weight": weight, "at": play.asked_at.reshape(-1), "gradient": play.gradients.reshape(-1)}
    return {name: column.tolist() for name, column in told.items()}
