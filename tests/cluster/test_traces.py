"""Traces of a run: they come from all ranks, are saved with it, and grow a file while it goes on."""

import json
import time

import pytest

from dtnn.cluster import Run
from dtnn.records import Ledger, Step
from dtnn.tracing import layer_costs
from tests.tracing.made import MS, run_of

SECONDS = 20


def tells(comm, pause=0.0, endless=False):
    """A job that tells what a training would, each rank its own; and goes on until it is stopped."""
    for record in run_of(ranks=comm.size, late={1: MS}):
        if getattr(record, "rank", 0) == comm.rank:
            yield record
        time.sleep(pause)
    parts = dict(data=0.1, forward=0.4, backward=0.5 + comm.rank, transfer=0.1, wait=1.0 - comm.rank, update=0.1)
    yield Ledger(comm.rank, 100, 100, 3200, 10**6, seconds=sum(parts.values()), time=0.0, **parts)
    number = 0
    while endless:
        number += 1
        asked = yield Step(number, 1, 1.0, 4, 0.1, 0.01, time.time())
        time.sleep(0.01)
        if comm.Allreduce(float(asked is not None)):
            break


def test_a_run_shows_its_timeline_and_explains_itself(cluster):
    run = cluster.run(tells)
    run.result(SECONDS)
    timeline = run.timeline()
    assert [(step.step, step.ranks) for step in timeline.steps] == [(10, [0, 1]), (20, [0, 1])]
    assert timeline.typical.aligned == [0, 1]
    told = run.explain()
    assert told.findings[0].kind == "imbalance"
    assert "Rank 1 is the slowest" in str(told)
    assert "conv2d_2" in str(told)


def test_so_does_its_history(cluster):
    run = cluster.run(tells)
    run.result(SECONDS)
    assert len(run.history.timeline()) == 2
    assert run.history.explain() == run.explain()


def test_traces_are_saved_with_a_run_and_read_back(cluster, tmp_path):
    run = cluster.run(tells)
    run.result(SECONDS)
    run.save(tmp_path / "run.json")
    back = Run.load(tmp_path / "run.json")
    assert back.timeline().columns() == run.timeline().columns()
    assert layer_costs(back.records) == layer_costs(run.records)
    assert back.explain() == run.explain()


def test_a_damaged_trace_is_refused(cluster, tmp_path):
    run = cluster.run(tells)
    run.result(SECONDS)
    run.save(tmp_path / "run.json")
    values = json.loads((tmp_path / "run.json").read_text())
    next(record for record in values["records"] if record["type"] == "trace")["spans"][0] = 7
    (tmp_path / "run.json").write_text(json.dumps(values))
    with pytest.raises(ValueError, match=r"run.json is damaged at record .*something else than spans"):
        Run.load(tmp_path / "run.json")


def test_a_trace_file_grows_while_the_run_goes_on(cluster, tmp_path):
    path = tmp_path / "trace.json"
    run = cluster.run(tells, endless=True)
    run.save_trace(path)
    until(lambda: steps_in(path) == 4)
    assert not run.done
    run.stop()
    run.wait(SECONDS)
    run.save_trace(tmp_path / "rank_{rank}.json")
    assert [steps_in(tmp_path / f"rank_{rank}.json") for rank in range(2)] == [2, 2]


def until(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def steps_in(path):
    return sum(event["name"].startswith("ProfilerStep#") for event in json.loads(path.read_text())["traceEvents"])
