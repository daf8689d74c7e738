"""Before the first step: everything is done once for show, so that no step's time contains compiling."""

import dataclasses
import threading
import time
from collections import deque
from contextlib import nullcontext
from functools import partial

from ..comm import Serial
from ..data import batches, shares
from ..kernels.cache import compiling
from ..machine import threads, threads_here
from ..nn.fingerprint_of import fingerprint_of
from ..optim import Progress
from ..records import Note
from .epoch import begin_epoch
from .evaluate import evaluate
from .not_finite import check_gradient
from .predict import BATCH

PERIOD = 0.1  # seconds between two looks at what is being compiled


def rehearse(replica, validation):
    """Compile what the epochs of a replica will need, and tell meanwhile; nothing is trained.

    Parameters
    ----------
    replica : Replica
    validation : Samples or None
        What will be evaluated.

    Yields
    ------
    Note
    """
    parameters, comm, hear = replica.parameters, replica.comm, replica.orders.hear
    stretch, replica.watch.stretch = replica.watch.stretch, None
    kept = {name: buffer.copy() for name, buffer in parameters.buffers.items()}
    begin_epoch(replica)
    parts = [(f"a step of {count} samples", partial(_step, replica, count)) for count in _counts(replica)]
    parts.append(("the update", partial(_update, replica)))
    if validation is not None:
        parts.append(("the evaluation", partial(_evaluation, replica, validation)))
    for name, part in parts:
        hear((yield Note(comm.rank, time.time(), f"preparing {name}")))
        replica.model.rehearsal = threading.Event()
        for told in preparing(partial(_leaving_no_traces, part, parameters, kept), replica.model.rehearsal):
            hear((yield Note(comm.rank, time.time(), f"preparing {name}: {told}")))
    hear((yield Note(comm.rank, time.time(), "waiting for all ranks to be prepared")))
    if stretch is not None:  # of a rank that is to compute slower (`Emulated`); compiling does not count
        replica.watch.stretch = stretch
        comm.rest()
    comm.Barrier()


def _leaving_no_traces(part, parameters, kept):
    """Do a part and put things back; all in its own thread, which may outlive an interrupt."""
    try:
        part()
    finally:
        parameters.grad[:] = 0
        for name, buffer in parameters.buffers.items():
            buffer[...] = kept[name]


def _counts(replica):
    """How many samples this rank will have at a time: a few numbers, and not zero."""
    whole, total = replica.batch_size, len(replica.data)
    sizes = {whole, total % whole or whole}
    counts = {replica.share(size)[1] for size in sizes}
    return sorted({size for count in counts for _, size in shares(count, replica.exchange.pieces)} - {0}, reverse=True)


def _step(replica, count):
    order = next(batches(len(replica.data), replica.batch_size, replica.seed, 1))
    replica.gradients(order[:count], 0, count, reduce=None)


def _update(replica):
    """A rate of 0 and gradients of 0 leave all weights as they are."""
    replica.parameters.grad[:] = 0
    check_gradient(0, replica.parameters)
    if replica.comm.size > 1:
        fingerprint_of(replica.parameters)
    if not dataclasses.is_dataclass(replica.optimizer):  # one of the user's own, in plain Python
        return
    still = dataclasses.replace(replica.optimizer, lr=0.0)
    still.update(replica.parameters, replica.optimizer.state(replica.parameters), Progress(step=1, epoch=0.0))


def _evaluation(replica, validation):
    """As many samples as this rank will evaluate at a time: another number may need other kernels."""
    comm, whole = replica.comm, BATCH * replica.comm.size
    sizes = {min(whole, len(validation)), len(validation) % whole}
    for count in sorted({shares(size, comm.size)[comm.rank][1] for size in sizes} - {0}):
        evaluate(Serial(), replica.model, validation[:count], loss=replica.loss, metrics=replica.metrics)


def preparing(work, over=None):
    """Do `work()` in a thread of its own, and tell which kernels it compiles.

    An interrupt ends the wait at once, though not the thread: who needs what it works on waits for `over`.

    Parameters
    ----------
    work : function
    over : threading.Event, optional
        Set when the work has ended.

    Yields
    ------
    str
        "compiling kernel 3 (conv_direct.product), the first time on this machine": once for each; none if all are on disk.

    Raises
    ------
    BaseException
        What `work` raises.

    Examples
    --------
    >>> list(preparing(lambda: None))
    []
    """
    started, raised = deque(), []
    over = threading.Event() if over is None else over
    count = threads_here()  # a new thread would begin with one

    def attended():
        try:
            with threads(count) if count > 1 else nullcontext(), compiling(lambda name, number: started.append((number, name))):
                work()
        except BaseException as error:
            raised.append(error)
        finally:
            over.set()

    threading.Thread(target=attended, name="dtnn rehearsal", daemon=True).start()
    while not over.is_set() or started:
        over.wait(PERIOD)
        while started:
            number, name = started.popleft()
            yield f"compiling kernel {number} ({name}), the first time on this machine"
    if raised:
        raise raised[0]
