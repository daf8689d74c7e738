"""From what the user asks of `fit` to a job that every rank can run."""

import inspect
import os
import sys
import warnings

from . import known, optim
from .advice import advice, on_batches, on_epochs, on_inputs, on_pieces
from .data import global_batch, samples
from .parallel import check_in_step, check_repeatable
from .recipe import recipe
from .training import train, with_callbacks

FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Fitting:
    """One call of `Model.fit` or `Model.start`: its settings checked, ready to run anywhere, see `dtnn.running`.

    Parameters are those of `Model.fit`.
    """

    def __init__(
        self,
        model,
        data,
        y=None,
        *,
        epochs=1,
        batch_size=None,
        batch_size_per_rank=None,
        optimizer=optim.SGD(0.01, momentum=0.9),
        loss="cross_entropy",
        metrics=None,
        validation_data=None,
        callbacks=(),
        strategy=None,
        seed=0,
        deterministic=False,
        evaluate_first=False,
        trace=True,
        keep_gradients_every=0,
        phases=False,
        resume=False,
    ):
        model.check_free()
        model.refresh()
        self.model, self.seed, self.resume = model, known.seed(seed), None
        if known.flag("resume", resume):
            self.resume = _to_resume(model)
            self.seed = self.resume.seed
        self.epochs = known.whole("epochs", epochs, 0)
        self.batch_size, self.batch_size_per_rank = batch_size, batch_size_per_rank
        self.rows, self.name = samples(data, y), getattr(data, "name", "arrays")
        self.validation = _validation(data, validation_data)
        self.optimizer, self.loss, self.metrics = known.optimizer(optimizer), known.loss(loss), known.metrics(metrics)
        self.callbacks, self.strategy = known.callbacks(callbacks), known.strategy(strategy)
        self.deterministic = known.flag("deterministic", deterministic)
        self.evaluate_first = known.flag("evaluate_first", evaluate_first)
        self.trace, self.keep_gradients_every = known.trace(trace), known.whole("keep_gradients_every", keep_gradients_every, 0)
        self.phases = known.flag("phases", phases)
        if deterministic:
            check_repeatable(self.strategy)
        check_in_step(self.strategy, phases)
        self.rows = model.suited(self.rows, self.loss)
        self.validation = self.validation and model.suited(self.validation, self.loss)
        if self.metrics is None:
            self.metrics = known.usual_metrics(self.loss, self.rows.y, model.net.shapes[-1])
        self.recipe = recipe(self, data, validation_data)

    @classmethod
    def of(cls, model, data, y, settings):
        """That of a call with these settings; one that isn't known is told with the nearest that is."""
        known.names(settings, [name for name in inspect.signature(cls).parameters if name not in ("model", "data", "y")], "fit")
        return cls(model, data, y, **settings)

    def job(self, ranks):
        """The job and its arguments for that many ranks."""
        used = self._batch(ranks)
        batch_size = max(used, ranks)  # fewer samples than ranks are one batch, in which some ranks have nothing
        settings = dict(
            validation=self.validation,
            loss=self.loss,
            metrics=self.metrics,
            optimizer=self.optimizer,
            epochs=self.epochs,
            batch_size=batch_size,
            strategy=self.strategy,
            seed=self.seed,
            deterministic=self.deterministic,
            evaluate_first=self.evaluate_first,
            trace=self.trace,
            keep_gradients_every=self.keep_gradients_every,
            phases=self.phases,
            resume=self.resume,
            settings=self.describe(used),
        )
        return training, (self.model, self.rows, self.callbacks, settings)

    def _batch(self, ranks):
        return global_batch(len(self.rows), ranks, self.batch_size, self.batch_size_per_rank)

    def advise(self, ranks):
        """Say what is hardly meant, at the user's line."""
        batch = self._batch(ranks)
        found = advice(self.model, self.loss, batch, ranks)
        found += on_batches(len(self.rows), ranks, self.batch_size, self.batch_size_per_rank)
        found += on_inputs(self.rows.x, self.rows.scale) + on_pieces(self.strategy, batch, ranks)
        found += on_epochs(self.epochs, self.resume.epoch if self.resume else 0, self.evaluate_first)
        for text in found:
            warnings.warn(text, UserWarning, stacklevel=outside())

    def describe(self, batch_size):
        """What the run's first record says of it."""
        return {
            "model": _code(self.model),
            "parameters": sum(segment.size for segment in self.model.parameters.segments),
            "data": self.name,
            "samples": len(self.rows),
            "epochs": self.epochs,
            "batch_size": batch_size,
            "optimizer": repr(self.optimizer),
            "loss": getattr(self.loss, "__name__", repr(self.loss)),
            "strategy": repr(self.strategy),
            "seed": self.seed,
            "deterministic": self.deterministic,
            "dtype": self.model.dtype,
            "goes_on_after_steps": self.model.steps,
            "recipe": self.recipe,
        }


def training(comm, model, rows, callbacks, settings):
    """The job: `train`, with the callbacks on rank 0."""
    generator = train(comm, model, rows, **settings)
    return (yield from (with_callbacks(generator, callbacks, model) if comm.rank == 0 else generator))


def outside():
    """How many calls up the first line is that is not dtnn's own: the `stacklevel` of a warning, seen from the caller.

    >>> outside()
    1
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(FOLDER):
        frame, level = frame.f_back, level + 1
    return level


def _code(model):
    """The code that makes it, or what can be said of a model with layers of the user's own that don't tell."""
    try:
        return model.to_code()
    except (SyntaxError, ValueError):
        return repr(model)


def _to_resume(model):
    if model.training is None:
        raise ValueError(
            "resume=True, but this model has no training to go on with: it was never trained, or not to the end of an epoch. "
            "Load a file that was saved at the end of an epoch (dtnn.Save, dtnn.load), or begin anew with resume=False"
        )
    return model.training


def _validation(given, wanted):
    """What to evaluate after each epoch: what is asked for, else a Dataset's test rows, else nothing."""
    if wanted is False:
        return None
    if wanted is None:
        return getattr(given, "test", None)
    return samples(wanted, part="test", name="validation_data")
