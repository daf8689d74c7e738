"""Cases of the meaning of data-parallel training: one body over 1, 2 and 4 ranks, as threads and over MPI."""

import functools
import time
import traceback

import numpy as np
import pytest

import dtnn
from dtnn import Cluster, Model, optim
from dtnn.comm import Mismatch, Serial, collectives, run_threads
from dtnn.data import Samples
from dtnn.nn import Dropout, Layer, Linear, ReLU, Reshape, metrics, mse
from dtnn.parallel import AllReduce, in_sync
from dtnn.records import Epoch, Note, Start, Step, Stop
from dtnn.training import NotFinite, evaluate, train
from tests.comm.mpi_job import run_mpi, why_no_mpi
from tests.training.test_ranks_are_one_rank import distance


def rows(count, seed=0):
    rng = np.random.default_rng(seed)
    return Samples(rng.standard_normal((count, 6)).astype(np.float32), rng.integers(0, 4, count))


def network(*extra, seed=0, dtype="float32"):
    return Model(Linear(8), ReLU(), *extra, Linear(4), input_shape=(6,), seed=seed, dtype=dtype)


def steps_of(records):
    return [record for record in records if isinstance(record, Step)]


def case_24_reduces_in_place(comm):
    for dtype in ("f4", "f8", "i8"):
        array = np.arange(5, dtype=dtype) + np.array(comm.rank, dtype)
        memory = array.__array_interface__["data"]
        assert comm.Allreduce(array) is array
        assert array.__array_interface__["data"] == memory
        np.testing.assert_array_equal(array, comm.size * np.arange(5) + comm.size * (comm.size - 1) // 2)
        comm.Iallreduce(array).Wait()
        assert array.__array_interface__["data"] == memory
        assert array[0] == comm.size * (comm.size * (comm.size - 1) // 2)


def case_27_swapped_layers_are_named_within_5_seconds(comm):
    if comm.size == 1:
        return
    layers = [Linear(8), Linear(6)] if comm.rank != 1 else [Linear(6), Linear(8)]
    model, begin = Model(*layers, Linear(4), input_shape=(6,)), time.perf_counter()
    with pytest.raises(Mismatch) as caught:
        list(train(comm, model, rows(16), batch_size=8))
    assert time.perf_counter() - begin < 5
    assert "rank 1: linear_1.weight float32 (6, 6)" in str(caught.value)
    assert "linear_1.weight float32 (8, 6)" in str(caught.value)
    assert "in the same order on every rank" in str(caught.value)


def case_28_replicas_are_equal_after_100_steps(comm):
    for name in collectives.ALGORITHMS:
        model = network()
        running = train(comm, model, rows(100), epochs=10, batch_size=10, strategy=AllReduce(name), optimizer=optim.Adam(0.01))
        assert len(steps_of(running)) == 100
        in_sync(comm, model.parameters)


def case_32_ten_samples_on_four_ranks(comm):
    """Two a rank: the last batch has 10 - 8 = 2, on 4 ranks."""
    used = []

    class Noting(Samples):
        def gather(self, indices, *args, **kwargs):
            used.extend(indices.tolist())
            return super().gather(indices, *args, **kwargs)

    data, steps = rows(10), 0
    for record in train(comm, network(), Noting(data.x, data.y), epochs=3, batch_size=2 * comm.size):
        if isinstance(record, Note):
            used.clear()  # what was only used to prepare
        steps += isinstance(record, Step)
    assert steps == 3 * -(-10 // (2 * comm.size))
    counts = comm.Allreduce(np.bincount(used, minlength=10))
    np.testing.assert_array_equal(counts, np.full(10, 3))


def case_33_unequal_shares(comm):
    """The loss mean((w x)^2), w = 1, x = 1 .. 5: the gradient is 22, and not 25.1667."""
    model = Model(Linear(1, bias=False), input_shape=(1,), dtype="float64")
    model.layers[0].weight.value[...] = 1
    data = Samples(np.arange(1.0, 6, dtype=np.float32)[:, None], np.zeros(5, np.float32))
    list(train(comm, model, data, loss=mse, metrics=(), optimizer=optim.SGD(0.5), batch_size=5))
    assert (1 - float(model.layers[0].weight.value[0, 0])) / 0.5 == pytest.approx(22.0, rel=1e-12)


def case_36_a_last_batch_of_2_is_exact(comm):
    model, alone = network(dtype="float64"), network(dtype="float64")
    start = model.parameters.value.copy()
    for trained, where in ((model, comm), (alone, Serial())):
        list(train(where, trained, rows(10), epochs=3, batch_size=8, optimizer=optim.SGD(0.1, momentum=0.9)))
    assert distance(model.parameters.value, alone.parameters.value, start) < 1e-12


def case_38_dropout_masks_differ_and_repeat(comm):
    """Each rank's mask is its part of the one that a single rank would draw."""

    def masks(where, seed):
        seen = []

        class Seeing(Layer):
            def forward(self, x, step=None):
                seen.append(x != 0)
                return x, lambda dy: dy

        model = Model(Dropout(0.5), Seeing(), Linear(2), input_shape=(50,))
        ones = Samples(np.ones((8, 50), np.float32), np.zeros(8, int))
        for record in train(where, model, ones, batch_size=8, seed=seed, epochs=1):
            if isinstance(record, Note):
                seen.clear()
        in_sync(where, model.parameters)
        return seen[0]

    own, alone = masks(comm, 3), masks(Serial(), 3)
    first = comm.rank * 8 // comm.size
    np.testing.assert_array_equal(own, alone[:, first : first + 8 // comm.size])
    np.testing.assert_array_equal(own, masks(comm, 3))
    assert (masks(comm, 4) != own).any()
    everyone = comm.Gather(own.astype(np.uint8))
    if comm.rank == 0:
        assert len({mask.tobytes() for mask in everyone}) == comm.size


def case_39_all_start_from_rank_0(comm):
    model = network(seed=comm.rank)
    for record in train(comm, model, rows(16), batch_size=8):
        if isinstance(record, Note) and "waiting for all" in record.text:  # before step 1
            break
    in_sync(comm, model.parameters)
    np.testing.assert_array_equal(model.parameters.value, network(seed=0).parameters.value)


def case_40_ranks_times_8_are_one_rank_with_all(comm):
    """No hidden scaling of the rate: SGD, 10 steps; what is asked for is said."""
    start, settings = network().parameters.value.copy(), dict(epochs=10, batch_size=8 * comm.size)
    together, alone, scaled = network(), network(), network()
    list(train(comm, together, rows(8 * comm.size), optimizer=optim.SGD(0.1), **settings))
    list(train(Serial(), alone, rows(8 * comm.size), optimizer=optim.SGD(0.1), **settings))
    assert distance(together.parameters.value, alone.parameters.value, start) < 1e-5
    rate = optim.scaled(optim.constant(0.1), 4)
    told = steps_of(train(comm, scaled, rows(8 * comm.size), optimizer=optim.SGD(rate), **settings))
    assert {step.lr for step in told} == {0.4}
    assert distance(scaled.parameters.value, alone.parameters.value, start) > 0.1


def case_41_and_43_means_are_of_samples(comm):
    def itself(outputs, targets, weight=None):
        return float(outputs.sum(dtype=np.float64)), np.zeros_like(outputs)

    for values, mean, batch in ((range(9), 4.0, 9), ([1] * 9, 1.0, 4)):
        data = Samples(np.array(values, np.float32)[:, None], np.zeros(len(values), int))
        model = Model(Reshape((1,)), input_shape=(1,))
        told = list(train(comm, model, data, loss=itself, metrics=(), batch_size=batch))
        assert next(record for record in told if isinstance(record, Epoch)).metrics["loss"] == mean
        assert evaluate(comm, model, data, loss=itself, metrics=(), batch_size=batch)["loss"] == mean
    model, kinds = network(), (metrics.precision, metrics.recall)
    assert evaluate(comm, model, rows(9), metrics=kinds, batch_size=9) == pytest.approx(
        evaluate(Serial(), model, rows(9), metrics=kinds), rel=1e-12
    )


class Infinite(Layer):
    """On one rank, in step 3."""

    def __init__(self, here):
        self.here = here

    def forward(self, x, step=None):
        return x * np.float32(np.nan if self.here and step.number == 3 else 1), lambda dy: dy


def case_45_what_stops_one_rank_stops_all(comm):
    """A loss that is not finite on the last rank, and a stop that only it was given: after the same step."""
    last, model = comm.rank == comm.size - 1, network(Infinite(comm.rank == comm.size - 1))
    with pytest.raises(NotFinite, match=r"step 3 .*infinite_1"):
        list(train(comm, model, rows(40), epochs=9, batch_size=8))
    assert model.steps == 2
    running, command, steps = train(comm, network(), rows(40), epochs=9, batch_size=8), None, 0
    try:
        while True:
            record = running.send(command)
            steps += isinstance(record, Step)
            command = Stop() if last and isinstance(record, Step) and record.step == 3 else None
    except StopIteration:
        pass
    assert comm.Allreduce(steps, "max") == comm.Allreduce(steps, "min") == 4


CHECKS = [thing for name, thing in list(globals().items()) if name.startswith("case_")]
checks = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


@checks
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_threads(check, ranks):
    run_threads(check, ranks)


@pytest.mark.limit(120)
@checks
@pytest.mark.parametrize("ranks", [2, 4])
def test_mpi(check, ranks):
    for rank, found in enumerate(over_mpi(ranks)):
        assert found[check.__name__] == "right", f"rank {rank}: {found[check.__name__]}"


@functools.cache
def over_mpi(ranks):
    return run_mpi(__file__, "run_all", ranks, seconds=110)


def run_all(pool):
    return {check.__name__: outcome(check, pool.checkout()) for check in CHECKS}


def outcome(check, comm):
    try:
        check(comm)
        return "right"
    except Exception:
        return traceback.format_exc()


def test_case_28_with_three_ranks():
    run_threads(case_28_replicas_are_equal_after_100_steps, 3)


def test_case_40_the_summary_of_a_run_says_how_the_rate_is_scaled():
    """The first record of a run has the optimizer as the call that made it."""
    data = rows(16)
    settings = dict(optimizer=optim.SGD(optim.scaled(optim.cosine(0.1), 4)), batch_size=8, show=False)
    history = network().fit(data.x, data.y, **settings)
    assert history.records.last(Start).settings["optimizer"] == "SGD(lr=times(cosine(0.1), 4))"


def saves_again_and_again(comm, path):
    """All ranks write, and read, the same file, 20 times."""
    model = network()
    for _ in range(20):
        model.save(path)
        np.testing.assert_array_equal(dtnn.load(path).parameters.value, model.parameters.value)
    return True


@pytest.mark.undisturbed
def test_case_47_ranks_that_write_one_file(tmp_path):
    path = tmp_path / "model.npz"
    assert run_threads(saves_again_and_again, 4, path) == [True] * 4
    assert all(run_mpi(__file__, "saves_over_mpi", 4, str(path)))
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"], "nothing is left behind"


def saves_over_mpi(pool, path):
    return saves_again_and_again(pool.checkout(), path)


@pytest.mark.parametrize("launcher", ["threads", "mpi"])
def test_case_47_a_checkpoint_each_epoch(tmp_path, launcher):
    """On 4 ranks, 20 epochs: rank 0's process alone writes, and each file can be loaded."""
    if launcher == "mpi" and why_no_mpi():
        pytest.skip(why_no_mpi())
    data, path = rows(16), tmp_path / "model.npz"

    def loads(record):
        if isinstance(record, Epoch):
            assert dtnn.load(path).training.epoch == record.epoch

    with Cluster(4, launcher=launcher, on_wait=False) as cluster:
        settings = dict(epochs=20, batch_size=8, callbacks=[dtnn.Save(path), loads], show=False)
        assert network().fit(data.x, data.y, cluster=cluster, **settings).epoch == list(range(1, 21))
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
