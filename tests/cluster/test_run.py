"""What a run promises, on ranks of both kinds: the same job, the same words, the same ends."""

import asyncio
import json
import os
import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from dtnn.cluster import Cluster, Run, RunInterrupted
from dtnn.records import Finish, Note, Step, Stop

from .conftest import needs_mpi

SECONDS = 20


def step(number):
    return Step(number, 1, 1.0 / number, 4, 0.1, 0.01, time.time())


def count(comm, steps, pause=0.0):
    """A generator job: notes of each rank, steps told by rank 0, and it can be stopped."""
    asked = yield Note(comm.rank, time.time(), f"rank {comm.rank} of {comm.size} begins")
    for number in range(1, steps + 1):
        asked = (yield step(number)) or asked
        time.sleep(pause)
        if comm.Allreduce(float(asked is not None)):
            break
    return number


def endless(comm):
    number = 0
    while True:
        number += 1
        comm.Barrier()
        time.sleep(0.001)
        yield step(number)


def fails(comm, rank, record):
    for number in range(1, 100):
        comm.Barrier()
        if comm.rank == rank and number == record:
            raise ValueError(f"no such width in step {number}")
        yield step(number)


def test_a_function_gives_each_ranks_result(cluster):
    run = cluster.run(lambda comm, base: base + comm.rank + comm.Allreduce(comm.size), 10)
    assert run.result(SECONDS) == 14
    assert run.results == [14, 15]
    assert run.state == "done"
    assert run.done


def test_records_arrive_all_and_in_order(cluster):
    run = cluster.run(count, 3000)
    seen = list(run)
    assert [record.step for record in seen if isinstance(record, Step)] == list(range(1, 3001))
    assert sorted(record.rank for record in seen if isinstance(record, Note)) == [0, 1]
    assert seen == list(run.records)
    assert run.result(SECONDS) == 3000


def test_records_come_while_it_runs(cluster):
    run = cluster.run(count, 100_000, 0.01)
    first = next(iter(run))
    assert isinstance(first, Note)
    assert run.state == "running"
    run.stop("seen enough")
    assert run.wait(SECONDS)


def test_a_job_has_its_own_copy_of_what_it_is_given(cluster):
    values = np.zeros(3)

    def change(comm, array):
        array += comm.rank + 1
        return array

    run = cluster.run(change, values)
    run.wait(SECONDS)
    assert [result.tolist() for result in run.results] == [[1, 1, 1], [2, 2, 2]]
    assert values.tolist() == [0, 0, 0]


@dataclass
class Told:
    text: str


def test_classes_that_only_exist_here_travel_both_ways(cluster):  # case 12
    class Local:
        def __init__(self, value):
            self.value = np.float32(value)

    def job(comm, local):
        yield Told("a record of a class of this test's")
        return Local(local.value + comm.rank)

    run = cluster.run(job, Local(1.5))
    assert run.result(SECONDS).value == 1.5
    assert isinstance(run.result(), Local)
    assert run.records == [Told("a record of a class of this test's")]
    assert [result.value for result in run.results] == [1.5, 2.5]


def test_what_rank_0_prints_shows_here(cluster, capsys):
    cluster.run(lambda comm: print(f"rank {comm.rank} speaks")).result(SECONDS)
    assert "rank 0 speaks\n" in capsys.readouterr().out


@pytest.mark.parametrize("guilty", [0, 1])
def test_a_rank_that_raises_is_told_first(cluster, guilty):  # case 1, E5
    began = time.monotonic()
    run = cluster.run(fails, guilty, 3)
    with pytest.raises(ValueError, match="no such width in step 3") as caught:
        run.result(SECONDS)
    assert time.monotonic() - began < 5  # the promise is 3 s; a shared machine gets some more
    story = str(caught.value.__cause__)
    assert story.strip().startswith(f"Rank {guilty} failed:\nTraceback")
    assert "test_run.py" in story
    assert f"Meanwhile rank {1 - guilty} waited in Barrier (test_run.py, line" in story
    assert caught.value.rank == guilty
    assert run.state == "failed"
    assert run.records.last(Finish).reason == "failed"
    assert cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result(SECONDS) == 3


