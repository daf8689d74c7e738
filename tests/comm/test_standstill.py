"""Ranks of MPI that wait only for each other are told so; whoever waits for one that computes is left alone."""

import time

import numpy as np
import pytest

from dtnn.comm import MPI, Deadlock, polling, standstill
from dtnn.comm.standstill import kept_waiting
from tests.comm.mpi_job import run_mpi

SHORT, LONG = 5, 50_000  # numbers: one travels as a message, the other is added up in shared memory, where there is any


def around(comm, distance=1):
    return (comm.rank + distance) % comm.size


def all_receive(comm):
    comm.Recv(np.zeros(3), around(comm))


def all_send(comm):
    comm.Send(np.zeros(1_000_000), around(comm))


def another_tag(comm):
    comm.Send(np.zeros(3), around(comm), tag=1)
    comm.Recv(np.zeros(3), around(comm, -1), tag=2)


def nobody_sends(comm):
    comm.Probe(tag=4)


def to_itself(comm):
    comm.Recv(np.zeros(3), comm.rank)


def receives_before_the_sum(comm, size=SHORT):
    if comm.rank == 1:
        comm.Recv(np.zeros(3), 0)
    comm.Allreduce(np.ones(size))


def receives_before_the_long_sum(comm):
    receives_before_the_sum(comm, LONG)


def receives_after_a_request(comm):
    request = comm.Iallreduce(np.ones(SHORT))
    if comm.rank == 1:
        comm.Recv(np.zeros(3), 0)
    request.Wait()
    comm.Barrier()


def in_a_part(comm):
    """Ranks 0 and 2 are a part; one waits there, the other in the whole, as rank 1 does."""
    part = comm.Split(comm.rank % 2)
    if comm.rank == 2:
        part.Recv(np.zeros(3), 0)
    comm.Barrier()


SUM = "rank 0 waits for rank 1 to join in Allreduce sum of float64 ({},); rank 1 waits to receive float64 (3,) from rank 0"
STUCK = {
    all_receive: "rank 0 waits to receive float64 (3,) from rank 1 (tag 0); rank 1 waits to receive float64 (3,) from rank 2",
    all_send: "rank 0 waits to send float64 (1000000,) to rank 1 (tag 0); rank 1 waits to send float64 (1000000,) to rank 2",
    another_tag: "rank 0 waits to receive float64 (3,) from rank 2 (tag 2)",
    nobody_sends: "rank 0 waits for a message from anybody (tag 4); rank 1 waits for a message from anybody",
    to_itself: "rank 0 waits to receive float64 (3,) from rank 0",
    receives_before_the_sum: SUM.format(SHORT),
    receives_before_the_long_sum: SUM.format(LONG),
    receives_after_a_request: "rank 0 waits for rank 1 to join in Barrier; rank 1 waits to receive float64 (3,) from rank 0",
    in_a_part: "rank 2 waits to receive float64 (3,) from rank 0 (tag 0), as rank 1 of the part of ranks 0, 2",
}


@pytest.mark.parametrize("together", [False, True], ids=["messages", "shared memory"])
@pytest.mark.parametrize("blocking", [False, True], ids=["polled", "blocking"])
def test_ranks_that_wait_only_for_each_other_are_told(blocking, together):  # case 27
    found = run_mpi(__file__, "wait_in_vain", 3, blocking, together)
    for job, words in STUCK.items():
        told = [rank[job.__name__] for rank in found]
        assert any(words in text for text, _ in told), told
        for text, seconds in told:
            assert text.endswith(": none of them can go on"), text
            assert seconds < 5


def wait_in_vain(pool, blocking, together):
    polling.DOUBTFUL = 0.2
    found = {}
    for job in STUCK:
        comm = fresh(pool, blocking, together)
        begin = time.perf_counter()
        with pytest.raises(Deadlock) as caught:
            job(comm)
        found[job.__name__] = str(caught.value), time.perf_counter() - begin
        assert not comm.clean
        time.sleep(0.3)  # what the others need to find out by themselves
    return found


def fresh(pool, blocking, together):
    """A communicator that compares its collectives in messages, or where the ranks meet."""
    comm = pool.checkout(blocking=blocking)
    if together:
        comm._crowded = False
        comm.Allreduce(np.ones(100_000))
        assert comm._comparison.rendezvous is not None
    return comm


def test_it_takes_a_second():
    for seconds in run_mpi(__file__, "wait_as_long_as_usual", 2):
        assert 0.9 < seconds < 5


def wait_as_long_as_usual(pool):
    begin = time.perf_counter()
    with pytest.raises(Deadlock):
        all_receive(pool.checkout(blocking=True))
    return time.perf_counter() - begin


@pytest.mark.parametrize("together", [False, True], ids=["messages", "shared memory"])
@pytest.mark.parametrize("blocking", [False, True], ids=["polled", "blocking"])
def test_who_only_waits_for_others_at_work_is_left_alone(blocking, together):
    """Ranks that dawdle, in programs that end; all doubt at once, and none is told anything."""
    assert run_mpi(__file__, "dawdle", 3, blocking, together) == [True] * 3


