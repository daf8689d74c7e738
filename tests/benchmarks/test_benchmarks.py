"""The benchmarks run, and check their results; how fast they are is asserted nowhere."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")


def rows(folder, script, *options):
    """What a benchmark writes, run as the README says but with its smallest settings."""
    file = folder / "rows.jsonl"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options, "--json", str(file)]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=55)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") > 0
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_all_are_here():
    assert {path.name for path in (ROOT / "benchmarks").glob("bench_*.py")} == {
        "bench_compile.py", "bench_conv.py", "bench_inference.py", "bench_memory.py", "bench_step.py", "bench_threads.py",
        "bench_trace.py",
    }  # fmt: skip


def test_conv(tmp_path):
    found = rows(tmp_path, "bench_conv.py", "--shapes", "l2", "--batch", "17", "--rounds", "5")
    assert {row["operation"] for row in found} == {"forward", "data", "filter"}
    assert {"direct", "im2col"} <= {row["algorithm"] for row in found}
    assert all(row["gflops"] > 0 and row["peak"] > 0 for row in found)


def test_step(tmp_path):
    (found,) = rows(tmp_path, "bench_step.py", "--nets", "mlp", "--batch", "16", "--rounds", "5", "--budget", "1")
    assert found["net"] == "mlp"
    assert found["images_per_second"] > 0


def test_inference(tmp_path):
    found = rows(tmp_path, "bench_inference.py", "--nets", "mlp", "--batches", "1,20", "--rounds", "5", "--budget", "1")
    assert [(row["net"], row["batch"]) for row in found] == [("mlp", 1), ("mlp", 20)]
    assert all(row["images_per_second"] > 0 and row["dtnn_us"] > 0 for row in found)


def test_threads(tmp_path):
    found = rows(tmp_path, "bench_threads.py", "--nets", "mlp", "--batch", "16", "--rounds", "4")
    assert [row["threads"] for row in found] == [1, 2]
    assert all(row["seconds"] > 0 for row in found)


def test_trace(tmp_path):
    (found,) = rows(tmp_path, "bench_trace.py", "--net", "mlp", "--batch", "16", "--rounds", "5", "--budget", "1")
    assert found["spans"] > 10
    assert found["default_share"] < 0.02


def test_compile(tmp_path):
    (found,) = rows(tmp_path, "bench_compile.py", "--nets", "mlp")
    assert found["kernels"] > 3  # were compiled in the cold process
    assert min(found["cold"], found["warm"], found["step"]) > 0


@needs_torch
def test_memory(tmp_path):
    own, *others = rows(tmp_path, "bench_memory.py", "--nets", "mlp", "--batch", "16")
    assert [row["who"] for row in (own, *others)] == ["dtnn", "eager", "channels_last"]
    assert own["grown_mb"] < 4  # more steps take no more memory
    assert own["page_faults_a_step"] < 50
