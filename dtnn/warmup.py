"""`warmup`: compile now what trainings will need, so that nobody waits at a first step."""

import itertools
import time
from dataclasses import dataclass, replace

import numba
import numpy as np

from . import known, machine, optim, zoo
from .comm import Serial
from .data import Samples
from .kernels.cache import compiling, folder
from .model import Model
from .named import chosen
from .nn import Linear
from .training import predict, train

# Batches of both kinds of images that there are, each with the optimizer most people begin with.
USUAL = ((64, np.uint8, optim.SGD(0.0, momentum=0.9)), (32, np.float32, optim.Adam(0.0)))
REST = 10  # samples in a last, smaller batch
# Numbers of images that take kernels of their own: tiles go by vectors of 16 images, and few images are done in other ways. These
# stand for all batches up to 128, the last and smaller ones of an epoch, too, and for large ones.
COUNTS = (256, *range(128, 15, -16), 10, *range(7, 0, -1))


@dataclass(frozen=True)
class Warmup:
    """What `warmup` did.

    Parameters
    ----------
    kernels : tuple of str
        Those that were compiled; the others were on disk already.
    seconds : float
    folder : path
        Where they are.
    """

    kernels: tuple
    seconds: float
    folder: object

    def __str__(self):
        done = f"{len(self.kernels)} kernels compiled" if self.kernels else "all kernels were there already"
        return f"{done}: {self.seconds:.1f} s, in {self.folder}"


def warmup(*nets, threads=None, say=print):
    """Compile the kernels of networks of the zoo, for one thread and for several, and of every optimizer.

    Each network makes a few steps and an evaluation with images of 8 bits and of float32, and a step with each number of images
    that needs another kernel: batches of any size find theirs, the last and smaller one of an epoch, too.

    Parameters
    ----------
    *nets : str
        Names in `dtnn.zoo`; all of them, if there are none.
    threads : int, optional
        More than 1: also what kernels need that work on several threads, which is the same for any number of them. If left
        out, as many as each of two ranks would use on this machine.
    say : function of str
        Is told each network, and each kernel when it begins to be compiled.

    Returns
    -------
    Warmup

    Raises
    ------
    ValueError
        If the zoo has no such network; says which is near. If Numba can't use so many threads; says what can be done.
    RuntimeError
        If compiled kernels can't be kept; says why not.

    Examples
    --------
    >>> warmup("mlp", say=lambda text: None).folder.name[:8]
    'kernels-'
    """
    made, counts = [(name, chosen(zoo, name, "network")) for name in nets or zoo.__all__], _counts(threads)
    if folder() is None:
        raise RuntimeError("compiled kernels can't be kept on this machine; set DTNN_CACHE_DIR to a folder that can be written")
    start, kernels = time.perf_counter(), []

    def told(name, number):
        kernels.append(name)
        say(f"    kernel {number:3}  {name}")

    with compiling(told):
        for count in counts:
            with machine.threads(count):
                _all(made, say, "" if count == 1 else f", on {count} threads")
    return Warmup(tuple(kernels), time.perf_counter() - start, folder())


def _counts(threads):
    """The numbers of threads to compile for."""
    most = numba.config.NUMBA_NUM_THREADS
    if threads is None:
        return sorted({1, min(machine.threads_per_rank(2), most)})
    if known.whole("threads", threads, 1) > most:
        raise ValueError(
            f"threads={threads}: Numba uses {most} at most here, one for each core of this process; "
            f"set NUMBA_NUM_THREADS={threads} before Python starts, or ask for fewer"
        )
    return sorted({1, threads})


def _all(made, say, where):
    for name, make in made:
        say(name + where)
        _network(make)
    say(f"batches and optimizers{where}")
    _batches()
    _optimizers()


def _network(make):
    """A few steps, an evaluation and a prediction of one image; then a step and a prediction of each number of images."""
    for batch, dtype, optimizer in USUAL:
        model = make()
        rows = _rows(model, batch + REST, dtype)
        for _ in train(Serial(), model, rows, validation=rows, epochs=1, batch_size=batch, optimizer=optimizer):
            pass
        predict(model, rows[:1])
    for count in COUNTS:
        rows = _rows(model, count, np.float32)
        for _ in train(Serial(), model, rows, epochs=1, batch_size=count, optimizer=USUAL[0][2]):
            pass
        predict(model, rows)


def _rows(model, count, dtype):
    """So many black images, all of class 0."""
    return Samples(np.zeros((count, *model.input_shape), dtype), np.zeros(count, int))


def _batches():
    """Batches from arrays that may be written, and from those that may not, as data sets are."""
    for shape, dtype, writeable in itertools.product(((28, 28, 1), (32, 32, 3)), (np.uint8, np.float32), (True, False)):
        x = np.zeros((USUAL[0][0] + REST, *shape), dtype)
        x.flags.writeable = writeable
        for count in (len(x), USUAL[0][0], REST):
            Samples(x).gather_inputs(np.arange(count))


def _optimizers():
    """One update of each, with and without what makes it another kernel."""
    parameters = Model(Linear(1), input_shape=(1,)).parameters
    plain = [getattr(optim, name)() for name in optim.__all__]
    other = optim.SGD(momentum=0.9), optim.RMSProp(centered=True, momentum=0.9), replace(plain[0], clip_norm=1.0)
    for optimizer in (*plain, *other):
        optimizer.update(parameters, optimizer.state(parameters), optim.Progress(step=1, epoch=0.0))
