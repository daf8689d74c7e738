"""What is told of a step that is looked at closely, and how often that is."""

import itertools
import math
import time

import numpy as np
import pytest

from dtnn import Model
from dtnn.comm import Serial, run_threads
from dtnn.comm.collectives import ring
from dtnn.data import Samples
from dtnn.nn import BatchNorm1d, Layer, Linear, ReLU, Residual, Sequential
from dtnn.parallel import Accumulate, AllReduce, Compressed, LocalSGD, ParameterServer
from dtnn.records import Ledger, Step, Trace
from dtnn.training import train
from dtnn.training.ledger import Stopwatch
from dtnn.training.tracer import MOST, Tracer

pytestmark = pytest.mark.undisturbed  # times are compared


def rows(count=48):
    rng = np.random.default_rng(0)
    return Samples(rng.standard_normal((count, 4)).astype(np.float32), rng.integers(0, 3, count))


def network(*more):
    return Model(Linear(5), ReLU(), *more, Linear(3), input_shape=(4,))


def records_of(comm=None, model=None, **settings):
    return list(train(comm or Serial(), model or network(), rows(), batch_size=12, **{"trace": 1, **settings}))


def traces(records):
    return [record for record in records if isinstance(record, Trace)]


def test_a_trace_has_every_layer_forward_and_backward_and_the_loss():
    told = traces(records_of(model=network(Sequential(Linear(5)), Residual(Sequential(BatchNorm1d(), Linear(5))))))
    assert len(told) == 4
    layers = [(span.name, span.phase) for span in told[-1].spans if span.name != span.phase]
    names = ["linear_1", "linear_2", "batchnorm1d_1", "linear_3", "residual_1", "linear_4"]
    forward = [name.split(".")[-1] for name, phase in layers if phase == "forward"]
    backward = [name.split(".")[-1] for name, phase in layers if phase == "backward"]
    assert forward == [*names, "loss"]
    assert sorted(backward) == sorted(names)
    assert backward[0] == "linear_4"


@pytest.mark.parametrize("strategy", [AllReduce(), AllReduce("ring"), AllReduce(overlap=True), Accumulate(2), Compressed("int8")])
def test_phases_follow_each_other_and_make_the_step(strategy):
    for records in run_threads(lambda comm: records_of(comm, strategy=strategy), 2):
        for trace in traces(records):
            phases = [span for span in trace.spans if span.name == span.phase]
            assert sum(span.seconds for span in phases) == pytest.approx(trace.seconds, rel=0.03)
            for before, after in itertools.pairwise(phases):
                assert after.time == pytest.approx(before.time + before.seconds, abs=1e-5)
            names = [span.name for span in phases]
            assert names[:3] == ["data", "forward", "backward"]
            assert "update" in names


def test_layers_lie_within_their_phase():
    [records, _] = run_threads(lambda comm: records_of(comm, strategy=Accumulate(3)), 2)
    for trace in traces(records):
        phases = [span for span in trace.spans if span.name == span.phase]
        for span in trace.spans:
            if span.phase and span.name != span.phase:
                assert any(
                    phase.name == span.phase
                    and phase.time - 1e-9 <= span.time
                    and span.time + span.seconds <= phase.time + phase.seconds + 1e-9
                    for phase in phases
                ), span


def test_messages_of_an_algorithm_that_is_made_of_them_are_told():
    for rank, records in enumerate(run_threads(lambda comm: records_of(comm, strategy=AllReduce("ring")), 3)):
        trace = traces(records)[-1]
        assert [(sent.source, sent.dest) for sent in trace.messages] == [(rank, (rank + 1) % 3)] * 4
        assert [span.name for span in trace.spans if not span.phase] == [f"Recv from {(rank - 1) % 3}"] * 4
        assert all(0 <= sent.time <= trace.seconds for sent in trace.messages)


def test_a_function_of_ones_own_is_traced_like_the_others():
    def mine(comm, array):
        ring(comm, array)

    [records, _] = run_threads(lambda comm: records_of(comm, strategy=AllReduce(mine)), 2)
    assert len(traces(records)[-1].messages) == 2


