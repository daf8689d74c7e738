"""Where replicas may differ, ranks seldom hear of each other: nothing is sent in between, all is told later, nothing is lost."""

import math
import time
from functools import partial

import numpy as np
import pytest

from dtnn import Model, inject, optim
from dtnn.comm import Serial, run_threads
from dtnn.comm.emulated import Emulated
from dtnn.comm.traced import Traced
from dtnn.nn import BatchNorm1d, Layer, Linear, ReLU, cross_entropy
from dtnn.parallel import AllReduce, Gossip, LocalSGD
from dtnn.records import Epoch, Gradients, Ledger, Message, Span, Step, Stop, Trace
from dtnn.training import NotFinite, train
from tests.training.test_train import rows

SELDOM = [LocalSGD(8), LocalSGD(3), LocalSGD(100), Gossip("ring"), Gossip("exponential")]
seldom = pytest.mark.parametrize("strategy", SELDOM, ids=repr)


def network(*extra, **settings):
    return Model(Linear(5), ReLU(), *extra, Linear(3), input_shape=(4,), **settings)


def records_of(comm, strategy, model=None, steps=40, **settings):
    """Of one epoch of so many steps."""
    settings = {"batch_size": 6, "optimizer": optim.SGD(0.05, momentum=0.9), **settings}
    return list(train(comm, model or network(), rows(6 * steps), strategy=strategy, **settings))


def exchanged(records):
    """What each traced step sent, waited for or took part in."""
    traces = [record for record in records if isinstance(record, Trace)]
    return [len(trace.messages) + sum(not span.phase for span in trace.spans) for trace in traces]


# ---- what is sent


@pytest.mark.parametrize("ranks", [2, 3])
def test_seven_of_eight_steps_send_nothing_and_the_eighth_is_one_reduction(ranks):
    found = run_threads(lambda comm: exchanged(records_of(comm, LocalSGD(8), trace=1)), ranks)
    assert found == [([0] * 7 + [1]) * 5] * ranks


def test_nothing_at_all_is_sent_in_a_quiet_step():
    """Not by what is not traced either: the communicator itself was not called."""

    def job(comm):
        noting, seen = Traced(comm), []
        for record in train(noting, network(), rows(6 * 24), batch_size=6, strategy=LocalSGD(8), trace=1):
            if isinstance(record, Trace):
                seen.append(len(noting.notes))
        return np.diff(seen).tolist()

    for counts in run_threads(job, 3):
        assert counts == ([0] * 6 + [1] + [0]) * 2 + [0] * 6 + [1]


def test_seldom_averages_hear_of_each_other_now_and_then():
    found = run_threads(lambda comm: exchanged(records_of(comm, LocalSGD(100), trace=1)), 2)
    assert found == [[0] * 31 + [1] + [0] * 7 + [1]] * 2, "after 32 steps, and at the end of the epoch"


@pytest.mark.parametrize(("topology", "neighbours"), [("ring", 2), ("exponential", 1)])
def test_gossip_talks_to_neighbours_alone_in_seven_of_eight_steps(topology, neighbours):
    for records in run_threads(lambda comm: records_of(comm, Gossip(topology), trace=1, steps=24), 4):
        traces = [record for record in records if isinstance(record, Trace)]
        assert [len(trace.messages) for trace in traces] == [neighbours] * 24
        together = [sum(span.name == "Allreduce" for span in trace.spans) for trace in traces]
        assert together == ([0] * 7 + [1]) * 3


@pytest.mark.parametrize("strategy", [LocalSGD(1), Gossip("complete")], ids=repr)
def test_weights_and_what_all_must_know_travel_in_one_reduction(strategy):
    assert run_threads(lambda comm: exchanged(records_of(comm, strategy, trace=1, steps=9)), 3) == [[1] * 9] * 3


def test_what_is_averaged_is_one_reduction_with_any_optimizer():
    for optimizer in (optim.Adam(0.01), optim.RMSProp(0.01, momentum=0.9), optim.SGD(0.1)):
        found = run_threads(lambda comm: exchanged(records_of(comm, LocalSGD(4), trace=1, steps=8, optimizer=optimizer)), 3)  # noqa: B023
        assert found == [[0, 0, 0, 1] * 2] * 3


def test_post_local_all_reduces_each_step_at_first():
    found = run_threads(lambda comm: exchanged(records_of(comm, LocalSGD(4, after=1), trace=1, steps=8, epochs=2)), 2)
    assert found == [[1] * 8 + [0, 0, 0, 1] * 2] * 2


