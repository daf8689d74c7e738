"""The benchmarks run, and check their results; how fast they are is asserted nowhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("script", "options", "key"),
    [
        ("bench_conv.py", ["--shapes", "l2", "--batch", "17", "--rounds", "5"], "gflops"),
        ("bench_step.py", ["--nets", "mlp", "--batch", "16", "--rounds", "5", "--budget", "1"], "images_per_second"),
    ],
)
def test_runs_and_writes_rows(tmp_path, script, options, key):
    rows = tmp_path / "rows.jsonl"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options, "--json", str(rows)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=55)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in rows.read_text().splitlines()]
    assert found
    assert all(row[key] > 0 for row in found)
