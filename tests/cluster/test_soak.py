"""Three minutes of mixed failures, 200 runs of which every second is interrupted, and nothing left."""

import random
import time

import pytest

from dtnn.cluster import Cluster

from .conftest import needs_mpi
from .soak import LONG, main, right, sums

pytestmark = [needs_mpi, pytest.mark.slow, pytest.mark.processes]


@pytest.mark.limit(400)
def test_three_minutes_of_mixed_failures(alone):
    seed = random.randrange(10**6)  # another each time; it is printed where the test fails
    print(f"python -m tests.cluster.soak 180 {seed}")
    ended = main(180, seed)
    assert len(ended) >= 7, ended


@pytest.mark.limit(300)
def test_of_200_runs_every_second_is_interrupted_and_the_others_sums_are_right(alone):
    chance, took = random.Random(5), []
    with Cluster(2, on_wait=False) as cluster:
        for number in range(100):
            run = cluster.run(sums, number, LONG)
            time.sleep(chance.random() * chance.choice([0.001, 0.02, 0.1]))
            began = time.monotonic()
            run.interrupt()
            assert run.wait(30), run
            took.append(time.monotonic() - began)
            assert (cluster.run(sums, number, 5).result(30) == right(number, 5)).all(), number
    print(f"the longest interrupt took {max(took):.2f} s, half of them less than {sorted(took)[50]:.3f} s")
    assert max(took) < 10  # the promise is 3 s; a machine that others use gets some more
