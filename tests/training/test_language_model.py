"""A loss for each token: a causal transformer learns which token comes next."""

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.data import Samples
from dtnn.nn import Embedding, Linear, Positions, TransformerEncoderBlock
from dtnn.training import train

VOCABULARY, LENGTH = 7, 6


def sequences(count=64):
    """Each token is the one before, plus a step that the first two tell."""
    rng = np.random.default_rng(0)
    first, step = rng.integers(0, VOCABULARY, (2, count))
    whole = (first[:, None] + step[:, None] * np.arange(LENGTH + 1)) % VOCABULARY
    return whole[:, :-1], whole[:, 1:]


def network(dtype="float32"):
    block = TransformerEncoderBlock(2, causal=True)
    return Model(Embedding(VOCABULARY, 16), Positions(), block, Linear(VOCABULARY), input_shape=(LENGTH,), dtype=dtype, seed=0)


def test_it_learns():
    model, (x, y) = network(), sequences()
    history = model.fit(
        x, y, validation_data=(x, y), epochs=60, batch_size=16, optimizer=optim.Adam(0.01), metrics=["accuracy"], show=False
    )
    assert history.history["loss"][0] == pytest.approx(np.log(VOCABULARY), rel=0.7)  # a mean over tokens, not a sum
    found = history.history["val_accuracy"][-1]
    assert found > 0.8  # of the first two of six tokens nobody can tell the next
    outputs = model.predict(x)
    assert outputs.shape == (len(x), LENGTH, VOCABULARY)
    assert (outputs.argmax(2) == y).mean() == pytest.approx(found)
    told = model.evaluate(x, y, metrics=["accuracy"])
    assert told["accuracy"] == pytest.approx(found)


def test_a_token_does_not_see_what_comes():
    model, (x, y) = network(), sequences()
    model.fit(x, y, batch_size=16, show=False)
    changed = x.copy()
    changed[:, 4] = (changed[:, 4] + 1) % VOCABULARY
    before, after = model.net(x.T.astype(np.int32)), model.net(changed.T.astype(np.int32))
    np.testing.assert_array_equal(before[:, :4], after[:, :4])
    assert not np.array_equal(before[:, 4:], after[:, 4:])


def test_ranks_give_what_one_rank_gives():
    x, y = sequences(26)

    def job(comm):
        model = network("float64")
        start = model.parameters.value.copy()
        list(train(comm, model, Samples(x, y), batch_size=8, epochs=2))
        return model.parameters.value, start

    alone, start = job(Serial())
    for weights, _ in run_threads(job, 3):
        assert np.linalg.norm(weights - alone) <= 1e-10 * np.linalg.norm(alone - start)


def test_labels_that_do_not_fit_are_told():
    x, y = sequences()
    with pytest.raises(ValueError, match=r"label 7 of token 2 of sample \d+ is none of the model's 7 outputs"):
        network().fit(x, np.where(np.arange(LENGTH) == 2, VOCABULARY, y), show=False)
    with pytest.raises(ValueError, match=r"targets have shape \(\d+,\).* give a label for each token"):
        network().fit(x, y[:, 0], show=False)
