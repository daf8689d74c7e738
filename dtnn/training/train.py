"""Data-parallel training as a generator: the same on one rank, on ranks as threads, and over MPI."""

import time

import numpy as np

from ..comm import Ordered
from ..commands import listed
from ..data import global_batch
from ..machine import describe
from ..nn.losses import cross_entropy
from ..nn.metrics import accuracy
from ..optim import SGD
from ..parallel import AllReduce, broadcast, check_in_step, check_repeatable, out_of_step
from ..records import Finish, Note, Place, Start
from .asked import check_sizes, check_train
from .epoch import run_epoch
from .epoch_zero import epoch_zero
from .microscope import trained_layers
from .rehearsal import rehearse
from .replica import Replica
from .snapshot import names
from .trained import Trained


def train(
    comm,
    model,
    data,
    *,
    validation=None,
    loss=cross_entropy,
    metrics=(accuracy,),
    optimizer=SGD(0.01, momentum=0.9),
    epochs=1,
    batch_size=32,
    strategy=AllReduce(),
    seed=0,
    deterministic=False,
    evaluate_first=False,
    resume=None,
    trace=True,
    keep_gradients_every=0,
    phases=False,
    settings=None,
):
    """Train `model` on the ranks of `comm`, data-parallel, and tell how it goes.

    Every rank runs this generator. All begin with rank 0's weights; in each step a rank computes the gradient of its
    share of the global batch, the gradients are summed, and every rank makes the same update. So P ranks give
    the weights of one rank, to rounding.

    Parameters
    ----------
    comm : Communicator
        This rank and its peers.
    model : Model
        Anything with a built network ``net`` and its ``parameters``; it is trained in place. Its ``steps`` count the
        updates, its ``training`` becomes the `Checkpoint` of the last epoch.
    data, validation : Samples
        What to train on, and what to evaluate after each epoch (None: nothing).
    loss : function
        ``(outputs, targets, weight) -> (sum of losses, gradient)``, see `dtnn.nn.losses`.
    metrics : sequence of metrics
        See `dtnn.nn.metrics`.
    optimizer : Optimizer
        See `dtnn.optim`.
    epochs : int
        Passes over the data, those before `resume` included.
    batch_size : int
        Samples a step **over all ranks**; at least one a rank.
    strategy : Strategy
        How the replicas are kept together, see `dtnn.parallel`.
    seed : int
        Of the order of the samples and of dropout; rank 0's is used.
    deterministic : bool
        Every run gives the same bits, on as many ranks with as many threads each: whatever ranks add up, they do it in an order
        that is written down (`dtnn.comm.Ordered`), not left to the MPI library.
    evaluate_first : bool
        Also tell an `Epoch` 0: the metrics before the first step.
    resume : Checkpoint, optional
        Go on after that epoch, bit by bit as if there had been no pause.
    trace : bool or int
        Which steps are looked at layer by layer and message by message, a `Trace` of each rank for each: True: one every half
        second, ever more seldom in a long run; n: every n-th; False: none.
    keep_gradients_every : int
        Of every n-th step the gradients of all ranks are told (`Gradients`, `GradientValues`, see `dtnn.gradients`); 0: of none.
    phases : bool
        Tell a `Phase` of all ranks after each part of a step (forward, backward, reduce, update), which a pause can then follow.
        For looking, not for speed: nothing overlaps. The weights are the same, bit by bit.
    settings : dict
        Plain values that the `Start` record should also say.

    Yields
    ------
    Place, Start, Note, Clock, Step, Phase, Ledger, Trace, Gradients, GradientValues, Weights, Paused, Resumed, Share, Epoch,
    Finish
        See `dtnn.records`. A `Stop` sent into the generator ends the training of all ranks after the same step, other
        commands (`dtnn.commands`) make it pause, or change the learning rate; while it pauses, rank 0 yields None. So does
        leaving the loop at a record that all ranks get (not with `BatchNorm2d`: running statistics are made one by a `Stop`).

    Returns
    -------
    Trained or None
        On rank 0, a dict: the trained parameters and buffers by name as "weights", the "training" to go on from, and "steps".

    Raises
    ------
    TypeError
        An argument is nothing of its kind; says what to give.
    ValueError
        A batch smaller than the number of ranks; another optimizer than the one to resume; `deterministic` with a strategy that
        can't be; `phases` with one whose ranks don't take their steps together.
    OutOfSync
        On all ranks, when replicas that should be equal are not: they are compared after some early steps, every hundredth, and
        every epoch. Names the ranks and the first parameter that differs.
    NotFinite
        On all ranks at the same step, when the loss is no finite number any more.

    Examples
    --------
    >>> import dtnn
    >>> from dtnn.records import Step
    >>> model, digits = dtnn.zoo.mlp(), dtnn.data.mnist5k()
    >>> records = list(train(dtnn.comm.Serial(), model, digits.train, batch_size=1000))
    >>> len([record.loss for record in records if isinstance(record, Step)])
    4
    """
    check_train(comm, model, data, validation, loss, metrics, optimizer, strategy)
    check_sizes(epochs, seed, deterministic, evaluate_first, trace, keep_gradients_every)
    batch_size = global_batch(len(data), comm.size, batch_size)
    if deterministic:
        check_repeatable(strategy)
        comm = Ordered(comm)
    check_in_step(strategy, phases)
    told = listed((yield Place(comm.rank, describe())))
    faults = {"injected": list(comm.faults)} if getattr(comm, "faults", ()) else {}
    layers = {
        "layers": list(trained_layers(model.parameters)),
        "weights": names(model.parameters),
        "out_of_step": out_of_step(strategy),
    }
    told += listed((yield Start(time.time(), comm.size, {**(settings or {}), **layers, **faults})))
    for text in faults.get("injected", ()):
        told += listed((yield Note(0, time.time(), f"injected: {text}")))
    seed = int(comm.Bcast(np.array([seed], np.int64))[0])
    broadcast(comm, model.parameters)
    sizes = batch_size, strategy, seed, trace, keep_gradients_every, phases
    replica = Replica(comm, model, data, loss, metrics, optimizer, *sizes)
    replica.orders.hear(told)
    done, known = replica.resume(resume) if resume else (0, "")
    if known:
        replica.orders.hear((yield Note(0, time.time(), known)))
    model.training = resume  # until an epoch begins there is still that to go on from
    yield from rehearse(replica, data if evaluate_first and validation is None else validation)
    replica.orders.hear((yield replica.arrivals.align()))
    if evaluate_first:
        yield from epoch_zero(replica, done, epochs, validation)
        epochs = done if replica.orders.stop else epochs
    for epoch in range(done + 1, epochs + 1):
        yield from run_epoch(replica, epoch, epochs, validation)
        if replica.orders.stop:
            break
    stop = replica.orders.stop
    yield Finish("stopped" if stop else "done", time.time(), stop.text if stop else "")
    if comm.rank == 0:
        return Trained(weights=model.parameters.state(), training=model.training, steps=model.steps)
    return None
