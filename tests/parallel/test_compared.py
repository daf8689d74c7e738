"""An all-reduce of one's own that is no sum ends the training before its first step, and the error says what is wrong with it."""

import dataclasses
import functools
import time
import traceback

import numpy as np
import pytest

from dtnn import Model
from dtnn.comm import Deadlock, Serial, collectives, run_threads
from dtnn.comm.collectives import WrongSum
from dtnn.nn import Linear
from dtnn.parallel import Accumulate, AllReduce, compared
from dtnn.parallel.compared import Compared
from dtnn.records import Step
from dtnn.training import train
from tests.comm.mpi_job import run_mpi
from tests.training.test_train import rows


def takes_the_mean(comm, array):
    comm.Allreduce(array)
    array /= comm.size


def only_broadcasts(comm, array):
    comm.Bcast(array)


def forgets_the_last_number(comm, array):
    comm.Allreduce(array[:-1])


def does_nothing(comm, array):
    pass


def returns_the_sum(comm, array):
    return comm.Allreduce(array.copy())


def forgets_rank_1(comm, array):
    if comm.rank == 1:
        comm.Allreduce(np.zeros_like(array))
        comm.Bcast(array)
    else:
        comm.Allreduce(array)
        comm.Bcast(array)


def halves_on_rank_1(comm, array):
    comm.Allreduce(array)
    if comm.rank == 1:
        array[3:5] *= 0.5


def sums_by_gathering(comm, array):
    everyone = comm.Gather(array)
    if comm.rank == 0:
        array[:] = everyone.sum(axis=0)
    comm.Bcast(array)


def adds_backwards(comm, array):
    """Another order than the native one, so other last bits."""
    everyone = comm.Gather(array)
    if comm.rank == 0:
        array[:] = everyone[-1]
        for row in everyone[-2::-1]:
            array += row
    comm.Bcast(array)


WRONG = {
    takes_the_mean: ["ranks 0, 1, 2: number 0 (linear_1.weight) is ", "looks like the mean: divided by 3"],
    only_broadcasts: ["number 0", "they are rank 0's, to which nothing was added"],
    forgets_the_last_number: ["rank 2: number 79 (linear_1.bias) is ", "; 1 of 80 are wrong: the last number was left as it was"],
    does_nothing: ["rank 1: number 0 (linear_1.weight)", "all were left as they were"],
    returns_the_sum: ["all were left as they were; what the function returns is not looked at: write it into the array"],
    forgets_rank_1: ["number 0", "what is missing is rank 1's part"],
    halves_on_rank_1: ["ranks 0, 2: all right; rank 1: number 3", "2 of 80 are wrong"],
}
RIGHT = [sums_by_gathering, adds_backwards, collectives.ring, collectives.tree, collectives.rabenseifner]


def network():
    """Of 4 x 16 weights and 16 biases, so that nothing lies between parameters."""
    return Model(Linear(16), input_shape=(4,))


def steps(comm, strategy):
    """How many steps a training makes."""
    return sum(isinstance(record, Step) for record in train(comm, network(), rows(12), batch_size=6, strategy=strategy))


def what_is_told(comm, function):
    """The error of a training with a wrong function; nothing is learnt before it."""
    model = network()
    with pytest.raises(WrongSum) as caught:
        list(train(comm, model, rows(12), batch_size=6, strategy=AllReduce(function)))
    assert model.steps == 0
    return str(caught.value)


@pytest.mark.parametrize("function", WRONG, ids=lambda function: function.__name__)
def test_wrong_ones_are_told(function):
    for text in run_threads(what_is_told, 3, function):
        name = function.__name__
        for words in (*WRONG[function], f"AllReduce({name}): no sum over 3 ranks", f"check_allreduce({name})"):
            assert words in text


@pytest.mark.parametrize("function", RIGHT, ids=lambda function: function.__name__)
def test_right_ones_train(function):
    assert run_threads(steps, 3, AllReduce(function)) == [2, 2, 2]


def test_over_mpi():
    for found in run_mpi(__file__, "over_mpi", 3):
        for function, expected in WRONG.items():
            for words in expected:
                assert words in found[function.__name__]
        assert [found[function.__name__] for function in RIGHT] == [2] * len(RIGHT)


def over_mpi(pool):
    found = {}
    for functions, job in ((WRONG, what_is_told), (RIGHT, lambda comm, function: steps(comm, AllReduce(function)))):
        for function in functions:
            try:
                found[function.__name__] = job(pool.checkout(), function)
            except Exception:
                found[function.__name__] = traceback.format_exc()
    return found


def test_the_last_number_counts_where_it_belongs_to_no_parameter():
    def job(comm):
        model = Model(Linear(3), input_shape=(4,))
        with pytest.raises(WrongSum) as caught:
            list(train(comm, model, rows(12), batch_size=6, strategy=AllReduce(forgets_the_last_number)))
        return str(caught.value)

    for text in run_threads(job, 2):
        assert "rank 0: number 31 is 1 where the sum is 3; 1 of 32 are wrong: the last number" in text


@pytest.mark.parametrize("wrap", [lambda strategy: Accumulate(2, strategy), lambda strategy: strategy])
def test_strategies_around_it_and_buckets_are_looked_at_too(wrap):
    def job(comm):
        with pytest.raises(WrongSum, match="divided by 2"):
            steps(comm, wrap(AllReduce(takes_the_mean, bucket_bytes=100)))

    run_threads(job, 2)