def test_iterating_a_failed_run_raises_at_its_end(cluster):
    run = cluster.run(fails, 1, 3)
    with pytest.raises(ValueError, match="no such width"):
        for _ in run:
            pass


def test_the_next_sums_are_right_after_a_failure_with_sums_under_way(cluster):
    def unfinished(comm):
        request = comm.Iallreduce(np.full(100_000, 7.0))
        if comm.rank == 1:
            raise ArithmeticError("while a sum was under way")
        comm.Barrier()
        request.Wait()

    for _ in range(3):
        with pytest.raises(ArithmeticError):
            cluster.run(unfinished).result(SECONDS)
        right = cluster.run(lambda comm: comm.Allreduce(np.arange(100_000.0)).tolist()).result(SECONDS)
        assert right == (2 * np.arange(100_000.0)).tolist()


def test_a_job_that_asks_for_exit_does_not_end_the_notebook(cluster):
    def leave(comm):
        raise SystemExit(3)

    with pytest.raises(RuntimeError, match="rank 0 ended with SystemExit: 3"):
        cluster.run(leave).result(SECONDS)


def test_an_exception_that_cannot_travel_is_still_told(cluster):
    class Odd(Exception):
        def __init__(self, one, two):
            super().__init__(f"{one} and {two}")
            self.lock = threading.Lock()

    def job(comm):
        raise Odd("this", "that")

    with pytest.raises(Exception, match="this and that"):
        cluster.run(job).result(SECONDS)


def test_stop_ends_all_ranks_after_the_same_step(cluster):
    run = cluster.run(count, 10**9, 0.001)
    time.sleep(0.3)
    asked = time.monotonic()
    run.stop("enough")
    assert run.wait(SECONDS)
    assert time.monotonic() - asked < 3
    assert run.state == "stopped"
    assert run.results[0] == run.results[1] == run.result()
    assert run.results[0] == len(run.records.of(Step))


def test_interrupt_ends_a_job_that_never_would(cluster):  # case 2
    run = cluster.run(endless)
    while len(run.records) < 3:
        time.sleep(0.01)
    asked = time.monotonic()
    run.interrupt()
    assert run.wait(SECONDS)
    assert time.monotonic() - asked < 3
    assert run.state == "interrupted"
    assert run.records.of(Step)
    with pytest.raises(RunInterrupted, match=r"records, they are in run\.records"):
        run.result()
    asked = time.monotonic()
    assert cluster.run(lambda comm: comm.Allreduce(1)).result(SECONDS) == 2
    assert time.monotonic() - asked < 3


def test_stop_interrupts_a_job_that_takes_no_commands(cluster):
    def busy(comm):
        while True:
            time.sleep(0.01)

    run = cluster.run(busy)
    time.sleep(0.3)
    run.stop()
    assert run.wait(SECONDS)
    assert run.state == "interrupted"
    assert run.stuck == []


def test_runs_follow_each_other(cluster):
    first = cluster.run(count, 10**9, 0.001)
    second = cluster.run(lambda comm: "second")
    third = cluster.run(lambda comm: "third")
    time.sleep(0.2)
    assert second.state == "waiting"
    assert second.waiting_for == "the run before it to end (its end() ends it)"
    second.interrupt()
    assert second.wait(SECONDS)
    assert second.state == "interrupted"
    first.stop()
    assert third.result(SECONDS) == "third"


def test_waits_have_words(cluster):
    def slow(comm):
        yield Note(comm.rank, time.time(), "compiling something")
        time.sleep(1.0)
        yield step(1)
        time.sleep(1.0)

    run = cluster.run(slow)
    next(iter(run))
    assert run.waiting_for == "compiling something"
    with pytest.raises(TimeoutError, match="compiling something"):
        run.result(0.01)
    while not run.records.of(Step):
        time.sleep(0.01)
    assert run.waiting_for == ""
    run.result(SECONDS)


