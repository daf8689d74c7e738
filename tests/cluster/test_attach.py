"""A cluster that may outlive its client: found again with its run and all that has told, ended when its time is over."""

import os
import pickle
import re
import time

import pytest

from dtnn.cluster import Cluster, asked, folder, leftovers, signature, watchdog
from dtnn.cluster.kept import Kept
from dtnn.records import Epoch, Step

from .conftest import needs_mpi, nothing_left

pytestmark = pytest.mark.processes

FIRST = """
import sys, time
from dtnn.cluster import Cluster
from dtnn.records import Ledger, Step, Stop

def training(comm, steps):
    print("rank", comm.rank, "begins")
    for number in range(1, steps + 1):
        asked = yield Step(number, 1, 0.5, 4, 0.1, 0.01, 0.0)
        yield Ledger(comm.rank, number, 1, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0)
        if comm.Allreduce(float(asked is not None)):
            return "stopped"
        time.sleep(0.005)
    return comm.Allreduce(1)

if __name__ == "__main__":
    cluster = Cluster(2, on_wait=False, keep_alive=float(sys.argv[2])).start()
    run = cluster.run(training, int(sys.argv[1]))
    next(iter(run))
    print(cluster._crew.folder, flush=True)
    if len(sys.argv) == 3:
        time.sleep(1000)
"""

SECOND = """
import sys
from dtnn.cluster import Cluster

cluster = Cluster.attach(sys.argv[1], on_wait=False)
run = cluster.last_run
print(run.name, run.size, flush=True)
if sys.argv[2] == "stop":
    for record in run:
        if getattr(record, "step", 0) > 600:
            break
    run.stop()
result = run.result(30)
steps = [record.step for record in run.records if type(record).__name__ == "Step"]
ledgers = [[record.step for record in run.records if type(record).__name__ == "Ledger" and record.rank == r] for r in (0, 1)]
whole = steps == list(range(1, len(steps) + 1)) and all(told == steps for told in ledgers)
print(result, run.state, len(steps), whole)
print(cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result(20), flush=True)
cluster.stop()
"""


