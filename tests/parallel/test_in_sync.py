"""Replicas that differ in a single bit are found, and so are running statistics."""

import numpy as np
import pytest

from dtnn.comm import run_threads
from dtnn.nn import BatchNorm1d, Linear, Parameters, Sequential
from dtnn.nn.fingerprint_of import fingerprint_of
from dtnn.parallel.in_sync import OutOfSync, in_sync


def parameters():
    net = Sequential(Linear(3), BatchNorm1d())
    net.build((2,), np.random.default_rng(0))
    return Parameters(net)


def test_equal_ones_are_in_sync():
    run_threads(lambda comm: in_sync(comm, (p := parameters()), p.buffers), 3)


@pytest.mark.parametrize("name", [s.name for s in parameters().segments])
def test_one_bit_of_one_parameter_is_named(name):
    def job(comm):
        p = parameters()
        segment = next(s for s in p.segments if s.name == name)
        if comm.rank == 1:
            p.value.view(np.uint32)[segment.start + segment.size - 1] ^= 1
        in_sync(comm, p)

    with pytest.raises(OutOfSync, match=f"first in {name}"):
        run_threads(job, 3)


def test_running_statistics_count_if_they_are_asked_for():
    def job(comm, asked):
        p = parameters()
        p.buffers["batchnorm1d_1.running_var"][2] += comm.rank
        in_sync(comm, p, p.buffers if asked else ())

    run_threads(lambda comm: job(comm, False), 2)
    with pytest.raises(OutOfSync, match=r"the running statistic batchnorm1d_1\.running_var"):
        run_threads(lambda comm: job(comm, True), 2)


def test_two_statistics_that_were_exchanged_count():
    p, q = parameters(), parameters()
    (mean, variance), names = q.buffers.values(), list(q.buffers)
    mean[:], variance[:] = variance.copy(), mean.copy()
    assert fingerprint_of(p) == fingerprint_of(q)
    assert fingerprint_of(p, names) != fingerprint_of(q, names)
