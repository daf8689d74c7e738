"""The file for Perfetto: what tools ask of it, and that it is whole at every moment."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from dtnn.records import Clock, Span, Trace
from dtnn.tracing import TraceFile, follow, save, traced_steps
from tests.tracing.made import MS, run_of


def written(records, tmp_path, name="trace.json"):
    save(records, tmp_path / name)
    return json.loads((tmp_path / name).read_text())


def check(values):
    """What Perfetto and Chrome's tracing need: integers, names for all processes, times from 0 on that don't run backwards."""
    events = values["traceEvents"]
    named = {event["pid"] for event in events if event["name"] == "process_name"}
    for event in events:
        assert type(event["pid"]) is int
        assert type(event["tid"]) is int
        assert event["pid"] in named
        assert event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] >= 0
    nested(events)
    return events


def nested(events):
    """On a thread a slice lies within another one or beside it: others are drawn wrong."""
    threads = {}
    for event in events:
        if event["ph"] == "X":
            begin, end = round(1000 * event["ts"]), round(1000 * (event["ts"] + event["dur"]))  # nanoseconds
            threads.setdefault((event["pid"], event["tid"]), []).append((begin, end))
    for slices in threads.values():
        stack = []
        for begin, end in sorted(slices, key=lambda each: (each[0], -each[1])):
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or end <= stack[-1]
            stack.append(end)


@pytest.mark.parametrize("messages", [False, True])
@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_processes_are_ranks_and_times_begin_at_zero(tmp_path, ranks, messages):
    """Case 92."""
    events = check(written(run_of(ranks=ranks, late={0: MS}, messages=messages), tmp_path))
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {rank: f"rank {rank} on desk" for rank in range(ranks)}
    assert min(event["ts"] for event in events if event["ph"] == "X") < 1e6


def test_steps_are_marked_and_ranks_are_told(tmp_path):
    """Case 94."""
    values = written(run_of(ranks=2), tmp_path)
    assert values["distributedInfo"] == {"rank": 0, "world_size": 2}
    steps = [event["name"] for event in values["traceEvents"] if event["name"].startswith("ProfilerStep#")]
    assert sorted(steps) == ["ProfilerStep#10", "ProfilerStep#10", "ProfilerStep#20", "ProfilerStep#20"]


def test_each_rank_may_have_a_file_of_its_own(tmp_path):
    save(run_of(ranks=3), tmp_path / "rank_{rank}.json")
    for rank in range(3):
        values = json.loads((tmp_path / f"rank_{rank}.json").read_text())
        assert values["distributedInfo"] == {"rank": rank, "world_size": 3}
        assert {event["pid"] for event in check(values)} == {rank}


def test_layers_lie_in_phases_and_these_in_the_step(tmp_path):
    events = check(written(run_of(ranks=1, steps=(10,)), tmp_path))
    slices = {event["name"]: event for event in events if event["ph"] == "X" and event["tid"] == 0}
    step, backward = slices["ProfilerStep#10"], slices["backward"]
    assert step["ts"] <= slices["data"]["ts"] <= slices["forward"]["ts"] <= backward["ts"]
    assert backward["ts"] <= slices["conv2d_2"]["ts"]
    assert slices["conv2d_2"]["ts"] + slices["conv2d_2"]["dur"] <= backward["ts"] + backward["dur"] + 1e-3
    assert step["dur"] == pytest.approx(1530, abs=1)


def test_arrows_join_messages_with_where_they_arrived(tmp_path):
    events = check(written(run_of(ranks=3, messages=True, late={1: MS}), tmp_path))
    sent = {event["id"]: event for event in events if event["ph"] == "s"}
    got = {event["id"]: event for event in events if event["ph"] == "f"}
    assert len(sent) == 2 * 3 * 4
    assert sent.keys() == got.keys()
    for identity, event in sent.items():
        assert got[identity]["pid"] == (event["pid"] + 1) % 3
        assert got[identity]["ts"] >= event["ts"]


def test_what_overlaps_is_on_several_threads(tmp_path):
    records = run_of(ranks=1, steps=(10,))
    trace = records.last(Trace)
    spans = trace.spans[:1]
    overlapped = [Span(0, f"Iallreduce {i}", 40, i * MS, 3 * MS) for i in range(4)]
    records[-1] = Trace(0, 10, trace.begin, 0.01, [*spans, *overlapped], [], 0.0)
    events = check(written(records, tmp_path))
    assert {event["tid"] for event in events if event.get("cat") == "communication"} == {1, 2, 3}


def test_clocks_are_brought_together_and_their_uncertainty_is_told(tmp_path):
    """Case 93: 11.56 s apart, and the events are where they belong."""
    records = run_of(ranks=2, late={1: MS}, offsets={1: -11.56}, uncertainties={1: 3e-5})
    events = check(written(records, tmp_path))
    begins = {event["pid"]: event["ts"] for event in events if event["name"] == "ProfilerStep#10"}
    assert begins[0] == pytest.approx(begins[1], abs=30)
    assert [event["args"]["clock_uncertainty_us"] for event in events if event["name"] == "ProfilerStep#10"] == [0.0, 30.0]
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == ["rank 0 on desk", "rank 1 on desk (clock ± 30 µs)"]


def test_a_clock_that_is_not_known_is_said_and_not_merged(tmp_path):
    """Case 93."""
    records = run_of(ranks=3, offsets={2: -11.56}, uncertainties={2: None}, messages=True)
    events = check(written(records, tmp_path))
    name = next(event["args"]["name"] for event in events if event["name"] == "process_name" and event["pid"] == 2)
    assert "clock not aligned" in name
    assert not [event for event in events if event["ph"] in "sf" and event["pid"] == 2]
    assert min(event["ts"] for event in events if event["ph"] == "X" and event["pid"] == 2) == 0
    assert [step.aligned for step in traced_steps(records)] == [[0, 1]] * 2


def test_a_drifting_clock_is_taken_as_it_was_told_last(tmp_path):
    records = run_of(ranks=2, steps=(10,), offsets={1: -1.0}, uncertainties={1: 1e-5})
    records += [Clock(1, -1.5, 1e-5, 0.0, 0.0), *run_of(ranks=2, steps=(20,), offsets={1: -1.5}).of(Trace)]
    events = check(written(records, tmp_path))
    for number in (10, 20):
        begins = [event["ts"] for event in events if event["name"] == f"ProfilerStep#{number}"]
        assert begins[0] == pytest.approx(begins[1], abs=10)


def test_the_file_is_whole_after_every_write(tmp_path):
    path, records = tmp_path / "trace.json", run_of(ranks=3, steps=range(30), messages=True)
    with TraceFile(path) as file:
        assert json.loads(path.read_text())["traceEvents"] == []
        counts = []
        for record in records:
            file.write(record)
            file.flush()
            counts.append(len(json.loads(path.read_text())["traceEvents"]))
    assert counts == sorted(counts)
    assert len(check(json.loads(path.read_text()))) == counts[-1]


def test_no_traces_are_an_empty_file(tmp_path):
    assert written([], tmp_path)["traceEvents"] == []


def test_a_folder_that_is_not_there_is_said():
    with pytest.raises(FileNotFoundError):
        save(run_of(), "/there/is/no/such/folder/trace.json")


WRITER = """
    import sys, time
    from dtnn.tracing import TraceFile
    from tests.tracing.made import run_of

    file = TraceFile(sys.argv[1])
    for number in range(10**9):
        for record in run_of(ranks=4, steps=[number], messages=True):
            file.write(record)
            file.flush()
        if number == 5:
            print("writing", flush=True)
