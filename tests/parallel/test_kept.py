"""What ranks keep each for itself is part of a checkpoint, in memory, through a cluster and in a file."""

from functools import partial

import numpy as np
import pytest

import dtnn
from dtnn import Cluster
from dtnn.comm import run_threads
from dtnn.nn import Flatten, Linear
from dtnn.optim import SGD
from dtnn.parallel import AllReduce, Compressed
from dtnn.parallel.kept import gathered, given_back
from dtnn.records import Epoch, Note, Stop
from dtnn.training import train
from tests.comm.mpi_job import run_mpi, why_no_mpi
from tests.training.test_ranks_are_one_rank import digits, network

TOP = Compressed("top_k", keep=0.05)


def halves(comm, kind="top_k"):
    """Whether two epochs and two more are four, bit by bit; and how much was kept in between."""
    whole, paused, settings = network(), network(), dict(batch_size=16, strategy=Compressed(kind, keep=0.05))
    list(train(comm, whole, digits(), epochs=4, **settings))
    list(train(comm, paused, digits(), epochs=2, **settings))
    kept = paused.training.kept["residual"]
    list(train(comm, paused, digits(), epochs=4, resume=paused.training, **settings))
    return np.array_equal(whole.parameters.value, paused.parameters.value), kept.shape[0], float(np.abs(kept).max())


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("kind", ["top_k", "int8", "fp16", "sign"])
def test_a_training_goes_on_as_if_there_had_been_no_pause(kind, ranks):
    for rank, (same, rows, largest) in enumerate(run_threads(partial(halves, kind=kind), ranks)):
        assert same
        assert rows == (ranks if rank == 0 else 1)
        assert largest > 0, "something was kept"


def test_over_mpi():
    assert all(same for same, _, _ in run_mpi(__file__, "halves_there", 2))


def halves_there(pool):
    return halves(pool.checkout())


def images():
    shown = dtnn.data.mnist5k()
    return shown.x_train[::40][:100], shown.y_train[::40][:100]


def fresh():
    return dtnn.Model(Flatten(), Linear(16), Linear(10), input_shape=(28, 28, 1))


def fitted(model, cluster, epochs, strategy=TOP, **settings):
    settings = dict(batch_size=20, optimizer=SGD(0.1), strategy=strategy, show=False) | settings
    return model.fit(*images(), cluster=cluster, epochs=epochs, **settings)


@pytest.mark.parametrize("launcher", ["threads", "mpi"])
def test_through_a_file_and_a_cluster(tmp_path, launcher):
    """Case 48, for compressed gradients on two ranks."""
    if launcher == "mpi" and why_no_mpi():
        pytest.skip(why_no_mpi())

    def stop_after_two(record):
        return Stop() if isinstance(record, Epoch) and record.epoch == 2 else None

    with Cluster(2, launcher=launcher, on_wait=False) as cluster:
        through = fresh()
        fitted(through, cluster, 4)
        fitted(fresh(), cluster, 4, callbacks=[dtnn.Save(tmp_path / "paused.npz"), stop_after_two])
        paused = dtnn.load(tmp_path / "paused.npz")
        assert paused.training.kept["residual"].shape == (2, paused.parameters.trainable)
        history = fitted(paused, cluster, 4, resume=True)
        assert history.epoch == [3, 4]
        np.testing.assert_array_equal(paused.parameters.value, through.parameters.value)
        forgetful = dtnn.load(tmp_path / "paused.npz")
        forgetful.training.kept.clear()
        fitted(forgetful, cluster, 4, resume=True)
        assert (forgetful.parameters.value != through.parameters.value).any(), "the comparison sees a difference"


def test_another_number_of_ranks_goes_on_with_the_sum():
    model, kept = fresh(), {}
    with Cluster(3, launcher="threads", on_wait=False) as cluster:
        fitted(model, cluster, 1)
        kept = model.training.kept["residual"]
    with Cluster(2, launcher="threads", on_wait=False) as cluster:
        told = fitted(model, cluster, 2, resume=True).records.of(Note)
    words = "residual was kept by 3 ranks, now there are 2: rank 0 goes on with the sum of all"
    assert words in [note.text for note in told]
    assert model.training.kept["residual"].shape == (2, kept.shape[1])

    def job(comm):
        own = {"residual": np.ones(kept.shape[1], np.float32)}
        given_back(comm, {"residual": kept}, own)
        return own["residual"]

    for ranks in (1, 2, 4):
        first, *others = run_threads(job, ranks)
        np.testing.assert_allclose(first, kept.sum(0), rtol=1e-6)
        assert not np.any(others)


def test_another_strategy_has_no_use_for_it_and_says_so():
    model = fresh()
    fitted(model, None, 1)
    told = fitted(model, None, 2, strategy=AllReduce(), resume=True).records.of(Note)
    assert any("what was kept to be sent later (residual, on 1 ranks) is dropped" in note.text for note in told)
    assert not model.training.kept


def test_another_length_is_refused():
    def job(comm):
        kept = gathered(comm, {"residual": np.zeros(5)})
        with pytest.raises(ValueError, match=r"residual.* shape \(5,\).* have \(6,\).*resume=False"):
            given_back(comm, kept, {"residual": np.zeros(6)})

    run_threads(job, 2)
