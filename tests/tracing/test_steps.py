"""Steps on one clock, their critical path, who waited for whom, what layers cost."""

import itertools

import pytest

from dtnn.records import Span, Trace
from dtnn.tracing import critical_path, layer_costs, traced_steps, waits
from dtnn.tracing.path import last_to_arrive
from tests.tracing.made import DATA, MS, TRANSFER, UPDATE, run_of


def only(**made):
    [step] = traced_steps(run_of(steps=(10,), **made))
    return step


def test_steps_are_found_with_all_ranks_in_order():
    steps = traced_steps(run_of(ranks=3, steps=(20, 10, 30)))
    assert [step.step for step in steps] == [10, 20, 30]
    assert all(step.ranks == [0, 1, 2] == step.aligned for step in steps)


def test_no_records_no_steps():
    assert traced_steps([]) == []


def test_spans_of_all_ranks_are_on_one_clock():
    step = only(ranks=3, offsets={1: 5.0, 2: -11.56}, uncertainties={1: 1e-5, 2: 3e-5})
    for rank in range(3):
        assert step.start(rank) == pytest.approx(0.0, abs=1e-9)
        assert step.phases(rank)[0].time == pytest.approx(0.0, abs=1e-9)
    assert step.uncertainty == 3e-5


def test_a_rank_that_began_later_begins_later():
    trace = Trace(0, 1, 5.0, 1.0, [], [], 0.0), Trace(1, 1, 5.25, 1.0, [], [], 0.0)
    clocks = run_of(ranks=2, steps=())
    [step] = traced_steps([*clocks, *trace])
    assert (step.start(0), step.start(1), step.seconds) == (0.0, 0.25, 1.25)


@pytest.mark.parametrize("late", [0, 1, 2])
def test_the_critical_path_is_that_of_the_rank_that_comes_last(late):
    step = only(ranks=3, late={late: MS}, messages=True)
    path = critical_path(step)
    assert last_to_arrive(step) == late
    assert [leg.rank for leg in path] == [late] * len(path)
    assert [leg.phase for leg in path] == ["data", "forward", "backward", "transfer", "update"]
    assert sum(leg.end - leg.begin for leg in path) == pytest.approx(step.seconds)


def test_the_critical_path_goes_from_rank_to_rank():
    """Rank 1 comes last, but rank 0 needs longer for its update."""
    records = run_of(ranks=2, steps=(10,), late={1: MS})
    place = next(i for i, record in enumerate(records) if isinstance(record, Trace) and record.rank == 0)
    trace = records[place]
    update = Span(0, "update", 0, trace.spans[-2].time, UPDATE + MS, "update")
    records[place] = Trace(0, 10, trace.begin, trace.seconds + MS, [*trace.spans[:-2], update], [], 0.0)
    [step] = traced_steps(records)
    path = critical_path(step)
    assert [(leg.rank, leg.phase) for leg in path] == [
        (1, "data"), (1, "forward"), (1, "backward"), (0, "transfer"), (0, "update")
    ]  # fmt: skip
    for before, after in itertools.pairwise(path):
        assert after.begin == pytest.approx(before.end)


def test_one_rank_alone_waits_for_nobody():
    step = only(ranks=1)
    assert waits(step) == []
    assert last_to_arrive(step) is None
    assert [leg.phase for leg in critical_path(step)] == ["data", "forward", "backward", "transfer", "update"]


def test_who_waits_for_whom():
    found = waits(only(ranks=3, late={1: MS, 2: 0.25 * MS}))
    assert [(rank, other) for rank, other, _ in found] == [(0, 1), (2, 1)]
    assert [seconds for _, _, seconds in found] == pytest.approx([MS, 0.75 * MS])


def test_a_wait_that_is_shorter_than_clocks_are_good_is_none():
    made = dict(ranks=2, late={1: 0.02 * MS}, offsets={1: 3.0})
    assert waits(only(**made, uncertainties={1: 1e-6}))
    assert not waits(only(**made, uncertainties={1: 3e-5}))


def test_a_rank_whose_clock_is_not_known_is_on_nobodys_path():
    step = only(ranks=3, late={2: MS}, offsets={2: -11.56}, uncertainties={2: None})
    assert {leg.rank for leg in critical_path(step)} <= {0, 1}
    assert all(2 not in (rank, other) for rank, other, _ in waits(step))


def test_layers_cost_what_their_spans_say():
    costs = layer_costs(run_of(ranks=2, steps=range(9)))
    assert next(iter(costs)) == "conv2d_2"
    assert costs["conv2d_2"] == pytest.approx({"forward": 0.15 * MS, "backward": 0.3 * MS})
    assert costs["loss"] == pytest.approx({"forward": 0.04 * MS, "backward": 0.0})
    assert "forward" not in costs


def test_one_disturbed_step_does_not_count():
    records = run_of(ranks=1, steps=range(9)) + run_of(ranks=1, steps=[9], late={0: 1.0})
    assert layer_costs(records)["conv2d_2"]["backward"] == pytest.approx(0.3 * MS)


def test_what_is_made_here_adds_up():
    step = only(ranks=2, late={0: MS})
    assert step.seconds == pytest.approx(DATA + 1.2 * MS + 0.04 * MS + MS + TRANSFER + UPDATE)


def without_waits(records):
    """The same traces as ranks tell them that are too many to be told of their waits."""
    for record in records:
        if isinstance(record, Trace):
            spans = [span for span in record.spans if span.name != "wait"]
            begin = next(span.time + span.seconds for span in spans if span.name == span.phase == "backward")
            spans = [
                Span(span.rank, "transfer", 0, begin, span.time + span.seconds - begin, "transfer")
                if span.name == "transfer"
                else span
                for span in spans
            ]
            record = Trace(record.rank, record.step, record.begin, record.seconds, spans, [], 0.0)
        yield record


def test_waits_that_nobody_told_are_found_where_clocks_are_good_enough():
    made = dict(ranks=3, steps=(10,), late={1: MS, 2: 0.25 * MS}, offsets={2: 7.0})
    [told], [found] = traced_steps(run_of(**made)), traced_steps(without_waits(run_of(**made)))
    assert waits(found) == [(rank, other, pytest.approx(seconds)) for rank, other, seconds in waits(told)]
    for rank in range(3):
        for one, other in zip(told.phases(rank), found.phases(rank), strict=True):
            assert (one.name, one.time, one.seconds) == (other.name, pytest.approx(other.time), pytest.approx(other.seconds))
    [doubtful] = traced_steps(without_waits(run_of(**made, uncertainties={2: 2 * MS})))
    assert waits(doubtful) == []
