"""What every communicator must do, as functions of one: each raises when it doesn't."""

import gc

import numpy as np
import pytest

from dtnn.comm import Mismatch

DTYPES = ["f2", "f4", "f8", "i1", "u1", "i4", "i8", "c16"]


def expected_sum(comm, make):
    """The sum of what `make(rank)` gives over all ranks."""
    return sum(make(rank) for rank in range(comm.size))


def sums_any_type(comm):
    for dtype in DTYPES:
        array = np.arange(1, 8).astype(dtype) + np.array(comm.rank, dtype)
        total = expected_sum(comm, lambda rank, dtype=dtype: np.arange(1, 8).astype(dtype) + np.array(rank, dtype))
        assert comm.Allreduce(array) is array
        assert array.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(array, total)


def finds_extremes(comm):
    array = np.array([comm.rank, -comm.rank, 2.5])
    np.testing.assert_array_equal(comm.Allreduce(array.copy(), "max"), [comm.size - 1, 0, 2.5])
    np.testing.assert_array_equal(comm.Allreduce(array.copy(), "min"), [0, 1 - comm.size, 2.5])
    flags = np.array([comm.rank == 0, True, False])
    np.testing.assert_array_equal(comm.Allreduce(flags.copy(), "max"), [True, True, False])
    np.testing.assert_array_equal(comm.Allreduce(flags.copy(), "min"), [comm.size == 1, True, False])


def finds_extremes_beside_what_has_no_order(comm):
    """Bit for bit the same on all ranks: NaN wherever one rank has it, and one zero."""

    def row(rank, zero):
        last = rank == comm.size - 1
        return [np.nan, -np.inf, np.inf, 1.0, zero, 7.0] if last else [1.0, rank, rank, np.nan, -zero, 7.0]

    for op, zero, found in (("max", -0.0, np.max), ("min", 0.0, np.min)):
        right = found([row(rank, zero) for rank in range(comm.size)], axis=0)
        for dtype, shape in (("f2", (6,)), ("f4", (2, 3)), ("f8", (6, 1)), ("f8", (6,))):
            array = np.asfortranarray(np.array(row(comm.rank, zero), dtype).reshape(shape))
            comm.Allreduce(array, op) if shape == (6,) else comm.Iallreduce(array, op).Wait()
            np.testing.assert_array_equal(array.reshape(-1), right.astype(dtype))
            everybody = comm.Gather(array)
            assert comm.rank or len({one.tobytes() for one in everybody}) == 1
    assert np.isnan(comm.Allreduce(np.nan if comm.rank == 0 else 1.0, "max"))


def adds_up_what_a_masked_array_hides(comm):
    array = np.ma.masked_array(np.array([1.0, 2.0]), [False, True])
    comm.Allreduce(array)
    np.testing.assert_array_equal(array.data, [comm.size, 2 * comm.size])


def adds_transposed_elements(comm):  # case 20, with the numbers of the report
    x = np.arange(12).reshape(3, 4)
    array = x.copy().T
    comm.Allreduce(array)
    np.testing.assert_array_equal(array, comm.size * x.T)


def takes_numbers(comm):  # case 23
    for value in (1.5, 2, np.float64(1.5), np.int64(2)):
        total = comm.Allreduce(value)
        assert type(total) is (float if isinstance(value, float) else int)
        assert total == comm.size * value
    scalar = np.array(2.0)
    assert comm.Allreduce(scalar) is scalar
    assert scalar == 2.0 * comm.size


def reduces_empty_arrays(comm):
    for shape in ((0,), (3, 0)):
        array = np.empty(shape, np.float32)
        assert comm.Allreduce(array) is array
        comm.Bcast(array)
        assert array.shape == shape


def random_layout(rng, dtype):
    """An array of any layout within a larger one, and the larger one: what lies between must not change."""
    shape = rng.integers(1, 5, rng.integers(0, 4))
    owner = np.zeros([3 * n + 3 for n in shape], dtype, order=rng.choice(["C", "F"]))
    steps = [slice(int(rng.integers(0, 2)), None, int(rng.integers(1, 4))) for _ in shape]
    view = owner[(*steps, ...)]
    view = view[(*(slice(None, None, int(rng.choice([-1, 1]))) for _ in shape), ...)]
    return np.transpose(view, rng.permutation(view.ndim)), owner


