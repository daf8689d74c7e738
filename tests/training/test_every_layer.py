"""P ranks give the weights of one rank, for every layer, optimizer and loss of the package: the promise, thing by thing.

On 2, 3 and 8 threads, and over MPI on 2 ranks; the other numbers up to 8, and to 4 over MPI, are slow tests.
"""

from functools import cache, partial

import numpy as np
import pytest

from dtnn import Model, nn, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples
from dtnn.nn import BatchNorm2d, Conv2d, Dropout, Embedding, Flatten, Layer, Linear, MaxPool2d, ReLU, Sigmoid
from dtnn.records import Step
from dtnn.training import train
from tests.comm.mpi_job import run_mpi

IMAGES, ROWS, TOKENS, SEQUENCES = "images", "rows", "tokens", "sequences"

# what it stands on, and the layer; images are (2, 6, 5), rows (6,), sequences (4, 5) behind an Embedding
LAYERS = [
    (IMAGES, "ReLU()"),
    (IMAGES, "LeakyReLU(0.2)"),
    (IMAGES, "ELU(1.5)"),
    (IMAGES, "GELU()"),
    (ROWS, "SiLU()"),
    (ROWS, "Sigmoid()"),
    (ROWS, "Tanh()"),
    (ROWS, "Arctanh()"),
    (ROWS, "Log()"),
    (ROWS, "Softmax()"),
    (ROWS, "LogSoftmax()"),
    (IMAGES, "Dropout(0.3)"),
    (IMAGES, "Flatten()"),
    (IMAGES, "Reshape((4, 15))"),
    (ROWS, "Linear(4)"),
    (SEQUENCES, "Linear(4)"),
    (IMAGES, "Conv2d(4, 3, padding=1)"),
    (IMAGES, "Conv2d(4, 3, stride=2, dilation=2, padding=2, groups=2)"),
    (IMAGES, "Conv2d(4, 3, algorithm='im2col')"),
    (IMAGES, "Conv2d(4, 3, algorithm='winograd')"),
    (IMAGES, "MaxPool2d(3, 2, 1)"),
    (IMAGES, "AvgPool2d(2, ceil_mode=True)"),
    (IMAGES, "AdaptiveAvgPool2d((2, 3))"),
    (IMAGES, "GlobalAvgPool2d()"),
    (ROWS, "BatchNorm1d(sync=True)"),
    (SEQUENCES, "BatchNorm1d(sync=True)"),
    (IMAGES, "BatchNorm2d(sync=True)"),
    (SEQUENCES, "LayerNorm()"),
    (TOKENS, "Embedding(9, 4)"),
    (SEQUENCES, "Positions()"),
    (SEQUENCES, "MultiHeadAttention(2)"),
    (SEQUENCES, "MultiHeadAttention(2, causal=True)"),
    (SEQUENCES, "TransformerEncoderBlock(2, hidden=6, dropout=0.3)"),
    (ROWS, "Sequential(Linear(5), ReLU())"),
    (IMAGES, "Residual(Sequential(Conv2d(2, 3, padding=1, bias=False), BatchNorm2d(sync=True)))"),
    (IMAGES, "Residual(Conv2d(4, 3, stride=2, padding=1), Conv2d(4, 1, stride=2))"),
    (IMAGES, "Concatenate(Sequential(), Conv2d(2, 3, padding=1))"),
]
OPTIMIZERS = [
    optim.SGD(0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    optim.SGD(0.1, clip_norm=0.5),
    optim.Adam(0.01, clip_norm=0.5),
    optim.AdamW(optim.warm_up(optim.cosine(0.01), epochs=1)),
    optim.Nadam(optim.one_cycle(0.01)),
    optim.RMSProp(optim.poly(0.01), centered=True, momentum=0.5),
    optim.Adagrad(optim.step(0.05, epochs=(1,))),
    optim.LARS(optim.every_n_epochs(5.0, n=1), weight_decay=0.1),
    optim.LAMB(optim.plateau(0.01, metric="loss", patience=0), weight_decay=0.1),
]
LOSSES = [nn.cross_entropy, nn.CrossEntropy(0.1), nn.hinge, nn.binary_cross_entropy, nn.mse, nn.mae, nn.huber, nn.Huber(0.3)]
ROWS_IN_ALL, BATCH = 34, 8  # the last batch has 2 samples: on 3 ranks one share is empty; 10 steps in 2 epochs


def samples(ground):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, ROWS_IN_ALL)
    if ground in (TOKENS, SEQUENCES):
        return Samples(rng.integers(0, 9, (ROWS_IN_ALL, 5)).astype(np.int32), labels)
    return Samples(rng.standard_normal((ROWS_IN_ALL, *((6, 5, 2) if ground == IMAGES else (6,)))).astype(np.float32), labels)


