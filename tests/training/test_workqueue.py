"""Ranks as threads on Numba's simplest threading layer, which ends the process when two threads enter it at once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("test_ranks_are_one_rank.py")


@pytest.mark.limit(120)
def test_the_promise_holds_on_workqueue():
    environment = {**os.environ, "NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(FILE), "-k", "weights or float32"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=110, cwd=FILE.parents[2])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