"""


@pytest.mark.processes
@pytest.mark.parametrize("after", [0.01, 0.05, 0.13, 0.3])
def test_the_file_loads_after_a_kill(tmp_path, after):
    """Case 90: the writer is killed in the middle of it."""
    path = tmp_path / "trace.json"
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(WRITER), str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "writing\n"
        time.sleep(after)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    events = check(json.loads(path.read_text()))
    assert sum(event["name"].startswith("ProfilerStep#") for event in events) >= 4 * 5


class Going:
    """A run that goes on."""

    size = 2

    def __init__(self, records):
        self.records, self.done = records, False

    def wait(self, timeout):
        time.sleep(0.01 if self.done else timeout)
        return self.done


def until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_the_file_grows_with_a_run_and_ends_with_it(tmp_path):
    path, run = tmp_path / "trace.json", Going(run_of(ranks=2, steps=range(5)))
    follow(run, path)
    until(lambda: steps_in(path) == 10)
    run.records = run.records + run_of(ranks=2, steps=[7]).of(Trace)
    until(lambda: steps_in(path) == 12)
    run.records, run.done = run.records + run_of(ranks=2, steps=[8]).of(Trace), True
    until(lambda: steps_in(path) == 14)


def steps_in(path):
    return sum(event["name"].startswith("ProfilerStep#") for event in json.loads(path.read_text())["traceEvents"])


def test_of_a_run_that_has_ended_it_is_whole_at_once(tmp_path):
    run = Going(run_of(ranks=2, steps=range(5)))
    run.done = True
    follow(run, tmp_path / "trace_{rank}.json")
    assert [steps_in(tmp_path / f"trace_{rank}.json") for rank in range(2)] == [5, 5]