def keeps_any_layout(comm):  # cases 20, 21
    rng = np.random.default_rng(0)
    for _ in range(100):
        view, owner = random_layout(rng, rng.choice(["f4", "f8", ">f4", "i8"]))
        values = rng.integers(-9, 9, view.shape)
        for verb, right in (
            (comm.Allreduce, values * expected_sum(comm, lambda rank: rank + 1)),
            (lambda array: comm.Iallreduce(array).Wait(), values * expected_sum(comm, lambda rank: rank + 1)),
            (lambda array: comm.Bcast(array, comm.size - 1), values * comm.size),
        ):
            owner[...] = 99
            view[...] = values * (comm.rank + 1)
            verb(view)
            np.testing.assert_array_equal(view, right)
            view[...] = 99
            assert (owner == 99).all(), "something beside the array was written to"


def sends_any_layout(comm):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    x = np.arange(24.0).reshape(2, 3, 4)
    for arrange in (np.ascontiguousarray, np.asfortranarray, np.transpose, lambda a: a[:, ::-1], lambda a: a[..., ::2]):
        received = arrange(np.zeros_like(x))
        comm.Sendrecv(arrange(x * (comm.rank + 1)), right, received, left)
        np.testing.assert_array_equal(received, arrange(x * (left + 1)))
        stacked = comm.Gather(arrange(x * (comm.rank + 1)), root=comm.size - 1)
        if comm.rank == comm.size - 1:
            np.testing.assert_array_equal(stacked, np.stack([arrange(x * (rank + 1)) for rank in range(comm.size)]))
        else:
            assert stacked is None


def sends_along_a_chain(comm):
    array = np.array([1, 2, 3])
    if comm.rank > 0:
        comm.Recv(array, comm.rank - 1, tag=5)
        array += 1
    if comm.rank < comm.size - 1:
        comm.Send(array, comm.rank + 1, tag=5)
        array[:] = -1  # the receiver's copy is its own
    else:
        np.testing.assert_array_equal(array, np.array([1, 2, 3]) + comm.size - 1)


def keeps_messages_in_order(comm):
    if comm.size == 1:
        return
    for k in range(20):
        array = np.array([k])
        if comm.rank == 0:
            comm.Send(array, 1)
        elif comm.rank == 1:
            array[:] = -1
            comm.Recv(array, 0)
            assert array[0] == k