def test_post_local_steps_tell_no_gradient_of_another_step():
    def job(comm):
        return [record for record in records_of(comm, LocalSGD(8, after=1), steps=12, epochs=2) if isinstance(record, Step)]

    for steps in run_threads(job, 2):
        assert [math.isfinite(step.gradient) for step in steps] == [True] * 12 + [False] * 12


def communication(strategy, ranks=4, steps=16, latency=0.01):
    """Seconds of communication of a step, on a link with such a latency, the mean over the ranks."""

    def job(comm):
        slow, seconds, count = Emulated(comm, latency=latency), 0.0, 0
        for record in records_of(slow, strategy, steps=steps, trace=False):
            if isinstance(record, Ledger):
                seconds, count = seconds + record.wait + record.transfer, count + record.steps
        assert count == steps
        return seconds / count

    return np.mean(run_threads(job, ranks))


@pytest.mark.undisturbed
def test_on_a_link_with_latency_local_steps_save_time():
    every, local, ring = (communication(strategy) for strategy in (AllReduce(), LocalSGD(8), Gossip("ring")))
    print(f"communication a step: AllReduce {1e3 * every:.1f} ms, LocalSGD(8) {1e3 * local:.1f} ms, Gossip {1e3 * ring:.1f} ms")
    assert every > 0.04
    assert local < every / 4
    assert ring < 0.75 * every


@pytest.mark.undisturbed
def test_a_rank_waits_for_a_slow_one_once_in_eight_steps():
    class Slow(Layer):
        def __init__(self, comm):
            self.comm, self.times = comm, []

        def forward(self, x, step=None):
            if step.training:
                time.sleep(0.01 if self.comm.rank == 1 else 0)
                self.times.append(time.perf_counter())
            return x, lambda dy: dy

    def job(comm):
        layer = Slow(comm)
        return records_of(comm, LocalSGD(8), network(layer), steps=16), layer.times[-16:]

    (records, times), _ = run_threads(job, 2)
    pauses = np.diff(times)
    assert np.sum(pauses > 0.03) == 1, "in the eighth it waits for all that the other is behind"
    assert sum(record.wait for record in records if isinstance(record, Ledger)) > 0.1


@pytest.mark.undisturbed
def test_the_wait_for_a_slow_neighbour_is_a_wait():
    def job(comm):
        return records_of(inject.wrapped(comm, [{"slow": {1: 3.0}}]), Gossip("ring"), network(Sleeps()), steps=16)

    waits = [sum(r.wait for r in records if isinstance(r, Ledger)) for records in run_threads(job, 3)]
    assert waits[1] < 0.5 * min(waits[0], waits[2])
    assert min(waits[0], waits[2]) > 0.05


class Sleeps(Layer):
    def forward(self, x, step=None):
        if step.training:
            time.sleep(0.003)
        return x, lambda dy: dy


# ---- what is told


@seldom
def test_every_step_is_told_with_the_loss_of_all_ranks(strategy):
    """That loss is the mean of what the ranks lost by themselves."""

    def job(comm):
        own = []

        def loss(outputs, targets, weight):
            value, delta = cross_entropy(outputs, targets, weight)
            own.append(float(value))
            return value, delta

        records = records_of(comm, strategy, network(dtype="float64"), loss=loss, metrics=(), batch_size=9, steps=41, epochs=2)
        return own[-2 * 28 :], [record for record in records if isinstance(record, Step)], records

    results = run_threads(job, 3)
    steps = results[0][1]
    assert [step.step for step in steps] == list(range(1, 57))
    assert [step.epoch for step in steps] == [1] * 28 + [2] * 28
    whole = np.sum([own for own, _, _ in results], 0)
    np.testing.assert_allclose([step.loss * step.samples for step in steps], whole, rtol=1e-12)
    for _, others, _ in results:
        assert [step.loss for step in others] == [step.loss for step in steps]
    for number in (1, 2):
        losses = [step.loss * step.samples for step in steps if step.epoch == number]
        [epoch] = [r for r in results[0][2] if isinstance(r, Epoch) and r.epoch == number]
        assert epoch.metrics["loss"] == pytest.approx(sum(losses) / 246, rel=1e-12)


def test_steps_are_told_in_bundles():
    def job(comm):
        told, model = [], network()
        for record in train(comm, model, rows(60), batch_size=6, strategy=LocalSGD(4)):
            if isinstance(record, Step):
                told.append((record.step, model.steps))
        return told

    expected = [(step, 4 if step <= 4 else 8 if step <= 8 else 10) for step in range(1, 11)]
    assert run_threads(job, 2) == [expected] * 2
    assert job(Serial()) == [(step, step) for step in range(1, 11)], "alone there is nobody to wait for"


