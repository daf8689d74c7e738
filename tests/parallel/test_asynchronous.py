"""The asynchronous parameter server: nobody waits for a slow worker, and yet all end together, with one model."""

import functools
import time
from functools import partial

import numpy as np
import pytest

from dtnn import Model, inject, optim
from dtnn.comm import RankFailed, Serial, run_threads
from dtnn.nn import BatchNorm1d, Flatten, Layer, Linear
from dtnn.parallel import ParameterServer, in_sync
from dtnn.records import Epoch, Ledger, Paused, Step, Stop
from dtnn.training import NotFinite, train
from tests.comm.mpi_job import run_mpi
from tests.training.test_ranks_are_one_rank import ROWS, digits, distance, network, trained
from tests.training.test_train import rows

pytestmark = pytest.mark.undisturbed  # times are compared

RANKS = 3  # of the clusters here
ASYNC = ParameterServer(staleness=None)
OPTIMIZERS = [optim.SGD(0.05, momentum=0.9), optim.Adam(0.01), optim.LARS(0.5), optim.SGD(0.05, clip_norm=0.5)]


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=repr)
def test_one_worker_alone_gives_the_weights_of_one_rank(optimizer):
    start, (alone, records, _) = network().parameters.value, trained(Serial(), optimizer=optimizer)
    for weights, told, handed in run_threads(partial(trained, strategy=ASYNC, optimizer=optimizer), 2):
        assert distance(weights, alone, start) < 1e-10
        assert handed > 0
        losses = [[r.metrics["loss"] for r in kept if isinstance(r, Epoch)] for kept in (records, told)]
        np.testing.assert_allclose(*losses, rtol=1e-9)


@pytest.mark.parametrize("staleness", [1, 3])
def test_one_worker_alone_waits_for_nobody_however_it_is_bounded(staleness):
    start, (alone, _, _) = network().parameters.value, trained(Serial())
    for weights, _, _ in run_threads(partial(trained, strategy=ParameterServer(staleness)), 2):
        assert distance(weights, alone, start) < 1e-10


def check_it_learned(results, ranks):
    """One model on all ranks, which learned; each sample used once; the server told each step's loss."""
    assert len({weights.tobytes() for weights, _, _ in results}) == 1
    told = [[r.metrics["loss"] for r in records if isinstance(r, Epoch)] for _, records, _ in results]
    assert told[0][-1] < 0.8 * told[0][0]
    assert all(losses == told[0] for losses in told), "all ranks tell the server's loss of an epoch"
    samples = [sum(r.samples for r in records if isinstance(r, Ledger)) for _, records, _ in results]
    assert samples[0] == 0
    assert sum(samples) == ROWS * len(told[0])
    assert ranks == 2 or min(samples[1:]) > 0
    for _, records, _ in results:
        assert [r.step for r in records if isinstance(r, Step)] == list(range(1, 5 * len(told[0]) + 1))


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("strategy", [ASYNC, ParameterServer(1)], ids=repr)
def test_workers_together_learn(ranks, strategy):
    results = run_threads(partial(trained, strategy=strategy, batch_size=11, epochs=10), ranks)
    check_it_learned(results, ranks)


@pytest.mark.parametrize(("count", "updates"), [(8, 4), (9, 5), (10, 6)])
def test_a_worker_without_samples_makes_no_update(count, updates):
    """Batches of 4 for two workers: of a last batch of one sample the second worker has none."""

    def job(comm):
        model = Model(Linear(3), input_shape=(4,))
        list(train(comm, model, rows(count), optimizer=optim.Adam(0.01), batch_size=4, strategy=ASYNC))
        return model.training.state["step"]

    assert run_threads(job, 3)[0] == updates


@pytest.mark.limit(120)
def test_over_mpi():
    found = over_mpi()
    check_it_learned([one["trained"] for one in found], 3)
    check_it_learned([one["bounded"] for one in found], 3)
    assert [one["stopped"] for one in found] == [found[0]["stopped"]] * 3
    assert [one["failed"] for one in found] == ["the gradient of linear_1.bias"] * 3
    assert [one["gone"] for one in found] == ["rank 2 failed: on purpose"] * 2 + ["on purpose"]


