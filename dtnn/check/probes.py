"""What may be broken, one ingredient a function: (its name, what to look at), or None where it is right."""

from collections import Counter

import numpy as np

from ..comm import run_threads
from ..comm.collectives import WrongSum
from ..nn.layer import call_forward
from ..nn.tree import named_layers
from ..optim import SGD
from ..parallel import OutOfSync
from ..records import Note
from .trial import Noting

CLOSE = 1e-9  # relative distance of what is equal but for rounding ...
DIVIDED = 1e-6  # ... and by how much that may be more after an optimizer's divisions


def learning(trial):
    """One rank changes its weights at all."""
    if not trial.moves():
        return "training", "one rank alone changes no weight, so there is nothing to compare: look at the loop and its rate"


def start(trial):
    """All begin with rank 0's weights."""
    weights = run_threads(lambda comm: trial.trained(comm, trial.rows, epochs=0, batch_size=4 * trial.ranks)[0], trial.ranks)
    for rank, found in enumerate(weights):
        if not np.array_equal(found, trial.twin().parameters.value):
            return "start", f"rank {rank} does not begin with rank 0's weights: broadcast them before the first step"


def drift(trial):
    """With a rate of 0, no weight changes."""
    changes, differ = trial.together(4 * trial.ranks, optimizer=SGD(0.0))
    if isinstance(differ, WrongSum):
        return "sum", str(differ)
    moved = [rank for rank, change in enumerate(changes) if not _close(change, 0 * change, scale=1.0)]
    words = "something besides the optimizer writes into weights: look at what the strategy does after the update, mix and settle"
    if moved:
        name = _first(trial, changes[moved[0]], 0 * changes[0], scale=1.0)
        whose = "all ranks" if len(moved) == trial.ranks else f"rank{'s' * (len(moved) > 1)} {', '.join(map(str, moved))}"
        return "drift", f"with a rate of 0 {name} changes on {whose}: {words}"
    if (changes != changes[0]).any():
        return "drift", f"with a rate of 0 the weights change, by less than rounding explains: {differ}. {words.capitalize()}"


def samples_used(trial):
    """Each sample is used once an epoch, on one rank."""
    settings = dict(metrics=(), batch_size=4 * trial.ranks, optimizer=SGD(0.0))  # a rate of 0: the replicas stay together

    def used(comm):
        noting = Noting(trial.rows)
        try:
            for record in trial.train(comm, trial.twin(), noting, **settings, **trial.settings):
                if isinstance(record, Note):
                    noting.used.clear()  # what was only used to prepare
        except OutOfSync:  # of a running statistic: what was not used by then says nothing
            return None
        return noting.used

    found = run_threads(used, trial.ranks)
    if None in found:
        return None
    counts = Counter(index for indices in found for index in indices)
    wrong = [index for index in range(len(trial.rows)) if counts[index] != 1]
    if wrong:
        times = ", ".join(f"sample {index} {counts[index]} times" for index in wrong[:4])
        return (
            "samples",
            f"each sample is to be used once an epoch, by one rank; {len(wrong)} are not ({times} ...): look at the shares",
        )


def inputs(trial):
    """A sample reaches the network the same, whichever rank it is given to."""
    if (sample := _changed_input(trial, trial.rows)) is None:
        return None
    augment = getattr(trial.rows, "augment", ())
    for change in augment:
        if _changed_input(trial, trial.rows.replaced(augment=(change,))) is not None:
            break
    else:
        change = None
    whose = f"the augmentation {getattr(change, '__name__', repr(change))}" if change else "what gathers the samples"
    return "inputs", (
        f"what sample {sample} of a batch looks like depends on which rank has it, or on when one looks: {whose} may use nothing "
        "but the images and draw(k), whose random numbers are keyed by the sample; no generator of its own, no place in the share"
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
    alone, (together, differ) = trial.alone(4 * trial.ranks), trial.together(4 * trial.ranks)
    wrong = [rank for rank, change in enumerate(together) if not _close(change, alone)]
    if not wrong:
        return ("sum", str(differ)) if differ else None
    change, whose = together[wrong[0]], "" if len(wrong) == trial.ranks else f"on rank {wrong[0]} "
    factor = np.dot(change, alone) / (np.dot(alone, alone) or 1.0)
    if factor and _close(change, factor * alone):
        words = "and every rank to update with the sum as it is" if whose else "no mean"
        told = f"{whose}a step is {factor:.4g} times as long as it should be"
        return "sum", f"{told}: the strategy is to sum gradients over the ranks, {words}"
    return "sum", str(differ or f"{whose}a step with equal shares is another one: look at how the strategy sums the gradients")


def uneven_shares(trial):
    """A step with unequal shares does, too."""
    alone, (together, differ) = trial.alone(4 * trial.ranks + 1), trial.together(4 * trial.ranks + 1)
    if differ or not all(_close(change, alone) for change in together):
        words = "equal shares are right, shares of different size are not: each sample must weigh the same, not each rank"
        return "shares", f"{words}; {differ}" if differ else words


def updates(trial):
    """A step of the optimizer that was given, too."""
    settings = dict(count=4 * trial.ranks, optimizer=trial.optimizer)
    alone, (together, differ) = trial.alone(**settings), trial.together(**settings)
    wrong = [rank for rank, change in enumerate(together) if not _close(change, alone, rounding=DIVIDED)]
    if wrong or differ:
        name = _first(trial, together[wrong[0]], alone, rounding=DIVIDED) if wrong else ""
        told = f"rank {wrong[0]} changes {name} otherwise" if wrong else differ
        return "update", (
            f"a step of SGD agrees, one of {trial.optimizer!r:.100} does not ({told}): look at whether the gradient of all ranks "
            "is clipped, not each rank's own, and whether each rank does the same"
        )


def _changed_input(trial, rows):
    """The first sample whose input or target depends on the rank it is given to, or None."""
    alone, together = trial.on_ranks(lambda twin, x, targets, step: (x.copy(), targets), 2 * trial.ranks + 1, rows)
    x = np.concatenate([x for x, _ in together], axis=-1)
    same = [_close(x[..., sample], alone[0][..., sample]) for sample in range(x.shape[-1])]
    if alone[1] is not None:
        targets = np.concatenate([targets for _, targets in together])
        same = [close and _close(*pair) for close, *pair in zip(same, targets, alone[1])]
    return next((sample for sample, close in enumerate(same) if not close), None)


def _first(trial, found, wanted, **close):
    """The name of the first parameter in which two flat vectors differ."""
    close = {"scale": np.abs(wanted).max()} | close
    for segment in trial.twin().parameters.segments:
        place = slice(segment.start, segment.start + segment.size)
        if not _close(found[place], wanted[place], **close):
            return segment.name
    return "what lies between the parameters"


def _close(found, wanted, scale=None, rounding=CLOSE):
    scale = np.abs(wanted).max(initial=0.0) if scale is None else scale
    return found.shape == wanted.shape and np.abs(found - wanted).max(initial=0.0) <= rounding * (scale or 1.0)


# in the order of a step: the first that fails is named
PROBES = (learning, start, drift, samples_used, inputs, layers, gradients, sums, uneven_shares, updates)