@seldom
def test_gradients_that_are_kept_are_told_of_their_step(strategy):
    records = run_threads(lambda comm: records_of(comm, strategy, keep_gradients_every=5, steps=20), 2)[0]
    assert [record.step for record in records if isinstance(record, Gradients)] == [5, 10, 15, 20]
    assert all(math.isfinite(record.local) and record.local > 0 for record in records if isinstance(record, Gradients))


def test_what_is_looked_at_changes_no_weight():
    def job(comm):
        values = []
        for more in ({}, {"keep_gradients_every": 3}, {"trace": 1}, {"phases": True}):
            model = network()
            records_of(comm, LocalSGD(4), model, **more)
            values.append(model.parameters.value.tobytes())
        return len(set(values))

    assert run_threads(job, 2) == [1, 1]


def test_by_default_a_quiet_step_is_traced_and_the_next_in_which_ranks_meet():
    for records in run_threads(lambda comm: records_of(comm, LocalSGD(8), network(Sleeps()), steps=48), 2):
        traces = [record for record in records if isinstance(record, Trace)]
        assert [trace.step % 8 for trace in traces[:2]] == [1, 0]
        assert exchanged(traces[:2]) == [0, 1]


# ---- what all do together


@seldom
@pytest.mark.parametrize("who", [0, 1])
def test_a_stop_is_heard_at_the_next_meeting(strategy, who):
    def job(comm):
        model, command, steps = network(), None, 0
        running = train(comm, model, rows(6 * 100), batch_size=6, strategy=strategy)
        try:
            while True:
                record = running.send(command)
                steps += isinstance(record, Step)
                command = Stop() if comm.rank == who and isinstance(record, Step) and record.step == 2 else None
        except StopIteration:
            return steps, model.steps, model.parameters.value.tobytes()

    results = run_threads(job, 3)
    assert len(set(results)) == 1
    distance = {LocalSGD(3): 3, LocalSGD(100): 32}.get(strategy, 8)
    assert results[0][:2] == (2 * distance, 2 * distance)


class Bad(Layer):
    """From a step on the gradient is not finite on one rank, or the output."""

    def __init__(self, here, step, forward):
        self.here, self.step, self.there = here, step, forward

    def forward(self, x, step=None):
        bad = np.float32(np.nan if self.here and step.number >= self.step else 1)
        return (x * bad, lambda dy: dy) if self.there else (x, lambda dy: dy * bad)


@seldom
@pytest.mark.parametrize(("forward", "words"), [(True, "the output of bad_1"), (False, "the gradient of linear_1.")])
@pytest.mark.parametrize("step", [1, 5, 8, 30])
def test_what_is_not_finite_is_named_with_the_step_in_which_it_was(strategy, forward, words, step):
    def job(comm):
        model = network(Bad(comm.rank == 2, step, forward))
        told = train(comm, model, rows(240), batch_size=6, strategy=strategy, optimizer=optim.SGD(0.05))
        records = []
        with pytest.raises(NotFinite, match=rf"^step {step} left .*first in {words}") as caught:
            records.extend(told)
        assert [record.step for record in records if isinstance(record, Step)] == list(range(1, step)), "those before it are told"
        assert np.isfinite(model.parameters.value).all()
        return caught.value, model.parameters.value.copy()

    results = run_threads(job, 3)
    local = isinstance(strategy, LocalSGD)
    for error, value in results:
        assert (error.step, error.apart) == (step, not local)
        assert step == 1 or ("make the model anew" in str(error)) == (not local)
        assert not local or np.array_equal(value, results[0][1]), "those of the last average"


@pytest.mark.parametrize(("strategy", "last"), [(LocalSGD(4), 8), (Gossip("complete"), 10)], ids=repr)
@pytest.mark.parametrize("phases", [False, True])
def test_after_a_failure_the_weights_are_those_of_the_last_average(strategy, last, phases):
    def job(comm):
        kept = {}
        model = network(Bad(comm.rank == 1, 11, False))
        told = train(comm, model, rows(240), batch_size=6, strategy=strategy, optimizer=optim.Adam(0.01), phases=phases)
        with pytest.raises(NotFinite, match="have the weights of their last average") as caught:
            kept.update((record.step, model.parameters.value.copy()) for record in told if isinstance(record, Step))
        assert not caught.value.apart
        return np.array_equal(model.parameters.value, kept[last]), list(kept)

    assert run_threads(job, 2) == [(True, list(range(1, 11)))] * 2