@functools.cache
def over_mpi():
    return run_mpi(__file__, "train_all", 3, seconds=110)


def train_all(pool):
    found = {"trained": trained(pool.checkout(), strategy=ASYNC, batch_size=11, epochs=10)}
    found["bounded"] = trained(pool.checkout(), strategy=ParameterServer(1), batch_size=11, epochs=10)
    found["stopped"] = stopped_by(pool.checkout(), 1, ParameterServer(2))
    found["failed"] = not_finite(pool.checkout()).layer
    comm = pool.checkout()
    try:
        failing(comm)
    except (ValueError, RankFailed) as error:
        comm.fail(str(error))
        found["gone"] = str(error)
    return found


class Counting(Layer):
    """Notes when it is used; slow on one rank."""

    def __init__(self, comm, slow, seconds=0.02):
        self.comm, self.slow, self.seconds, self.times = comm, slow, seconds, []

    def forward(self, x, step=None):
        if self.comm.rank == self.slow:
            time.sleep(self.seconds)
        self.times.append(time.perf_counter())
        return x, lambda dy: dy


def test_nobody_waits_for_a_slow_worker_before_the_end_of_the_epoch():
    def job(comm):
        layer = Counting(comm, slow=2)
        model = Model(Flatten(), layer, Linear(3), input_shape=(4,))
        records = list(train(comm, model, rows(90), batch_size=3, strategy=ASYNC))
        waited = sum(record.wait for record in records if isinstance(record, Ledger))
        return layer.times[-30:], waited

    (_, server), (fast, _), (slow, _) = run_threads(job, 3)
    took = slow[-1] - slow[0]
    assert took > 29 * 0.02
    assert fast[-1] - fast[0] < 0.4 * took, "the fast worker has long made its 30 steps"
    assert server > 0.5 * took, "the server's time between gradients is a wait"


@pytest.mark.parametrize("staleness", [1, 2, 5])
def test_bounded_workers_are_never_more_than_so_many_steps_apart(staleness):
    """Each looks, when it begins a step, how many all have done; one of them is slow."""
    done, ahead = dict.fromkeys((1, 2, 3), 0), []

    class Noting(Layer):
        def __init__(self, rank):
            self.rank = rank

        def forward(self, x, step=None):
            if step.training and step.number:  # else it is a rehearsal
                ahead.append(step.number - 1 - min(done.values()))
                time.sleep(0.01 if self.rank == 3 else 0.001)
            return x, lambda dy: self.backward(dy, step.number)

        def backward(self, dy, number):
            done[self.rank] = number
            return dy

    def job(comm):
        model = Model(Linear(4), Noting(comm.rank), Linear(3), input_shape=(4,))
        records = list(train(comm, model, rows(160), batch_size=4, strategy=ParameterServer(staleness)))
        return [record.step for record in records if isinstance(record, Step)]

    assert run_threads(job, 4) == [list(range(1, 41))] * 4
    assert max(ahead) == staleness, "the bound is reached, and kept"


def bounded_times(staleness, steps=30, factor=5):
    """When each of three workers began its steps; the last computes so many times as long."""

    def job(comm):
        layer = Counting(comm, slow=3, seconds=0.004 * (factor - 1))
        model = Model(Flatten(), Always(), layer, Linear(3), input_shape=(4,))
        records = list(train(comm, model, rows(4 * steps), batch_size=4, strategy=ParameterServer(staleness)))
        return np.array(layer.times[-steps:]), sum(record.wait for record in records if isinstance(record, Ledger))

    return run_threads(job, 4)[1:]


class Always(Layer):
    """Takes some time, on every rank."""

    def forward(self, x, step=None):
        time.sleep(0.004)
        return x, lambda dy: dy


def test_a_straggler_slows_nobody_down_until_the_bound():
    (fast, waited), (other, _), (slow, own) = bounded_times(8)
    pace = np.median(np.diff(slow))
    for times in (fast, other):
        steps = np.diff(times)
        assert np.median(steps[:8]) < 0.6 * pace, "eight steps ahead are free"
        assert np.median(steps[12:20]) > 0.7 * pace, "then it goes as fast as the slowest"
    assert waited > 10 * (pace - 0.01), "which is a wait"
    assert own < 0.3 * waited


