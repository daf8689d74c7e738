"""The user's object: a network with its weights, and what one does with it."""

import numpy as np

from . import evaluating, known, learnt, nn, readiness, running
from .absent import no_method
from .description import code
from .fitting import Fitting
from .input_shape import dtype_of, inner, input_shape_of
from .nn.check_weights import check_layers
from .reuse import fresh
from .training import Inference


class Model:
    """Layers in a row, built for one shape of input, with all weights in one flat vector.

    Parameters
    ----------
    *layers : Layer
        From `dtnn.nn`, or your own. Those of another model are copied with what they have learnt, so a trained
        network's first layers can begin a new one.
    input_shape : tuple of int
        Shape of one sample as you hand it over: ``(height, width, channels)`` of an image, ``(features,)`` of a row.
    seed : int
        Of the first weights.
    dtype : str
        "float32", or "float64" for proofs and gradient checks.

    Attributes
    ----------
    net : Sequential
        The layers, built.
    parameters : Parameters
        All weights in one flat vector, all gradients in another.
    steps : int
        Updates made so far.
    history : History or None
        Of the last `fit`.
    training : Checkpoint or None
        What `fit(resume=True)` goes on from.

    Raises
    ------
    ValueError
        If a layer doesn't fit the one before it; the message names the layer and both shapes.

    Examples
    --------
    >>> from dtnn import Model, data
    >>> from dtnn.nn import Flatten, Linear, ReLU
    >>> model = Model(Flatten(), Linear(32), ReLU(), Linear(10), input_shape=(28, 28, 1))
    >>> history = model.fit(data.mnist5k(), epochs=2, batch_size=100, show=False)
    >>> history.history["val_accuracy"][-1] > 0.5
    True
    """

    def __init__(self, *layers, input_shape=(28, 28, 1), seed=0, dtype="float32"):
        self.input_shape, self.seed, self.dtype = input_shape_of(input_shape), known.seed(seed), dtype_of(dtype)
        if not layers:
            raise ValueError("a model needs a layer, for example Model(Flatten(), Linear(10), input_shape=(28, 28, 1))")
        self.layers, give_back = fresh(layers)
        self.net = nn.Sequential(*self.layers)
        self.net.build(inner(self.input_shape), np.random.default_rng(seed))
        give_back()
        self.parameters = nn.Parameters(self.net, dtype=np.dtype(self.dtype))
        self.steps, self.training, self.history = 0, None, None
        self.rehearsal = self.run = None  # what may be at work on it
        self.inference = Inference()

    # ---- training

    def fit(self, data=None, y=None, *, cluster=None, show=True, **settings):
        """Train, show how it goes, and return the history; an interrupt ends it and keeps what there is.

        Parameters
        ----------
        data, y : Dataset, or inputs and targets
            `dtnn.data.Dataset`, ``(x, y)``, or ``x, y``; batch first. A Dataset's test rows are evaluated after each epoch.
        cluster : Cluster
            Where to train; None: here, on one rank.
        show : bool
            Whether to show progress: a live picture in a notebook, a bar in a terminal.
        epochs : int
            Passes over the data (1).
        batch_size : int
            Samples a step over all ranks (32); or `batch_size_per_rank`.
        optimizer : Optimizer or str
            ``SGD(0.01, momentum=0.9)``, or "sgd", "adam" ... with their defaults.
        loss : function or str
            ``cross_entropy``.
        metrics : sequence
            ``(accuracy,)`` where the targets are labels, else nothing.
        validation_data : Dataset or (x, y) or False
            What to evaluate after each epoch; False: nothing.
        callbacks : sequence of functions
            Called with each record on rank 0; may return `dtnn.Stop`, or another one of `dtnn.commands`: ``Rate(0.001)`` trains
            on with that learning rate. On a cluster that is another process: what they print shows here, what they change in
            variables stays there.
        strategy : Strategy
            How the replicas are kept together: `dtnn.parallel.AllReduce()` (the default), ``Sharded()``, ``LocalSGD(8)`` ...
        deterministic : bool
            Every run gives the same bits, on as many ranks with as many threads each: ranks add up in an order that is written
            down, see `dtnn.comm.Ordered`.
        evaluate_first : bool
            Begin with an epoch 0, the metrics before the first step. An epoch's loss is the mean over its steps, each told before
            its update; so a full batch's first loss is that of `evaluate` before training, and all losses lag the weights.
        trace : bool or int
            Which steps are looked at layer by layer and message by message, for ``history.timeline()`` and ``history.explain()``:
            True (the default): one every half second; n: every n-th; False: none.
        keep_gradients_every : int
            Of every n-th step, what the gradients of the ranks were like is among the records: see `dtnn.gradients` (0: never).
        phases : bool
            Tell a `dtnn.records.Phase` after each part of a step: forward, backward, reduce, update. For looking, not for speed;
            a run that pauses can be led through a step without it, too: ``run.step(phases=1)``.
        resume : bool
            Go on after a training that ended at the end of an epoch, or that of a model which was saved then (`dtnn.Save`), with
            its seed, bit by bit as if there had been no pause; `epochs` counts from the beginning.

        Returns
        -------
        History

        Raises
        ------
        ValueError, TypeError
            If the data don't fit the model, or a setting isn't known; before anything is trained.
        """
        known.flag("show", show)
        return running.fit(Fitting.of(self, data, y, settings), cluster, show)

    def start(self, data=None, y=None, *, cluster=None, **settings):
        """Like `fit`, but return the `Run` at once: the notebook stays free, and the run shows itself.

        When the run has ended, this model has the trained weights.
        """
        return running.start(Fitting.of(self, data, y, settings), cluster)

    evaluate, predict = evaluating.evaluate, evaluating.predict
    settle, refresh, check_free, suited = readiness.settle, readiness.refresh, readiness.check_free, readiness.suited
    takes_tokens = property(readiness.takes_tokens)

    # ---- looking at it

    def summary(self):
        """Layers, output shapes, parameters and bytes of gradient, as a table that prints."""
        return nn.summary(self.net)

    def to_code(self):
        """The Python code that makes this model (without its weights)."""
        check_layers(self.net)
        readiness.check_net(self)
        more = {} if self.dtype == "float32" else {"dtype": self.dtype}
        return code(self.layers, input_shape=self.input_shape, **more)

    def __getattr__(self, name):
        raise no_method(name)

    def __repr__(self):
        inner = ", ".join(map(repr, self.layers))
        return f"Model({inner}, input_shape={self.input_shape})"

    def __str__(self):
        return str(self.summary())

    def _repr_html_(self):
        return self.summary()._repr_html_()

    # ---- weights

    state_dict, load_state_dict = learnt.state_dict, learnt.load_state_dict
    __getstate__, __setstate__ = learnt.getstate, learnt.setstate

    def save(self, path):
        """Write the model as one ``.npz`` file without pickle: description, weights, buffers, and what is needed to resume.

        The file appears whole or not at all; an older one of that name is replaced.
        """
        from .model_file import save  # here, for it makes models

        save(self, path)