def test_then_is_called_before_result_returns(cluster):
    seen = []
    run = cluster.run(lambda comm: comm.size).then(seen.append)
    run.result(SECONDS)
    assert seen == [2]
    run.then(seen.append)
    assert seen == [2, 2]


def test_what_then_raises_result_raises(cluster):
    def refuse(result):
        raise LookupError(f"no place for {result}")

    with pytest.raises(LookupError, match="no place for 2"):
        cluster.run(lambda comm: time.sleep(0.2) or comm.size).then(refuse).result(SECONDS)


def test_a_job_that_cannot_travel_is_refused_at_once(cluster):
    lock = threading.Lock()
    with pytest.raises(TypeError, match=r"can't travel.*lock.*inside the job"):
        cluster.run(lambda comm: lock.acquire())
    with pytest.raises(TypeError, match=r"a job is a function.*not 5"):
        cluster.run(5)


def test_a_result_that_cannot_travel_is_told(engines):
    run = engines.run(lambda comm: threading.Lock())
    with pytest.raises(RuntimeError, match="can't travel"):
        run.result(SECONDS)


@pytest.mark.slow
def test_many_empty_runs(cluster):
    assert [cluster.run(lambda comm, k: k, number).result(SECONDS) for number in range(200)] == list(range(200))


def test_save_and_load(cluster, tmp_path):
    run = cluster.run(count, 5)
    run.result(SECONDS)
    run.save(tmp_path / "run.json")
    values = json.loads((tmp_path / "run.json").read_text())
    assert values["format"] == "dtnn run"
    assert os.listdir(tmp_path) == ["run.json"]
    again = Run.load(tmp_path / "run.json")
    assert repr(list(again.records)) == repr(list(run.records))  # NaN is not equal to itself
    assert (again.state, again.size, again.done, repr(again)) == ("done", 2, True, repr(run))
    assert [row["rank"] for row in again.rows] == [0, 1]


def test_a_failed_run_comes_back_with_its_story(cluster, tmp_path):
    run = cluster.run(fails, 1, 2)
    run.wait(SECONDS)
    run.save(tmp_path / "run.json")
    again = Run.load(tmp_path / "run.json")
    with pytest.raises(RuntimeError, match="no such width in step 2"):
        again.result()


def test_after_an_interrupt_at_any_moment_the_next_sums_are_right(cluster):
    def sums(comm, seed, steps):
        draw = np.random.default_rng([seed, comm.rank])
        for _ in range(steps):
            array = draw.standard_normal(20_000)
            comm.Allreduce(array)
            yield None
        return array

    moments = np.random.default_rng(7)
    for seed in range(15):
        run = cluster.run(sums, seed, 10**9)
        time.sleep(moments.uniform(0, 0.05))
        run.interrupt()
        assert run.wait(SECONDS)
        draws = [np.random.default_rng([seed, rank]) for rank in range(2)]
        right = [draws[0].standard_normal(20_000) + draws[1].standard_normal(20_000) for _ in range(3)][-1]
        assert (cluster.run(sums, seed, 3).result(SECONDS) == right).all()


@pytest.mark.slow
def test_a_rank_that_cannot_be_interrupted_does_not_hold_the_user(monkeypatch):
    with Cluster(2, launcher="threads") as cluster:
        run = cluster.run(lambda comm: time.sleep(5.0) if comm.rank == 1 else comm.Barrier())
        time.sleep(0.2)
        asked = time.monotonic()
        run.interrupt()
        with pytest.raises(RunInterrupted, match=r"rank 1 can't be, cluster.restart\(\) goes on without it"):
            run.result(SECONDS)
        assert time.monotonic() - asked < 4
        assert run.stuck == [1]
        following = cluster.run(lambda comm: comm.Allreduce(1))
        while following.state == "waiting" and "rank 1" not in following.waiting_for:
            time.sleep(0.01)
        assert (
            following.waiting_for
            == "the run before it to end (rank 1 can't be interrupted; cluster.restart() goes on without it)"
        )
        assert following.result(SECONDS) == 2


