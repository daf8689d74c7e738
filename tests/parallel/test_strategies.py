"""Broadcast, all-reduce and the check of replicas: one body over threads and MPI."""

import functools
import traceback
from types import SimpleNamespace

import numpy as np
import pytest

from dtnn.comm import Mismatch, Serial, collectives, run_threads
from dtnn.comm.agreement import agree, first_difference, who_says_what
from dtnn.parallel import AllReduce, OutOfSync, broadcast, in_sync
from tests.comm.mpi_job import run_mpi

ROOM, GAP = 5, 3  # numbers behind the trainable gradients; numbers between segments


class Flat:
    """What a network's `Parameters` are to this room: flat vectors with named segments (tests of nn's own are elsewhere)."""

    def __init__(self, seed=0, names=("conv2d_1.weight", "conv2d_1.bias", "linear_1.weight"), dtype=np.float32):
        rng = np.random.default_rng(seed)
        self.trainable = 0
        self.segments = []
        for name, shape in zip(names, [(4, 1, 3, 3), (4,), (7, 5)]):
            size = int(np.prod(shape))
            self.segments.append(SimpleNamespace(name=name, start=self.trainable, size=size, shape=shape, trainable=True))
            self.trainable += size + GAP
        self.value = rng.standard_normal(self.trainable + ROOM).astype(dtype)
        self.grad = rng.standard_normal(self.trainable + ROOM + 10).astype(dtype)
        self.buffers = {"batch_norm_1.mean": rng.standard_normal(4).astype(dtype)}

    def reduced(self, count=0):
        return self.grad[: self.trainable + count]

    def take_over(self):
        """Nobody has put other arrays in their place."""

    def hash(self, buffers=()):
        import hashlib

        return hashlib.sha256(b"".join([self.value.tobytes(), *(self.buffers[name].tobytes() for name in buffers)])).hexdigest()


def sum_by_gathering(comm, array):
    """What a user may write in a notebook cell."""
    everyone = comm.Gather(array)
    if comm.rank == 0:
        array[:] = everyone.sum(axis=0)
    comm.Bcast(array)


STRATEGIES = [
    AllReduce(),
    AllReduce(bucket_bytes=20),
    AllReduce(bucket_bytes=100),
    AllReduce(bucket_bytes=100, overlap=True),
    AllReduce(bucket_bytes=10**9, overlap=True),
    *(AllReduce(name) for name in collectives.ALGORITHMS),
    AllReduce("ring", bucket_bytes=64),
    AllReduce(collectives.ring),
    AllReduce(sum_by_gathering, bucket_bytes=100),
]


def starts_from_rank_0(comm):  # case 39
    parameters = Flat(seed=comm.rank)
    broadcast(comm, parameters)
    np.testing.assert_array_equal(parameters.value, Flat(seed=0).value)
    np.testing.assert_array_equal(parameters.buffers["batch_norm_1.mean"], Flat(seed=0).buffers["batch_norm_1.mean"])
    in_sync(comm, parameters)


def sums_gradient_and_tail(comm):
    for strategy in STRATEGIES:
        for tail in (0, 1, ROOM):
            parameters = Flat(seed=comm.rank)
            before = parameters.grad.copy()
            handed = strategy.reduce(comm, parameters, tail)
            total = sum(Flat(seed=rank).grad.astype(np.float64) for rank in range(comm.size))
            count = parameters.trainable + tail
            np.testing.assert_allclose(parameters.grad[:count], total[:count], rtol=0, atol=1e-5)
            np.testing.assert_array_equal(parameters.grad[count:], before[count:])
            assert handed == (count * 4 if comm.size > 1 else 0)


def sums_to_the_same_bits(comm):  # case 28
    for strategy in STRATEGIES:
        parameters = Flat(seed=comm.rank)
        for _ in range(5):
            strategy.reduce(comm, parameters, 2)
            parameters.grad *= np.float32(0.3)
        parameters.value[: parameters.trainable] = parameters.grad[: parameters.trainable]
        parameters.value[parameters.trainable :] = 0
        in_sync(comm, parameters)


def notices_one_changed_bit(comm):  # case 28
    for odd in range(comm.size):
        parameters = Flat()
        in_sync(comm, parameters)
        if comm.size == 1:
            return
        if comm.rank == odd:
            place = parameters.segments[2].start + 11
            parameters.value[place] = np.nextafter(parameters.value[place], np.float32(9))
            parameters.value[parameters.segments[2].start + 20] += 1
        with pytest.raises(OutOfSync) as caught:
            in_sync(comm, parameters)
        assert "linear_1.weight" in str(caught.value)
        assert f"rank {odd}: " in str(caught.value)
        assert "broadcast()" in str(caught.value)


def notices_numbers_beside_the_parameters(comm):
    if comm.size == 1:
        return
    parameters = Flat()
    if comm.rank == 0:
        parameters.value[parameters.segments[0].size] += 1
    with pytest.raises(OutOfSync, match="beyond a parameter's end"):
        in_sync(comm, parameters)


def refuses_different_networks(comm):  # case 27
    if comm.size == 1:
        return
    last = comm.size - 1
    swapped = ("conv2d_1.weight", "linear_9.bias", "linear_1.weight")
    parameters = Flat(seed=comm.rank, names=swapped) if comm.rank == last else Flat(seed=comm.rank)
    before = parameters.value.copy()
    with pytest.raises(Mismatch) as caught:
        broadcast(comm, parameters)
    for words in (f"rank {last}: linear_9.bias float32 (4,)", "conv2d_1.bias float32 (4,)", "parameter 2", "same layers"):
        assert words in str(caught.value)
    np.testing.assert_array_equal(parameters.value, before)