@pytest.mark.parametrize("strategy", [LocalSGD(2), ParameterServer()])
def test_strategies_that_exchange_in_other_ways_are_traced(strategy):
    found = run_threads(lambda comm: traces(records_of(comm, strategy=strategy)), 3)
    assert [[trace.step for trace in told] for told in found] == [[1, 2, 3, 4]] * 3


def test_overlap_listens_to_the_same_steps():
    """The gradient is that of steps nobody looks at."""
    looked, not_looked = (
        run_threads(lambda comm: weights(comm, trace=trace), 2)[0]  # noqa: B023
        for trace in (1, False)
    )
    np.testing.assert_array_equal(looked, not_looked)


def weights(comm, trace):
    model = network()
    records_of(comm, model, trace=trace, strategy=AllReduce(overlap=True, bucket_bytes=64))
    return model.parameters.value.copy()


@pytest.mark.parametrize(("trace", "steps"), [(False, []), (None, []), (1, [1, 2, 3, 4]), (3, [3]), (4, [4])])
def test_every_nth_step_is_traced_on_all_ranks(trace, steps):
    found = run_threads(lambda comm: [told.step for told in traces(records_of(comm, trace=trace))], 2)
    assert found == [steps, steps]


def test_by_default_a_step_every_half_second_is_traced_the_same_on_all_ranks():
    class Slow(Layer):
        def forward(self, x, step=None):
            if step.training:
                time.sleep(0.05)
            return x, lambda dy: dy

    found = run_threads(lambda comm: records_of(comm, network(Slow()), trace=True, epochs=8), 2)
    steps = [[told.step for told in traces(records)] for records in found]
    assert steps[0] == steps[1]
    assert steps[0][0] == 2
    seconds = sum(record.seconds for record in found[0] if isinstance(record, Step))
    assert 2 <= len(steps[0]) <= seconds / 0.5 + 1


class Comm:
    rank, size = 0, 1


class Watch:
    now, mark, spans = 0.0, 0.0, None

    def clock(self):
        return self.now


def test_a_long_run_makes_few_traces():
    watch = Watch()
    tracer, count = Tracer(Comm(), Linear(1), watch), 0
    for step in range(1, 24 * 3600):
        watch.now = float(step)
        if tracer.wants(step, watch.now):
            tracer.next = True
            tracer.begin()
            tracer.end(step)
            count += 1
    assert 300 < count < 1000


def test_traces_of_every_nth_step_thin_out():
    watch = Watch()
    tracer, count = Tracer(Comm(), Linear(1), watch, trace=1), 0
    for step in range(1, 100_000):
        tracer.next = tracer.wants(step - 1, 0.0)
        tracer.begin()
        count += tracer.on
        if tracer.on:
            tracer.end(step)
    assert count < MOST * math.log2(100_000 / MOST) + 2 * MOST


def test_a_rank_slowed_on_purpose_says_so():
    watch = Stopwatch(0, stretch=lambda: time.sleep(0.002))
    watch.spans = []
    watch.lap("forward")
    assert [(name, phase) for name, phase, _, _ in watch.spans] == [("slowed down", "forward"), ("forward", "forward")]


@pytest.mark.parametrize("strategy", [AllReduce(), Accumulate(2)])
def test_the_ledger_adds_up_to_the_steps(strategy):
    """To 3 %; all phases are measured."""

    class Slow(Layer):
        def forward(self, x, step=None):
            time.sleep(0.01)

            def backward(dy):
                time.sleep(0.03)
                return dy

            return x, backward

    for records in run_threads(lambda comm: records_of(comm, network(Slow()), trace=True, strategy=strategy, epochs=2), 2):
        ledgers = [record for record in records if isinstance(record, Ledger)]
        parts = {phase: sum(getattr(ledger, phase) for ledger in ledgers) for phase in ("data", "forward", "backward")}
        every = sum(getattr(ledger, name) for ledger in ledgers for name in ("pack", "wait", "transfer", "update"))
        steps = sum(record.seconds for record in records if isinstance(record, Step))
        assert sum(parts.values()) + every == pytest.approx(steps, rel=0.03)
        assert parts["backward"] > 1.5 * parts["forward"]
        assert parts["data"] < 0.3 * parts["forward"]
