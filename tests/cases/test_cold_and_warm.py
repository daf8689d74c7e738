"""Kernels that were just compiled and kernels from the disk give the same bits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIGEST = """
from dtnn.comm import run_threads
from dtnn.optim import LARS
from dtnn.parallel import AllReduce
from tests.training.test_deterministic import bits
print(run_threads(bits, 2, AllReduce())[0], run_threads(lambda comm: bits(comm, AllReduce(), optimizer=LARS(0.1)), 2)[0])
"""


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.limit(300)
def test_a_training_is_the_same_with_an_empty_and_with_a_full_cache(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    environment.pop("DTNN_CACHE_DIR", None)
    cold, warm = (
        subprocess.run([sys.executable, "-c", DIGEST], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert len(cold.split()) == 2
    assert cold == warm