def test_it_is_tried_twice_for_each_length():
    def job(comm):
        calls = []

        def noted(comm, array):
            calls.append(array.size)
            comm.Allreduce(array)

        steps(comm, AllReduce(noted, bucket_bytes=200))
        return calls

    lengths = [50, 50, 50, 30, 30, 30, 50, 30]  # each twice more in the first step
    assert run_threads(job, 2) == [lengths] * 2


def test_what_is_wrong_on_purpose_may_be_trained_with():
    assert run_threads(steps, 3, AllReduce(takes_the_mean, checked=False)) == [2, 2, 2]
    with pytest.raises(TypeError, match=r"checked=1.*True or False"):
        AllReduce(takes_the_mean, checked=1)


def test_one_rank_has_nothing_to_compare():
    assert steps(Serial(), AllReduce(takes_the_mean)) == 2


@dataclasses.dataclass
class Flat:
    grad: np.ndarray
    segments: tuple = ()


@pytest.mark.parametrize("ranks", [2, 5, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", collectives.ALGORITHMS)
def test_rounding_is_no_mistake(name, dtype, ranks):
    """Numbers over 12 decades, which cancel."""

    def job(comm):
        rng = np.random.default_rng([comm.rank, 7])
        array = (rng.standard_normal(4003) * 10.0 ** rng.uniform(-6, 6, 4003)).astype(dtype)
        array[:9] = 0, np.nan, np.inf, -np.inf, np.finfo(dtype).max, -np.finfo(dtype).max, np.finfo(dtype).tiny, 1e-45, -0.0
        with np.errstate(all="ignore"):
            Compared(getattr(collectives, name), Flat(array))(comm, array)

    run_threads(job, ranks)


@pytest.mark.parametrize("wrong_by", [2e-6, 1e-3])
def test_a_small_mistake_is_more_than_rounding(wrong_by):
    def job(comm):
        array = np.full(5, 1.0, np.float32)

        def off(comm, array):
            comm.Allreduce(array)
            array[2] *= np.float32(1 + wrong_by)

        with pytest.raises(WrongSum, match=r"number 2 is .* where the sum is 4; 1 of 5 are wrong"):
            Compared(off, Flat(array))(comm, array)

    run_threads(job, 4)


def test_long_gradients_are_compared_in_parts(monkeypatch):
    monkeypatch.setattr(compared, "AT_ONCE", 10)

    def job(comm, function, words):
        array = np.ones(25, np.float32)
        with pytest.raises(WrongSum, match=words):
            Compared(function, Flat(array))(comm, array)

    run_threads(job, 2, forgets_the_last_number, r"number 24 is 1 where the sum is 2; 1 of 5 are wrong: the last number was left")
    run_threads(job, 2, functools.partial(only_on, 13), r"number 13 is 9 where the sum is 2; 1 of 10 are wrong\.")


def only_on(place, comm, array):
    comm.Allreduce(array)
    array[place] = 9


def sends_twice(comm, array):
    """MPI lets a rank go that has sent a short array; of two messages one is left over."""
    other = np.empty_like(array)
    for _ in range(2):
        comm.Send(array, 1 - comm.rank)
    comm.Recv(other, 1 - comm.rank)
    array += other


@pytest.mark.undisturbed
@pytest.mark.parametrize("blocking", [False, True], ids=["polled", "blocking"])
def test_a_message_that_is_left_over_for_the_next_call_is_told(blocking):
    for text in run_mpi(__file__, "leave_one_over", 2, blocking):
        assert "AllReduce(sends_twice): no sum over 2 ranks" in text


def leave_one_over(pool, blocking):
    return what_is_told(pool.checkout(blocking=blocking), sends_twice)


def only_receives(comm, array):
    """Nobody sends."""
    comm.Recv(np.empty_like(array), (comm.rank + 1) % comm.size)


def receives_where_others_sum(comm, array):
    """As if rank 1 had taken another branch."""
    only_receives(comm, array) if comm.rank == 1 else comm.Allreduce(array)


IN_VAIN = {
    only_receives: ["rank 0 waits to receive float32 (80,) from rank 1", "rank 1 waits to receive float32 (80,) from rank 2"],
    receives_where_others_sum: ["rank 0 waits for rank 1", "join in Allreduce sum of float32 (80,)", "rank 1 waits to receive"],
}


@pytest.mark.parametrize("blocking", [False, True], ids=["polled", "blocking"])
def test_ranks_that_wait_for_each_other_over_mpi_are_told_before_anything_is_learnt(blocking):  # case 27
    for found in run_mpi(__file__, "wait_in_vain", 3, blocking):
        for function, (text, seconds, steps) in found.items():
            assert text.endswith("none of them can go on")
            assert any(words in text for words in IN_VAIN[globals()[function]])
            assert (seconds < 5, steps) == (True, 0)


def wait_in_vain(pool, blocking):
    found = {}
    for function in IN_VAIN:
        comm, model, begin = pool.checkout(blocking=blocking), network(), time.perf_counter()
        with pytest.raises(Deadlock) as caught:
            list(train(comm, model, rows(12), batch_size=6, strategy=AllReduce(function)))
        found[function.__name__] = str(caught.value), time.perf_counter() - begin, model.steps
        time.sleep(0.5)  # what the others need to find out by themselves
    return found