def serves_whoever_comes(comm):
    if comm.size == 1:
        return
    if comm.rank:
        for k in range(3):
            comm.Send(np.array([10 * comm.rank + k]), 0, tag=7)
        comm.Barrier()
        return
    served, array = [], np.zeros(1, int)
    for _ in range(3 * (comm.size - 1)):
        source = comm.Probe(tag=7)
        assert comm.Probe(tag=7) == source, "nothing was received meanwhile"
        comm.Recv(array, source, tag=7)
        served.append(int(array[0]))
    assert sorted(served) == [10 * rank + k for rank in range(1, comm.size) for k in range(3)]
    for rank in range(1, comm.size):
        assert [n % 10 for n in served if n // 10 == rank] == [0, 1, 2], "in order"
    comm.Barrier()


def exchanges_different_shapes(comm):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    received = np.zeros(left + 1)
    comm.Sendrecv(np.full(comm.rank + 1, float(comm.rank)), right, received, left)
    assert (received == left).all()


def broadcasts_from_any_rank(comm):
    for root in range(comm.size):
        array = np.full((2, 3), comm.rank, np.float32)
        assert comm.Bcast(array, root) is array
        assert (array == root).all()


def waits_in_any_order(comm):
    arrays = [np.full(100, float(k + comm.rank)) for k in range(6)]
    requests = [comm.Iallreduce(array) for array in arrays]
    for k in np.random.default_rng(comm.rank).permutation(6):  # another order on each rank
        requests[k].Wait()
        requests[k].Wait()  # a second one returns at once
    for k, array in enumerate(arrays):
        assert (array == expected_sum(comm, lambda rank, k=k: k + rank)).all()


def moves_when_asked(comm):
    array = np.full(1000, 1.0)
    request = comm.Iallreduce(array)
    while not request.Test():
        pass
    assert request.Test()
    assert (array == comm.size).all()


def keeps_what_is_under_way(comm):  # case 26
    owner = np.ones((50, 40), np.float32)
    request = comm.Iallreduce(owner.T[::2])  # nobody but the request knows the view and its copy
    gc.collect()
    waste = [np.full((20, 50), 7.0, np.float32) for _ in range(50)]
    request.Wait()
    assert (owner[:, ::2] == comm.size).all()
    assert (owner[:, 1::2] == 1).all()
    assert len(waste) == 50


def gives_all_ranks_the_same_bits(comm):  # case 29
    rng = np.random.default_rng(comm.rank)
    for size in (1, 7, 1003, 70_000):
        array = (rng.standard_normal(size) * 10.0 ** rng.integers(-6, 6, size)).astype(np.float32)
        exact = comm.Allreduce(array.astype(np.float64))
        largest = comm.Allreduce(np.abs(array).astype(np.float64), "max")
        comm.Allreduce(array)
        np.testing.assert_allclose(array, exact, rtol=0, atol=float(largest.max()) * comm.size * 2e-7)
        everyone = comm.Gather(array)
        if comm.rank == 0:
            assert (everyone.view(np.uint32) == everyone[0].view(np.uint32)).all()
    if comm.size == 4:
        array = np.array([[1e8], [1], [-1e8], [1]], np.float32)[comm.rank]
        assert comm.Allreduce(array)[0] in (0, 1, 2)


def is_deterministic(comm):
    results = []
    for _ in range(3):
        array = np.random.default_rng(comm.rank).standard_normal(5003).astype(np.float32)
        results.append(comm.Allreduce(array).copy())
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()


def counts_bytes(comm):
    before = comm.bytes
    comm.Allreduce(np.zeros(10, np.float32))
    comm.Bcast(np.zeros(5, np.float64))
    assert comm.bytes - before == (80 if comm.size > 1 else 0)


def refuses_what_it_cannot_carry(comm):
    read_only, there = np.zeros(3), f"0 to {comm.size - 1}" if comm.size > 1 else "one rank"
    read_only.flags.writeable = False
    for call, error, words in (
        (lambda: comm.Allreduce(np.zeros(3), "mean"), ValueError, ("'mean'", "'sum'")),
        (lambda: comm.Allreduce([1.0, 2.0]), TypeError, ("list", "np.array")),
        (lambda: comm.Allreduce(np.array(["a"])), TypeError, ("<U1", "numbers")),
        (lambda: comm.Allreduce(np.array([True])), TypeError, ("booleans", "max")),
        (lambda: comm.Allreduce(read_only), ValueError, ("(3,)", "read-only", "copy")),
        (lambda: comm.Allreduce(np.zeros(2, complex), "max"), TypeError, ("complex", "max")),
        (lambda: comm.Bcast(np.zeros(3), root=9), ValueError, ("root=9", there)),
        (lambda: comm.Send(np.zeros(3), -1), ValueError, ("dest=-1", there)),
        (lambda: comm.Recv(np.zeros(3), comm.size), ValueError, (f"source={comm.size}",)),
        (lambda: comm.Allreduce(None), TypeError, ("NoneType", "np.array")),
        (lambda: comm.Iallreduce(1.0), TypeError, ("float", "np.array")),
        (lambda: comm.Sendrecv(np.zeros(3), 0, np.zeros(3), 0, -1), ValueError, ("tag=-1", "at least 0")),
        (lambda: comm.Sendrecv(np.zeros(3), 0, np.zeros(3), 0, 2**40), ValueError, (f"tag={2**40}", "at most")),
        (lambda: comm.Sendrecv(np.zeros(3), 0, np.zeros(3), 0, 1.5), TypeError, ("tag=1.5", "whole")),
        (lambda: comm.Split(-1), ValueError, ("color=-1", "at least 0")),
        (lambda: comm.Split("red"), TypeError, ("color='red'", "whole")),
        (lambda: comm.Split(0, 2**40), ValueError, (f"key={2**40}", "at most")),
    ):
        with pytest.raises(error) as caught:
            call()
        for word in words:
            assert word in str(caught.value)
    assert comm.Allreduce(1) == comm.size  # and nothing was left behind


def splits(comm):
    odd = comm.rank % 2
    part = comm.Split(odd, key=-comm.rank)
    peers = [rank for rank in range(comm.size) if rank % 2 == odd]
    assert (part.rank, part.size) == (peers[::-1].index(comm.rank), len(peers))
    for _ in range(2):
        assert part.Allreduce(comm.rank) == sum(peers)
        array = np.array([comm.rank])
        part.Bcast(array)
        assert array[0] == peers[-1]
    halves = part.Split(0 if part.rank == 0 else None)
    assert (halves is None) == (part.rank > 0)
    assert halves is None or halves.Allreduce(5) == 5
    if halves is not None:
        halves.Free()
    part.Free()
    assert comm.Allreduce(1) == comm.size


def meets(comm):
    for _ in range(5):
        assert comm.Barrier() is None


CHECKS = [
    sums_any_type,
    finds_extremes,
    finds_extremes_beside_what_has_no_order,
    adds_up_what_a_masked_array_hides,
    adds_transposed_elements,
    takes_numbers,
    reduces_empty_arrays,
    keeps_any_layout,
    sends_any_layout,
    sends_along_a_chain,
    keeps_messages_in_order,
    serves_whoever_comes,
    exchanges_different_shapes,
    broadcasts_from_any_rank,
    waits_in_any_order,
    moves_when_asked,
    keeps_what_is_under_way,
    gives_all_ranks_the_same_bits,
    is_deterministic,
    counts_bytes,
    refuses_what_it_cannot_carry,
    splits,
    meets,
]


def swapped_layers(comm):  # case 27
    shapes = [(84, 10), (6, 25)]
    for shape in shapes if comm.rank != 1 else shapes[::-1]:
        comm.Allreduce(np.zeros(shape, np.float32))


def swapped_requests(comm):
    shapes = [(84, 10), (10, 84)]  # of one length: MPI itself would add them up
    requests = [comm.Iallreduce(np.zeros(shape, np.float32)) for shape in (shapes if comm.rank != 1 else shapes[::-1])]
    for request in requests:
        while not request.Test():
            pass


def requests_of_other_lengths(comm):
    comm.Iallreduce(np.zeros(7 if comm.rank else 1_000_000)).Wait()


# What three ranks may disagree about, and what all of them must then be told; on MPI not about requests, which don't wait.
MISMATCHES = {
    "order": (swapped_layers, ["ranks 0, 2: Allreduce sum of float32 (84, 10)", "rank 1: Allreduce sum of float32 (6, 25)"]),
    "requests": (
        swapped_requests,
        ["ranks 0, 2: Allreduce sum of float32 (84, 10)", "rank 1: Allreduce sum of float32 (10, 84)"],
    ),
    "request lengths": (
        requests_of_other_lengths,
        ["0: Allreduce sum of float64 (1000000,)", "1, 2: Allreduce sum of float64 (7,)"],
    ),
    "dtype": (lambda c: c.Allreduce(np.zeros(3, "f8" if c.rank == 2 else "f4")), ["rank 2: Allreduce sum of float64 (3,)"]),
    "operation": (lambda c: c.Allreduce(np.zeros(3), "max" if c.rank else "sum"), ["0: Allreduce sum", "1, 2: Allreduce max"]),
    "root": (lambda c: c.Bcast(np.zeros(3), root=c.rank % 2), ["1: Bcast from rank 1", "0, 2: Bcast from rank 0"]),
    "verb": (lambda c: c.Gather(np.zeros(3)) if c.rank else c.Barrier(), ["0: Barrier", "1, 2: Gather to rank 0"]),
    "number": (
        lambda c: c.Allreduce(1 if c.rank else 1.0),
        ["0: Allreduce sum of float64 ()", "1, 2: Allreduce sum of int64"],
    ),
}


def mismatch_of(comm, job):
    """The text of the error that `job` must end with."""
    with pytest.raises(Mismatch) as caught:
        job(comm)
    return str(caught.value)
