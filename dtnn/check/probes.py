"""What may be broken, one ingredient a function: (its name, what to look at), or None where it is right."""

from collections import Counter

import numpy as np

from ..comm import run_threads
from ..nn.layer import call_forward
from ..nn.parameters import named_layers
from ..optim import SGD
from ..parallel import OutOfSync
from ..records import Note
from .trial import Noting

CLOSE = 1e-9  # relative distance of what is equal but for rounding


def learning(trial):
    """One rank changes its weights at all."""
    if not trial.moves():
        return "training", "one rank alone changes no weight, so there is nothing to compare: look at the loop and its rate"


def start(trial):
    """All begin with rank 0's weights."""
    weights = run_threads(lambda comm: trial.trained(comm, trial.rows, epochs=0, batch_size=4 * trial.ranks), trial.ranks)
    for rank, found in enumerate(weights):
        if not np.array_equal(found, trial.twin().parameters.value):
            return "start", f"rank {rank} does not begin with rank 0's weights: broadcast them before the first step"


def samples_used(trial):
    """Each sample is used once an epoch, on one rank."""
    settings = dict(metrics=(), batch_size=4 * trial.ranks, optimizer=SGD(0.0))  # a rate of 0: the replicas stay together

    def used(comm):
        noting = Noting(trial.rows)
        try:
            for record in trial.train(comm, trial.twin(), noting, **settings, **trial.settings):
                if isinstance(record, Note):
                    noting.used.clear()  # what was only used to prepare
        except OutOfSync:
            pass
        return noting.used

    counts = Counter(index for indices in run_threads(used, trial.ranks) for index in indices)
    wrong = [index for index in range(len(trial.rows)) if counts[index] != 1]
    if wrong:
        times = ", ".join(f"sample {index} {counts[index]} times" for index in wrong[:4])
        return (
            "samples",
            f"each sample is to be used once an epoch, by one rank; {len(wrong)} are not ({times} ...): look at the shares",
        )


def layers(trial):
    """No sample's output depends on how the batch is divided."""

    def outputs(twin, x, targets, step):
        found = []
        for layer in twin.net.layers:
            x = call_forward(layer, x, step)[0]
            found.append(x.copy())
        return found

    alone, together = trial.on_ranks(outputs, 2 * trial.ranks + 1)
    names = [name for name, layer, _ in named_layers(trial.model.net) if layer in trial.model.net.layers]
    for place, name in enumerate(names):
        if not _close(np.concatenate([found[place] for found in together], axis=-1), alone[place]):
            return "layer", (
                f"the output of {name} depends on how the batch is divided: random numbers must be keyed by a sample's place in "
                "the global batch (step.first), statistics of a batch summed over the ranks (sync=True)"
            )


def gradients(trial):
    """The sum of the ranks' gradients is that of one rank."""

    def gradient(twin, x, targets, step):
        twin.parameters.grad[:] = 0
        outputs, backward = twin.net.forward(x, step)
        backward(trial.settings["loss"](outputs, targets, step.global_batch)[1])
        return twin.parameters.grad.copy()

    alone, together = trial.on_ranks(gradient, 2 * trial.ranks + 1)
    total = sum(together)
    for segment in reversed(trial.twin().parameters.segments):  # backward begins at the end
        place = slice(segment.start, segment.start + segment.size)
        if not _close(total[place], alone[place], scale=np.abs(alone).max()):
            words = (
                "look at the backward of this layer or the next, and at the loss, which divides by the global weight it is given"
            )
            return "gradient", f"the gradients of {segment.name} don't add up to that of one rank: {words}"


def sums(trial):
    """A step with equal shares changes the weights as one rank would."""
    try:
        alone, together = trial.changes(4 * trial.ranks)
    except OutOfSync as error:
        return "sum", str(error)
    if _close(together, alone):
        return None
    factor = np.dot(together, alone) / (np.dot(alone, alone) or 1.0)
    if _close(together, factor * alone) and factor:
        return (
            "sum",
            f"a step is {factor:.4g} times as long as it should be: the strategy is to sum gradients over the ranks, no mean",
        )
    return "sum", "a step with equal shares is another one: look at how the strategy sums the gradients"


def uneven_shares(trial):
    """A step with unequal shares does, too."""
    try:
        alone, together = trial.changes(4 * trial.ranks + 1)
    except OutOfSync as error:
        return "shares", str(error)
    if not _close(together, alone):
        return (
            "shares",
            "equal shares are right, shares of different size are not: each sample must weigh the same, not each rank",
        )


def _close(found, wanted, scale=None):
    scale = np.abs(wanted).max(initial=0.0) if scale is None else scale
    return found.shape == wanted.shape and np.abs(found - wanted).max(initial=0.0) <= CLOSE * (scale or 1.0)


# in the order of a step: the first that fails is named
PROBES = (learning, start, samples_used, layers, gradients, sums, uneven_shares)