@pytest.mark.parametrize("phases", [False, True])
@pytest.mark.parametrize(
    ("strategy", "bad", "last"),
    [
        (LocalSGD(4), 11, 8), (LocalSGD(100), 110, 100), (LocalSGD(100), 50, 0), (LocalSGD(5, after=1), 130, 125),
        (LocalSGD(5, after=2), 130, 129), (Gossip("complete"), 11, 10),
    ],
    ids=repr,
)  # fmt: skip
def test_after_a_failure_weights_statistics_and_the_count_of_steps_are_of_one_moment(strategy, bad, last, phases):
    """Also where ranks have met since the last average, or are led step by step; epochs are of 120 steps."""

    def job(comm):
        model = network(BatchNorm1d(), Bad(comm.rank == 1, bad, False))
        kept = {0: moment(model)}
        told = train(comm, model, rows(720), batch_size=6, strategy=strategy, optimizer=optim.SGD(0.01), phases=phases, epochs=2)
        with pytest.raises(NotFinite, match=f"^step {bad} left"):
            kept.update((record.step, moment(model)) for record in told if isinstance(record, Step))
        return moment(model), kept[last], last

    for found, right, steps in run_threads(job, 2):
        assert found == right
        assert found[0] == steps


def moment(model):
    """All that a training moves."""
    parameters = model.parameters
    return model.steps, parameters.value.tobytes(), {name: array.tobytes() for name, array in parameters.buffers.items()}


@pytest.mark.parametrize("topology", ["ring", "exponential"])
def test_statistics_of_ranks_that_stay_apart_are_those_before_what_their_weights_have_not_learnt(topology):
    def job(comm):
        bad = Bad(comm.rank == 1, 11, False)
        net = BatchNorm1d(), bad
        model, seen = network(*net), {}
        statistics = model.parameters.buffers["batchnorm1d_1.running_mean"]
        bad.forward = noting(bad.forward, lambda step: seen.setdefault(step, statistics.copy()))
        with pytest.raises(NotFinite, match=r"^step 11 left"):
            records_of(comm, Gossip(topology), model)
        return statistics.copy(), seen[10 if comm.rank == 1 else 15]

    for found, right in run_threads(job, 3):
        np.testing.assert_array_equal(found, right)


def noting(forward, note):
    def noted(x, step=None):
        if step is not None:
            note(step.number)
        return forward(x, step)

    return noted


def test_the_first_of_two_failures_is_told():
    def job(comm):
        with pytest.raises(NotFinite, match=r"^step 3 left .*first in the output of bad_1"):
            records_of(comm, LocalSGD(8), network(Bad(comm.rank == 1, 3, True), Bad(comm.rank == 0, 5, False)))
        return True

    assert run_threads(job, 2) == [True, True]


def test_layers_that_reduce_within_a_step_are_told_of_each():
    def job(comm):
        model = network(BatchNorm1d(sync=True), Bad(comm.rank == 1, 3, False))
        with pytest.raises(NotFinite, match=r"^step 3 left .*first in the gradient of batchnorm1d_1"):
            records_of(comm, LocalSGD(8), model)
        return True

    assert run_threads(job, 2) == [True, True]


@pytest.mark.parametrize("optimizer", [optim.Adam(0.01), optim.SGD(0.05, momentum=0.9)], ids=repr)
def test_counts_of_ranks_that_had_no_samples_become_the_largest(optimizer):
    """Of 7 samples in batches of 3, the last batch has one: two of three ranks make an update less."""

    def job(comm):
        model = network()
        list(train(comm, model, rows(7), batch_size=3, strategy=LocalSGD(5), optimizer=optimizer, epochs=2))
        return {name: np.asarray(value).tolist() for name, value in model.training.state.items()}

    states = run_threads(job, 3)
    assert states[0] == states[1] == states[2]
    assert "step" not in states[0] or states[0]["step"] == 6


def test_messages_are_what_they_are_called():
    """What is counted above exists: a step of all-reduce by a ring shows its messages."""
    from dtnn.comm.collectives import ring

    records = run_threads(partial(records_of, strategy=AllReduce(ring), trace=1, steps=2), 2)[0]
    last = [record for record in records if isinstance(record, Trace)][-1]
    assert all(isinstance(message, Message) for message in last.messages)
    assert any(isinstance(span, Span) and not span.phase for span in last.spans)
    assert len(last.messages) >= 2