@pytest.fixture(autouse=True)
def own_place(tmp_path, monkeypatch):
    """Only clusters of these tests are looked at: others run on this machine."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    everywhere = leftovers.processes_by_folder
    here = lambda: {path: pids for path, pids in everywhere().items() if path.startswith(str(tmp_path))}  # noqa: E731
    monkeypatch.setattr(leftovers, "processes_by_folder", here)


def folder_of(process):
    """What it prints; what rank 0 prints shows there, too, before or after."""
    return next(line.strip() for line in process.stdout if os.sep in line)


def lines(process):
    assert process.wait(50) == 0
    return process.stdout.read().splitlines()


@needs_mpi
@pytest.mark.slow
def test_who_attaches_gets_all_records_and_the_result_and_ends_it(script):
    first = script(FIRST, "1000000", "600")
    path = folder_of(first)
    time.sleep(0.5)
    first.kill()
    time.sleep(2.5)  # the watchdog has noticed by now
    assert len(watchdog.members(path)) >= 4
    (found,) = leftovers.found()
    assert "kept until" in found.state
    assert leftovers.clean() == []
    second = script(SECOND, os.path.basename(path), "stop")
    printed = lines(second)
    assert sorted(printed[:2]) == ["rank 0 begins", "training 2"]
    result, state, count, whole = printed[2].split()
    assert (result, state, whole) == ("stopped", "stopped", "True")
    assert int(count) > 600
    assert printed[3] == "3"
    assert nothing_left(path, 1.0)


@needs_mpi
@pytest.mark.slow
def test_a_run_that_ended_while_nobody_was_there_still_has_its_result(script):
    first = script(FIRST, "200", "600", "ends")  # by itself: its exit functions run
    path = next(line for line in lines(first) if os.sep in line)
    time.sleep(3.0)
    again = script(SECOND, path, "wait")
    *_, told, three = lines(again)
    assert told == "2 done 200 True"
    assert three == "3"
    assert nothing_left(path, 1.0)


@needs_mpi
@pytest.mark.slow
def test_when_its_time_is_over_it_ends(script):
    first = script(FIRST, "1000000", "3")
    path = folder_of(first)
    first.kill()
    killed = time.monotonic()
    assert nothing_left(path, 30)
    assert time.monotonic() - killed > 3.0


@needs_mpi
def test_one_that_is_in_use_is_not_attached_to_but_in_its_own_process(script):
    with Cluster(1, keep_alive="1m", on_wait=False) as cluster:
        other = script("from dtnn import Cluster\ntry: Cluster.attach()\nexcept RuntimeError as error: print(error)")
        told = " ".join(lines(other))
        assert "no cluster waits for a client" in told
        assert "one that is in use can't be attached to" in told
        assert Cluster.attach() is cluster
        assert Cluster.attach(os.path.basename(cluster._crew.folder)) is cluster
        assert cluster.run(lambda comm: comm.rank).result(20) == 0
        path = cluster._crew.folder
    assert nothing_left(path, 0.1)


def test_several_that_wait_have_to_be_named():
    paths = [folder.make() for _ in range(2)]
    for path in paths:
        signature._write(path, {"pid": 10**8, "born": 1.0, "place": signature.place(), "ranks": 2})
        with open(os.path.join(path, watchdog.ALONE), "w") as file:
            file.write(f'{{"until": {time.time() + 100}}}')
    names = sorted(map(os.path.basename, paths))
    with pytest.raises(RuntimeError, match=r"several clusters wait for a client: .*name one: Cluster.attach\('c") as told:
        Cluster.attach()
    assert all(name in str(told.value) for name in names)
    with pytest.raises(RuntimeError, match="no cluster called 'c1-none' waits for a client; there are c"):
        Cluster.attach("c1-none")
    with pytest.raises(RuntimeError, match="is damaged, so it can't be attached to; `dtnn clean --all` ends it"):
        Cluster.attach(names[0])


@pytest.mark.parametrize(("given", "seconds"), [("90", 90), (1.5, 1.5), ("30m", 1800), ("2 h", 7200), (True, 7200)])
def test_times_are_seconds_or_texts(given, seconds):
    assert asked.asked(2, keep_alive=given).keep_alive == seconds


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("soon", "'soon' is no time"),
        ([1], "is no time"),
        ("0", "at most 7 days"),
        (-1, "at most 7 days"),
        ("8d", "at most 7 days"),
    ],
)
def test_times_that_are_none_are_refused(given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        Cluster(2, keep_alive=given)


@pytest.mark.parametrize(("settings", "error", "words"), [
    (dict(keep_alive=10**400), ValueError, "at most 7 days"),
    (dict(keep_alive=-1), ValueError, "at most 7 days"),
    (dict(hosts=3), TypeError, r"hosts=3 are no names of hosts; give a list"),
    (dict(hosts=True), TypeError, r"hosts=True are no names of hosts; give a list"),
])  # fmt: skip
def test_what_can_not_be_asked_of_a_cluster_is_told_at_once(settings, error, words):
    with pytest.raises(error, match=words):
        asked.asked(2, **settings)


def test_threads_cannot_outlive_their_process():
    with pytest.raises(ValueError, match="keep_alive='2h' can't be had here: these ranks end with this process"):
        Cluster(2, "threads", keep_alive="2h")


def test_what_is_kept_is_bounded_and_keeps_its_places():
    def batch(number):
        records = [Step(number, 1, 0.5, 4, 0.1, 0.01, 0.0), Epoch(number, 1, 4, 0.1, 0.1, {}, 0.0), "x" * 20_000]
        return pickle.dumps([("record", pickle.dumps(record)) for record in records])

    kept = Kept(1, ["train", True], 100_000)
    for number in range(40):
        kept.put(batch(number))
    batches = [pickle.loads(data) for data in kept._batches]
    assert len(batches) == 40
    assert sum(map(len, kept._batches)) <= 100_000
    told = [[pickle.loads(data) for _, data in batch] for batch in batches]
    assert all(any(isinstance(record, Epoch) for record in records) for records in told)
    assert len(told[-1]) == 3