def dawdle(pool, blocking, together):
    polling.DOUBTFUL, standstill.PERIOD = 0.002, 0.0005
    comm = fresh(pool, blocking, together)
    own, common = np.random.default_rng([comm.rank, 1]), np.random.default_rng(2)
    part = comm.Split(comm.rank // 2)
    for _ in range(150):
        for doing in common.permutation(len(DOINGS))[:4]:
            if own.random() < 0.3:
                time.sleep(own.uniform(0, 0.01))
            DOINGS[doing](comm, part)
    assert comm._standstill.told, "or nobody has doubted"
    return comm.clean


def ring(comm, part):
    received = np.zeros(1000)
    comm.Sendrecv(np.full(1000, float(comm.rank)), around(comm), received, around(comm, -1))
    assert (received == around(comm, -1)).all()


def line(comm, part):
    """From the first to the last, a long array, one rank after the other."""
    array = np.ones(100_000)
    if comm.rank:
        comm.Recv(array, comm.rank - 1, tag=3)
    if comm.rank + 1 < comm.size:
        comm.Send(array, comm.rank + 1, tag=3)


def serve(comm, part):
    if comm.rank:
        comm.Send(np.full(3, comm.rank), 0, tag=5)
        return
    for _ in range(comm.size - 1):
        comm.Recv(np.zeros(3, int), comm.Probe(tag=5), tag=5)


def request(comm, part):
    request = comm.Iallreduce(np.ones(SHORT))
    ring(comm, part)
    request.Wait()


DOINGS = [
    ring, line, serve, request,
    lambda comm, part: comm.Allreduce(np.ones(SHORT)),
    lambda comm, part: comm.Allreduce(np.ones(LONG)),
    lambda comm, part: comm.Bcast(np.ones(3), 1),
    lambda comm, part: part.Allreduce(np.ones(SHORT)),
    lambda comm, part: ring(part, part),
    lambda comm, part: comm.Barrier(),
]  # fmt: skip


def test_what_was_told_of_a_long_wait_is_no_reason_to_give_a_communicator_up():
    assert run_mpi(__file__, "wait_long_for_rank_0", 2) == [(1, 0)] * 2


def wait_long_for_rank_0(pool):
    polling.DOUBTFUL = 0.01
    pairs = set()
    for _ in range(5):
        comm = pool.checkout()
        pairs.add(id(pool.pair))
        if comm.rank == 0:
            time.sleep(0.1)
        comm.Barrier()
    return len(pairs), len(pool.spoilt)


def test_one_that_always_computes_gets_few_letters():
    assert run_mpi(__file__, "wait_long_and_often", 2) == [0, standstill.CREDIT]


def wait_long_and_often(pool):
    comm = pool.checkout()
    polling.DOUBTFUL = 0.01 if comm.rank else 100
    for _ in range(3 * standstill.CREDIT):
        if comm.rank == 0:
            time.sleep(0.03)
        comm.Barrier()
    return comm._standstill.unheard[1 - comm.rank]


def said(wait, *by, least=1):
    return {"wait": wait, "by": list(by), "least": least}


@pytest.mark.parametrize(
    ("ranks", "stuck"),
    [
        ([said(1, (1, 2)), said(2, (0, 1))], [0, 1]),
        ([said(1, (1, 2)), said(2)], []),  # the other one waits for somebody at work
        ([said(1, (1, 2)), said(3, (0, 1))], []),  # the other one waits for something else by now
        ([said(1, (1, 2), (2, 3)), said(2), said(3, (0, 1))], [0, 2]),
        ([said(1, (1, 2), (2, 3), least=2), said(2), said(3, (0, 1))], []),
        ([said(1, (1, 2), (2, 3), least=2), said(2, (0, 1)), said(3, (0, 1))], [0, 1, 2]),
        ([said(1, (1, 2)), said(2, (2, 3)), said(3, (3, 4)), said(4, (1, 2))], [0, 1, 2, 3]),
        ([said(1, (0, 1)), said(2, (0, 1)), said(3)], [0, 1]),
    ],
)
def test_who_is_kept_waiting(ranks, stuck):
    assert sorted(kept_waiting(dict(enumerate(ranks)))) == stuck


@pytest.mark.parametrize("how", ["by an error", "at its end"])
def test_ranks_that_wait_for_one_whose_process_has_ended_are_told(how):
    """A script of the user's own, where nobody tells the others of an error; no process is left."""
    begin = time.perf_counter()
    done = run_mpi(__file__, "end_before_the_others", 3, how, check=False)
    assert done.returncode != 0
    assert "rank 0 waits for rank" in done.stdout
    assert "rank 1 has ended" in done.stdout
    assert ("ValueError: negative width" in done.stdout) == (how == "by an error")
    assert time.perf_counter() - begin < 60


def end_before_the_others(pool, how):
    comm = MPI(blocking=True)
    if comm.rank == 1:
        if how == "by an error":
            raise ValueError("negative width")
        return
    comm.Allreduce(np.ones(SHORT))


def test_a_sum_that_takes_long_to_arrive_is_no_standstill():
    """Rank 0 waits for the numbers of a sum that all have begun, after which it sends; it has begun another one, too."""
    assert run_mpi(__file__, "wait_for_numbers", 2) == [True, True]


def wait_for_numbers(pool):
    polling.DOUBTFUL = 0.01
    comm = pool.checkout()
    first = comm.Iallreduce(np.ones(SHORT))
    while not first.doubt.settled:
        first.Test()
    arrives, first.pending.has_ended = time.perf_counter() + 0.5, lambda: time.perf_counter() > arrives
    if comm.rank == 0:
        second = comm.Iallreduce(np.ones(SHORT))
        first.Wait()
        comm.Send(np.ones(3), 1)
    else:
        comm.Recv(np.ones(3), 0)
        first.Wait()
        second = comm.Iallreduce(np.ones(SHORT))
    second.Wait()
    return True


@pytest.mark.parametrize("late", [0, 1])
def test_processes_that_end_one_after_the_other_end_well(late):
    """What one has sent before its end arrives after it."""
    done = run_mpi(__file__, "end_late", 2, late, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "")


def end_late(pool, late):
    comm, received = MPI(blocking=True), np.zeros(3)
    if comm.rank != late:
        comm.Send(np.ones(3), late)
        return
    time.sleep(1)
    comm.Recv(received, 1 - late)
    assert received.all()