class Mute:
    def __reduce__(self):
        return int, ("no number",)


def test_a_record_that_cannot_be_made_again_does_not_end_the_run(engines):
    def job(comm):
        yield Mute()
        yield step(1)
        return "done"

    run = engines.run(job)
    assert run.result(SECONDS) == "done"
    assert "ValueError: invalid literal" in run.records[0]
    assert run.records[1].step == 1


def listening(comm):
    """Tells what it is sent, to the first Stop."""
    heard = []
    while not (heard and isinstance(heard[-1], Stop)):
        command = yield Note(comm.rank, 0.0, str(len(heard)))
        if comm.rank == 0 and command is not None:
            heard.append(command)
        comm.Barrier()
        if comm.Allreduce(float(bool(heard) and isinstance(heard[-1], Stop)), "max"):
            break
    return heard


def test_what_is_sent_before_a_run_has_begun_is_kept(cluster):
    first = cluster.run(lambda comm: time.sleep(0.3))
    second = cluster.run(listening)
    second.send("faster")
    assert not second.done
    first.result(10)
    second.stop("enough")
    assert second.result(10) == ["faster", Stop("enough")]


def test_a_run_that_waits_for_another_ends_at_once_when_it_is_stopped(cluster):
    first = cluster.run(lambda comm: time.sleep(1.0))
    second = cluster.run(listening)
    second.stop()
    assert second.wait(0.8)
    assert second.state == "interrupted"
    first.result(10)


def test_a_run_that_is_stopped_as_it_starts_has_a_result(cluster):
    for _ in range(5):
        run = cluster.run(listening)
        run.stop()
        assert [type(command) for command in run.result(10)] == [Stop]
        assert run.state == "stopped"


def test_who_waits_for_a_run_keeps_its_views_up_to_date(cluster):
    updates = []
    run = cluster.run(lambda comm: time.sleep(0.5))
    run.views.append(SimpleNamespace(update=lambda: updates.append(1)))
    run.result(10)
    assert updates


def test_a_run_can_be_awaited(cluster):
    async def cell():
        return await cluster.run(lambda comm: comm.Allreduce(1))

    assert asyncio.run(cell()) == 2


def test_no_callback_is_lost(cluster):
    for _ in range(20):
        run, called = cluster.run(lambda comm: 1), []
        while not run.done:
            run.then(called.append)
            time.sleep(0.001)
        run.then(called.append)
        run.wait(5)
        assert called
        assert set(called) == {1}


class SlowToUnpack:
    """Takes a while to arrive."""

    def __reduce__(self):
        return time.sleep, (0.7,)


@needs_mpi
def test_an_interrupt_while_a_job_is_unpacked_ends_the_run_at_once(engines):
    run = engines.run(lambda comm, thing: 1, SlowToUnpack())
    time.sleep(0.1)
    run.interrupt()
    assert run.wait(5)
    assert run.state == "interrupted"
    assert engines.run(lambda comm: comm.Allreduce(1)).result(20) == 2


def test_a_run_after_one_that_gave_up_waits_for_the_one_that_runs(cluster):
    first = cluster.run(slow_sum, 1.0)
    second = cluster.run(listening)
    second.stop()
    assert second.wait(0.8)
    third = cluster.run(lambda comm: comm.Allreduce(1))
    assert not first.done
    assert third.result(20) == 2
    assert first.done
    assert first.results == [3, 3]


def slow_sum(comm, seconds):
    time.sleep(seconds)
    return comm.Allreduce(comm.rank + 1)