def refuses_networks_of_different_length_or_type(comm):
    if comm.size == 1:
        return
    with pytest.raises(Mismatch, match=r"parameter 4: .*nothing any more"):
        broadcast(comm, shorter(Flat()) if comm.rank == 0 else Flat())
    with pytest.raises(Mismatch, match=r"rank 0: conv2d_1.weight float64 \(4, 1, 3, 3\)"):
        broadcast(comm, Flat(dtype=np.float64) if comm.rank == 0 else Flat())


def shorter(parameters):
    parameters.buffers = {}
    return parameters


def finds_out_who_says_what(comm):
    assert agree(comm, 2**64 - 1)
    assert agree(comm, comm.rank) == (comm.size == 1)
    assert first_difference(comm, [3, 4, 2**63]) is None
    assert first_difference(comm, [3, 4, comm.rank, 5]) == (2 if comm.size > 1 else None)
    assert first_difference(comm, [3] * (comm.rank + 1)) == (1 if comm.size > 1 else None)
    assert who_says_what(comm, "ä") == ("rank 0: ä" if comm.size == 1 else f"ranks {', '.join(map(str, range(comm.size)))}: ä")


CHECKS = [
    starts_from_rank_0,
    sums_gradient_and_tail,
    sums_to_the_same_bits,
    notices_one_changed_bit,
    notices_numbers_beside_the_parameters,
    refuses_different_networks,
    refuses_networks_of_different_length_or_type,
    finds_out_who_says_what,
]
checks = pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)


@checks
def test_alone(check):
    check(Serial())


@checks
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_threads(check, size):
    run_threads(check, size)


@checks
@pytest.mark.parametrize("size", [2, 3])
def test_mpi(check, size):
    for rank, found in enumerate(results(size)):
        assert found[check.__name__] == "right", f"rank {rank}"


@functools.cache
def results(size):
    return run_mpi(__file__, "run_all", size)


def run_all(pool):
    return {check.__name__: outcome(check, pool.checkout()) for check in CHECKS}


def outcome(check, comm):
    try:
        check(comm)
        return "right"
    except Exception:
        return traceback.format_exc()


def test_buckets_are_all_of_the_vector_from_the_back():
    region = np.arange(10.0)
    buckets = AllReduce(bucket_bytes=24).buckets(region)
    assert [bucket.tolist() for bucket in buckets] == [[7, 8, 9], [4, 5, 6], [1, 2, 3], [0]]
    assert all(bucket.base is region for bucket in buckets), "views, not copies"
    assert AllReduce().buckets(region[:0]) == []


def test_small_gradients_go_out_whole():
    assert len(AllReduce().buckets(np.zeros(61_706, np.float32))) == 1


@pytest.mark.parametrize("value", [0, -5])
def test_bucket_bytes_must_be_positive(value):
    with pytest.raises(ValueError, match=f"bucket_bytes={value}.*at least 1"):
        AllReduce(bucket_bytes=value)


def test_gradients_of_a_network_are_summed_by_layer():
    nn = pytest.importorskip("dtnn.nn")

    def job(comm):
        net = nn.Sequential(nn.Linear(5), nn.Linear(3))
        net.build((4,), np.random.default_rng(comm.rank))
        parameters = nn.Parameters(net)
        broadcast(comm, parameters)
        parameters.grad[:] = 0
        net.layers[1].weight.grad[:] = comm.rank + 1
        tail = parameters.tail(2)
        tail[:] = 0.5, comm.rank
        AllReduce(bucket_bytes=64).reduce(comm, parameters, 2)
        in_sync(comm, parameters)
        return net.layers[1].weight.grad.copy(), net.layers[0].weight.grad.copy(), tail.copy()

    for second, first, tail in run_threads(job, 3):
        np.testing.assert_array_equal(second, np.full((3, 5), 6))
        np.testing.assert_array_equal(first, np.zeros((5, 4)))
        np.testing.assert_array_equal(tail, [1.5, 3])


def test_own_algorithm_does_not_touch_the_tail():
    def job(comm):
        parameters = Flat(seed=comm.rank)
        parameters.grad[:] = comm.rank + 1
        AllReduce(lambda comm, array: array.fill(-1)).reduce(comm, parameters, 2)
        return parameters.reduced(2).copy()

    for region in run_threads(job, 3):
        np.testing.assert_array_equal(region[-2:], [6, 6])
        np.testing.assert_array_equal(region[:-2], np.full(len(region) - 2, -1))


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: AllReduce("rign"), ValueError, ["'rign'", "did you mean 'ring'?"]),
        (lambda: AllReduce("zzzz"), ValueError, ["'zzzz'", "there are", "rabenseifner"]),
        (
            lambda: AllReduce("check_allreduce"),
            ValueError,
            ["AllReduce's algorithm='check_allreduce'", "not known"],
        ),
        (lambda: AllReduce(25_000_000), TypeError, ["25000000", "function"]),
        (lambda: AllReduce("ring", overlap=True), ValueError, ["'ring'", "overlap=False"]),
    ],
)
def test_mistakes_are_told(make, error, words):
    with pytest.raises(error) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
