"""Cases of optimizers in a whole training."""

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import run_threads
from dtnn.data import Samples
from dtnn.nn import BatchNorm2d, Conv2d, Dropout, Flatten, Linear, ReLU
from dtnn.parallel import AllReduce
from dtnn.training import train

RATE = np.sqrt(0.5) * 0.01  # an np.float64, which NumPy 2 lets win over float32
RATES = {
    "number": RATE,
    "warm_up": optim.warm_up(optim.cosine(RATE), epochs=1),
    "step": optim.step(RATE, epochs=(1,)),
    "every_n_epochs": optim.every_n_epochs(RATE, n=1),
    "poly": optim.poly(RATE),
    "one_cycle": optim.one_cycle(RATE),
    "plateau": optim.plateau(RATE, metric="loss", patience=0),
    "own": lambda progress: RATE / (1 + np.float64(progress.epoch)),
}


def images():
    rng = np.random.default_rng(0)
    return Samples(rng.random((32, 6, 6, 1), np.float32), rng.integers(0, 3, 32))


def network(dtype="float32"):
    layers = Conv2d(4, 3), BatchNorm2d(), ReLU(), Flatten(), Dropout(0.2), Linear(3)
    return Model(*layers, input_shape=(6, 6, 1), dtype=dtype)


@pytest.mark.parametrize("make", [getattr(optim, name) for name in optim.__all__])
@pytest.mark.parametrize("rate", RATES)
def test_case_72_float32_stays_float32(make, rate):
    """More than 10 steps on 2 ranks: weights, gradients, statistics, the optimizer's vectors, messages."""
    messages = set()

    def noted(comm, array):
        messages.add(array.dtype.name)
        comm.Allreduce(array)

    def job(comm):
        model = network()
        start = model.parameters.value.copy()
        optimizer = make(RATES[rate], weight_decay=np.float64(0.01), clip_norm=np.float64(1.0))
        for _ in train(comm, model, images(), optimizer=optimizer, strategy=AllReduce(noted), epochs=3, batch_size=10):
            pass
        return model, start

    for model, start in run_threads(job, 2):
        vectors = [value for value in model.training.state.values() if np.size(value) > 1]
        arrays = [model.parameters.value, model.parameters.grad, *model.parameters.buffers.values(), *vectors]
        assert {array.dtype.name for array in arrays} == messages == {"float32"}
        assert model.steps == 12
        assert np.abs(model.parameters.value - start).max() > 0
        assert model.predict(images().x).dtype == np.float32


@pytest.mark.parametrize("make", [getattr(optim, name) for name in optim.__all__])
def test_two_trainings_with_the_same_seed_have_the_same_bits(make):
    def weights(comm):
        model = network()
        for _ in train(comm, model, images(), optimizer=make(0.01), epochs=2, batch_size=10):
            pass
        return model.parameters.value.tobytes()

    for ranks in (1, 3):
        first, second = run_threads(weights, ranks), run_threads(weights, ranks)
        assert first == second
        assert len(set(first)) == 1