def test_a_bound_costs_a_rank_that_is_slow_now_and_then_less_than_lockstep():
    """Workers that take turns at being slow: together they wait at each step, bounded hardly ever."""

    class InTurn(Layer):
        def __init__(self, rank):
            self.rank, self.times = rank, []

        def forward(self, x, step=None):
            if step.training:
                time.sleep(0.03 if step.number % 3 == self.rank - 1 else 0.001)
                self.times.append(time.perf_counter())
            return x, lambda dy: dy

    def seconds(strategy):
        def job(comm):
            layer = InTurn(comm.rank)
            told = list(
                train(comm, Model(Flatten(), layer, Linear(3), input_shape=(4,)), rows(108), batch_size=4, strategy=strategy)
            )
            assert told
            return layer.times[-27:]

        return max(times[-1] - times[0] for times in run_threads(job, 4)[1:])

    assert seconds(ParameterServer(3)) < 0.7 * seconds(ParameterServer(0))


def stopped_by(comm, who, strategy=ASYNC):
    """Rank `who` wants to stop at its step 4: after which step all did, and whether they have one model."""
    model = Model(Flatten(), Counting(comm, slow=2, seconds=0.005), Linear(3), input_shape=(4,))
    running, command, steps = train(comm, model, rows(90), epochs=9, batch_size=3, strategy=strategy), None, 0
    try:
        while True:
            record = running.send(command)
            steps += isinstance(record, Step)
            command = Stop() if comm.rank == who and isinstance(record, Step) and record.step == 4 else None
    except StopIteration:
        in_sync(comm, model.parameters)
        return steps


@pytest.mark.parametrize("who", [0, 1, 2])
@pytest.mark.parametrize("strategy", [ASYNC, ParameterServer(2)], ids=repr)
def test_a_stop_is_agreed_on_for_a_step_that_nobody_has_come_to(who, strategy):
    found = run_threads(partial(stopped_by, who=who, strategy=strategy), 3)
    assert found == [found[0]] * 3
    assert 5 <= found[0] <= 31


class BadGradient(Layer):
    """Its backward is wrong on one rank in one step."""

    def __init__(self, here, step):
        self.here, self.step = here, step

    def forward(self, x, step=None):
        return x, lambda dy: dy * np.float32(np.nan if self.here and step.number == self.step else 1)


def not_finite(comm, step=3, strategy=ASYNC):
    layer, slow = BadGradient(comm.rank == 2, step), Counting(comm, 2, 0.01)
    model = Model(Linear(4), layer, slow, Linear(3), input_shape=(4,))
    with pytest.raises(NotFinite) as caught:
        list(train(comm, model, rows(60), epochs=5, batch_size=6, strategy=strategy))
    assert np.isfinite(model.parameters.value).all()
    return caught.value


@pytest.mark.parametrize("strategy", [ASYNC, ParameterServer(1)], ids=repr)
def test_losses_whose_sum_is_no_float32_any_more_end_on_no_rank_alone(strategy):
    """Each worker's is finite; the mean over the batch that a worker tells is not, nor is the server's sum."""

    def job(comm):
        model = Model(Linear(3), input_shape=(4,))
        return list(train(comm, model, rows(60), batch_size=6, strategy=strategy, loss=huge))

    for records in run_threads(job, 3):
        assert [record.step for record in records if isinstance(record, Step)] == list(range(1, 11))


def huge(outputs, targets, weight):
    return 2.5e38, np.zeros_like(outputs)


@pytest.mark.parametrize("step", [1, 3, 10, 13])  # 10 is the last of an epoch, when the others wait
@pytest.mark.parametrize("strategy", [ASYNC, ParameterServer(1)], ids=repr)
def test_a_gradient_that_is_not_finite_ends_all_and_is_named(step, strategy):
    for error in run_threads(partial(not_finite, step=step, strategy=strategy), 3):
        assert error.step == step
        assert error.layer in ("the gradient of linear_1.weight", "the gradient of linear_1.bias")


class Failing(Layer):
    def __init__(self, here):
        self.here = here

    def forward(self, x, step=None):
        if self.here and step.number == 3:
            raise ValueError("on purpose")
        return x, lambda dy: dy


