"""`GradientView`: the gradients of all ranks in one step, to be read, computed with and drawn."""

import math

import numpy as np

from ..allowed import listed, shown
from ..records import Gradients, GradientValues
from . import gradient_table
from .gradient_values import rows
from .noise_scale import ratio, signal_and_noise

WRONG = 1e-3  # from which relative difference on what came of the reduction is said not to be the sum


class GradientView:
    """What the ranks' gradients were before a reduction, and what it made of them.

    `Run.gradients` makes it. A rank's gradient is its part of the mean over the global batch: the sum over ranks is the whole.

    Parameters
    ----------
    told : Gradients
    values : GradientValues, optional
        The numbers themselves, of some parameters.

    Attributes
    ----------
    step, ranks, samples, layers, asked
        As in `Gradients`; `ranks` is their number.
    norms : ndarray (layers, ranks)
        2-norms of each rank's own gradient.
    after : list of ndarray
        For each layer the norms of what the ranks held after the reduction; one number where all held it together.
    total : ndarray (layers,)
        Norms of the true sums.
    columns : dict of str to list
        "layer", "rank", "samples", "before" (norm), "after", "cosine" (mean over the other ranks): one value each for each
        layer and rank.

    Examples
    --------
    >>> import dtnn
    >>> from dtnn.comm import run_threads
    >>> model, digits = dtnn.zoo.mlp(), dtnn.data.mnist5k()
    >>> job = lambda comm: list(dtnn.training.train(comm, model, digits.train[:64], batch_size=64, keep_gradients_every=1))
    >>> view = GradientView.of(job(dtnn.comm.Serial()), step=1)
    >>> view.layers, view.before("linear_1.bias").shape
    (['linear_1', 'linear_2', 'linear_3'], (1, 256))
    """

    def __init__(self, told, values=None):
        if not isinstance(told, Gradients):
            raise TypeError(f"told={shown(told)}: give a Gradients record; GradientView.of(run.records) finds the newest")
        self.told, self.parameters = told, values.parameters if values else {}
        self.step, self.samples, self.layers, self.asked = told.step, list(told.samples), list(told.layers), told.asked
        self.ranks = len(self.samples)
        self.norms = np.array(told.before, float).reshape(len(self.layers), self.ranks)
        self.after = [np.array(norms, float) for norms in told.after]
        self.total = np.array(told.total, float)

    @classmethod
    def of(cls, records, step=None, asked=None):
        """The newest one among the records of a run, or that of one step; `asked`: only one that was asked for by this name.

        Raises
        ------
        ValueError
            There is none; says which there are.
        """
        records = listed("records", records, "records, such as run.records")
        found = [record for record in records if isinstance(record, Gradients) and asked in (None, record.asked)]
        right = [record for record in found if step in (None, record.step)]
        if not right:
            steps = ", ".join(map(str, dict.fromkeys(record.step for record in found)))
            there = f"there are those of steps {steps}" if found else "keep some: model.start(..., keep_gradients_every=100)"
            raise ValueError(f"no gradients of {'any step' if step is None else f'step {step}'} were kept; {there}")
        told, values = right[-1], None
        for record in records:  # a step may be told several times, for several layers: numbers come before their norms
            if isinstance(record, GradientValues) and record.step == told.step:
                values = record
            if record is told:
                break
        return cls(told, values)

    # ---- numbers

    @property
    def columns(self):
        lines = [(place, rank) for place in range(len(self.layers)) for rank in range(self.ranks)]
        return {
            "layer": [self.layers[place] for place, _ in lines],
            "rank": [rank for _, rank in lines],
            "samples": [self.samples[rank] for _, rank in lines],
            "before": [float(self.norms[line]) for line in lines],
            "after": [float(self.after[place][min(rank, len(self.after[place]) - 1)]) for place, rank in lines],
            "cosine": [_mean_of_others(self.cosines(self.layers[place]), rank) for place, rank in lines],
        }

    def cosines(self, layer=None):
        """Cosines between the ranks' own gradients of a layer, or of all layers together: (ranks, ranks).

        1 where two ranks pull the same way, 0 where their gradients have nothing in common, as much noise has; NaN where
        a rank's gradient is zero (it had no samples).
        """
        if layer is not None:
            return np.array(self.told.cosines[self._place(layer)], float)
        products = sum(
            np.nan_to_num(np.array(cosines, float)) * np.outer(norms, norms)
            for cosines, norms in zip(self.told.cosines, self.norms)
        )
        lengths = np.sqrt(np.diagonal(products))
        with np.errstate(invalid="ignore"):
            return products / np.outer(lengths, lengths)

    def off(self, layer):
        """How far what the ranks held after the reduction was from the true sum, relative to it: one number, or one a rank."""
        place = self._place(layer)
        return np.array(self.told.off[place], float) / max(self.total[place], np.finfo(float).tiny)

    @property
    def noise_scale(self):
        """The simple noise scale of this step, in samples; see `noise_scale`, which takes many steps together."""
        return ratio(*self.signal_and_noise())

    def signal_and_noise(self, layer=None):
        """Estimates of the squared norm of the true gradient, and of the variance of one sample's gradient around it."""
        if layer is None:
            return signal_and_noise(self.samples, self.told.local, float(np.square(self.total).sum()))
        place = self._place(layer)
        shares = [(norm * sum(self.samples) / count) ** 2 for norm, count in zip(self.norms[place], self.samples) if count]
        return signal_and_noise(self.samples, sum(shares), float(self.total[place] ** 2))

    # ---- the gradients themselves

    def before(self, name=None):
        """Each rank's own gradient of a parameter: (ranks, *shape); (ranks, numbers) where not all were told (`left_out`)."""
        return rows(self.parameters, name, "before", self.step)

    def reduced(self, name=None):
        """The same after the reduction; one row where all ranks held the same."""
        return rows(self.parameters, name, "after", self.step)

    @property
    def left_out(self):
        """What is not there in full, in words; "" if nothing."""
        thinned = {name: entry["every"] for name, entry in self.parameters.items() if entry["every"] > 1}
        return "; ".join(f"{name}: one number in {every}" for name, every in thinned.items())

    def _place(self, layer):
        if layer not in self.layers:
            raise ValueError(f"there is no layer {layer!r} with gradients; there are {', '.join(self.layers)}")
        return self.layers.index(layer)

    # ---- for people

    def plot(self):
        """Norms of all layers and ranks, and the cosines between the ranks, as a matplotlib Figure."""
        from ..plots import gradients_figure

        return gradients_figure(self)

    @property
    def title(self):
        """What it shows, in a line."""
        asked = f", {self.asked}" if self.asked else ""
        return f"gradients of step {self.step:,}{asked} · {self.ranks} rank{'s' * (self.ranks != 1)} · {_samples(self.samples)}"

    @property
    def warning(self):
        """What makes one doubt the reduction; "" if nothing does."""
        worst = [(float(value), rank, layer) for layer in self.layers for rank, value in enumerate(self.off(layer))]
        value, rank, layer = max(worst, default=(0.0, 0, ""), key=lambda entry: math.inf if entry[0] != entry[0] else entry[0])
        if value <= WRONG:
            return ""
        return f"rank {rank} went on with something else than the sum: {layer} was off by {100 * value:.3g} %"

    @property
    def noise_words(self):
        """The noise scale of this step, in words."""
        return gradient_table.noise_words(self)

    def __str__(self):
        return gradient_table.text(self)

    __repr__ = __str__

    def _repr_html_(self):
        return gradient_table.page(self)


def _mean_of_others(cosines, rank):
    others = np.delete(cosines[rank], rank)
    return float(np.nanmean(others)) if np.isfinite(others).any() else math.nan


def _samples(samples):
    return f"{' + '.join(map(str, samples))} samples" if len(samples) < 9 else f"{sum(samples):,} samples"