def network(ground, call, seed=0):
    """The layer between others that are trained: so its dx counts, too."""
    before = {IMAGES: [Conv2d(2, 1)], ROWS: [Linear(6)], TOKENS: [], SEQUENCES: [Embedding(9, 4)]}[ground]
    if call in ("Log()", "Arctanh()"):
        before.append(Sigmoid())
    return Model(
        *before, eval(call, vars(nn)), Flatten(), Linear(3), input_shape=samples(ground).input_shape, dtype="float64", seed=seed
    )


def one_hot(rows):
    """For losses of labels that is the same, and for losses of numbers it is three of them."""
    return rows.replaced(y=np.eye(3, dtype=np.float32)[rows.y])


def trained(comm, ground, make, optimizer, loss=nn.cross_entropy):
    """The weights after 10 steps, the losses, the bytes handed in."""
    model = make(seed=comm.rank)  # those of rank 0 must win
    rows = samples(ground) if loss is nn.cross_entropy else one_hot(samples(ground))
    running = train(comm, model, rows, loss=loss, metrics=(), optimizer=optimizer, epochs=2, batch_size=BATCH)
    losses = [record.loss for record in running if isinstance(record, Step)]
    return model.parameters.value.copy(), losses, getattr(comm, "bytes", 0)


@cache
def alone(ground, make, optimizer, loss):
    return trained(Serial(), ground, make, optimizer, loss)


def check(ground, make, optimizer, ranks, loss=nn.cross_entropy, together=None):
    """Compare what ranks have trained, `together`, or else on threads, with one rank."""
    start, (one, losses, _) = make(seed=0).parameters.value, alone(ground, make, optimizer, loss)
    moved = np.linalg.norm(one - start)
    assert len(losses) == 10
    assert moved > 1e-2
    together = together or run_threads(trained, ranks, ground, make, optimizer, loss)
    for weights, told, handed_in in together:
        assert np.linalg.norm(weights - one) <= 1e-10 * moved
        assert (handed_in > 0) == (ranks > 1)
        np.testing.assert_allclose(told, losses, rtol=1e-9)
    assert len({weights.tobytes() for weights, _, _ in together}) == 1, "replicas differ"


MOMENTUM = optim.SGD(0.05, momentum=0.9)
RANKS = pytest.mark.parametrize("ranks", [2, 3, 8, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (1, 4, 5, 6, 7))])
MADE = {(ground, call): partial(network, ground, call) for ground, call in LAYERS}


def test_every_layer_and_optimizer_is_here():
    kinds = {name for name in nn.__all__ if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), Layer)}
    assert {call.partition("(")[0] for _, call in LAYERS} == kinds - {"Layer"}
    assert {type(optimizer).__name__ for optimizer in OPTIMIZERS} == set(optim.__all__)


@RANKS
@pytest.mark.parametrize(("ground", "call"), LAYERS)
def test_layers(ground, call, ranks):
    check(ground, MADE[ground, call], MOMENTUM, ranks)


def small(seed):
    layers = Conv2d(3, 3, bias=False), BatchNorm2d(sync=True), ReLU(), MaxPool2d(2), Flatten(), Dropout(0.3), Linear(3)
    return Model(*layers, input_shape=(6, 5, 2), dtype="float64", seed=seed)


@RANKS
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=repr)
def test_optimizers(optimizer, ranks):
    check(IMAGES, small, optimizer, ranks)


@RANKS
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: getattr(loss, "__name__", repr(loss)))
def test_losses(loss, ranks):
    check(IMAGES, small, MOMENTUM, ranks, loss)


def everything():
    """All of the above: (ground, model, optimizer, loss)."""
    yield from ((ground, make, MOMENTUM, nn.cross_entropy) for (ground, _), make in MADE.items())
    yield from ((IMAGES, small, optimizer, nn.cross_entropy) for optimizer in OPTIMIZERS)
    yield from ((IMAGES, small, MOMENTUM, loss) for loss in LOSSES)


@pytest.mark.limit(200)
@pytest.mark.parametrize("ranks", [2, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (1, 3, 4))])
def test_everything_over_mpi(ranks):
    """In processes of their own, one training after the other."""
    results = run_mpi(__file__, "train_everything", ranks, seconds=190)
    for what, *together in zip(everything(), *results, strict=True):
        ground, make, optimizer, loss = what
        check(ground, make, optimizer, ranks, loss, together)


def train_everything(pool):
    comm, found = pool.checkout(), []
    for what in everything():
        before = comm.bytes
        weights, losses, handed_in = trained(comm, *what)
        found.append((weights, losses, handed_in - before))
    return found


def test_the_check_sees_a_layer_that_breaks_the_promise():
    """Statistics of a rank alone, as usual in the field, are not those of one rank."""
    with pytest.raises(AssertionError):
        check(IMAGES, partial(network, IMAGES, "BatchNorm2d()"), optim.SGD(0.05), 2)