def failing(comm):
    model = Model(Flatten(), Failing(comm.rank == 2), Linear(3), input_shape=(4,))
    list(train(comm, model, rows(60), epochs=5, batch_size=6, strategy=ASYNC))


def test_a_worker_that_fails_ends_all():
    with pytest.raises(ValueError, match="on purpose") as caught:
        run_threads(failing, 3)
    assert caught.value.rank == 2


def test_a_straggler_costs_the_asynchronous_server_less():
    def seconds(strategy):
        def job(comm):
            model = Model(Flatten(), Counting(comm, slow=None), Counting(comm, comm.rank, 0.004), Linear(3), input_shape=(4,))
            begin = time.perf_counter()
            told = list(train(inject.wrapped(comm, [{"slow": {2: 4.0}}]), model, rows(60), batch_size=4, strategy=strategy))
            assert told
            return begin, model.layers[1].times

        _, (_, fast), _ = run_threads(job, 3)
        return fast[-1] - fast[-15]

    assert seconds(ASYNC) < 0.6 * seconds(ParameterServer())


@pytest.mark.parametrize("strategy", [ASYNC, ParameterServer(1)], ids=repr)
def test_layers_that_reduce_within_a_step_are_refused(strategy):
    model = partial(Model, Flatten(), BatchNorm1d(sync=True), Linear(3), input_shape=(4,))
    with pytest.raises(ValueError, match=r"ParameterServer\(staleness=\w+\) .*batchnorm1d_1 \(sync=True\).*sync=False"):
        run_threads(lambda comm: list(train(comm, model(), rows(60), strategy=strategy)), 3)


def test_it_is_not_repeatable():
    assert "use staleness=0" in ASYNC.unrepeatable
    assert "use staleness=0, or exact=True" in ParameterServer(1).unrepeatable
    assert not ParameterServer(1, exact=True).unrepeatable


def test_a_training_goes_on_with_the_servers_state():
    def job(comm):
        whole, halves, settings = network(), network(), dict(optimizer=optim.Nadam(0.01), batch_size=16, strategy=ASYNC)
        list(train(comm, whole, digits(), epochs=4, **settings))
        list(train(comm, halves, digits(), epochs=2, **settings))
        list(train(comm, halves, digits(), epochs=4, resume=halves.training, **settings))
        return np.array_equal(whole.parameters.value, halves.parameters.value)

    assert all(run_threads(job, 2))  # one worker, whose gradients come in one order only


def started(cluster, **settings):
    """A long run that has made its first steps."""
    model, data = Model(Linear(8), Linear(3), input_shape=(4,)), rows(90)
    run = model.start(data.x, data.y, cluster=cluster, epochs=10**6, batch_size=9, strategy=ASYNC, **settings)
    next(record for record in run if isinstance(record, Step) and record.step >= 15)
    return run, model


def test_a_run_is_stopped_cleanly(cluster):
    run, model = started(cluster)
    run.stop()
    run.result(30)
    assert run.state == "stopped"
    assert model.steps == run.records.last(Step).step


def test_an_interrupted_run_leaves_the_ranks_free(cluster):
    run, _ = started(cluster)
    began = time.perf_counter()
    run.interrupt()
    run.wait(20)
    assert run.state == "interrupted"
    assert time.perf_counter() - began < 5
    assert cluster.run(lambda comm: comm.Allreduce(1)).result(20) == 3


def test_a_run_pauses_goes_on_and_takes_another_rate(cluster):
    run, _ = started(cluster, optimizer=optim.SGD(0.01))
    run.pause()
    paused = next(record for record in run if isinstance(record, Paused))
    run.step(3)
    again = next(record for record in run if isinstance(record, Paused) and record.step > paused.step)
    assert again.step == paused.step + 3
    run.set_lr(0.5)
    run.resume()
    next(record for record in run if isinstance(record, Step) and record.step > again.step + 5)
    run.stop()
    run.result(30)
    told = run.records.of(Step)
    assert [record.lr for record in told if record.step <= again.step] == [0.01] * again.step
    assert {record.lr for record in told if record.step > again.step + 1} == {0.5}
    assert [record.step for record in told] == list(range(1, len(told) + 1))
