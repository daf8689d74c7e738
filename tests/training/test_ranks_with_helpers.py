"""Ranks as threads whose kernels have helpers of their own: several teams at once, and the weights are those of one rank."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = """
from functools import partial
import numpy as np
from dtnn import Model, machine, nn, optim
from dtnn.comm import run_threads
from dtnn.data import samples
from dtnn.kernels import parts
from dtnn.training import train

parts.LEAST_WORK = 0  # however small
rng = np.random.default_rng(0)
rows = samples(rng.random((150, 10, 10, 2), np.float32), rng.integers(0, 3, 150))

def made(seed):
    layers = nn.Conv2d(6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3)
    return Model(*layers, input_shape=(10, 10, 2), seed=seed)

def trained(comm, threads):
    model = made(comm.rank)
    with machine.threads(threads):
        for _ in train(comm, model, rows, batch_size=32, epochs=3, optimizer=optim.SGD(0.05, momentum=0.9)):
            pass
    return model.parameters.value.copy(), list(parts.here.teams)

start = made(0).parameters.value
((alone, nobody),) = run_threads(partial(trained, threads=1), 1)
assert nobody == []
for ranks in (2, 3, 2):  # the last ones may be given the names of threads that have ended
    found = run_threads(partial(trained, threads=2), ranks)
    assert [teams for _, teams in found] == [[2]] * ranks
    for weights, _ in found:
        assert (weights == found[0][0]).all()
        assert np.linalg.norm(weights - alone) < 1e-4 * np.linalg.norm(alone - start)
print("alike")
"""


@pytest.mark.undisturbed
@pytest.mark.limit(120)
def test_teams_of_several_ranks_are_at_work_at_once():
    environment = os.environ | {"NUMBA_NUM_THREADS": "2"}
    command = [sys.executable, "-c", TRAIN]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=110, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    assert done.stdout == "alike\n"
