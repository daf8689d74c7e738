"""The benchmarks run, and check their results; how fast they are is asserted nowhere."""

import dataclasses
import importlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dtnn
from dtnn.optim import SGD
from tests.comm.mpi_job import why_no_mpi

pytestmark = [pytest.mark.processes, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
PIPES = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
needs_mpi = pytest.mark.skipif(bool(why_no_mpi()), reason=why_no_mpi())
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")


def rows(folder, script, *options, seconds=110):
    """What a benchmark writes, run as the README says but with its smallest settings."""
    file = folder / "rows.jsonl"
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options, "--json", str(file)]
    process = subprocess.Popen(command, env=environment, cwd=folder, **PIPES)
    try:
        output, errors = process.communicate(timeout=seconds)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # its own session: ranks too
            process.communicate()
    assert process.returncode == 0, errors
    assert output.count("\n") > 0
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else output


def test_all_are_here():
    assert {path.name for path in (ROOT / "benchmarks").glob("bench_*.py")} == {
        "bench_allreduce.py", "bench_batch.py", "bench_compile.py", "bench_conv.py", "bench_data_parallel.py",
        "bench_inference.py", "bench_large_batch.py", "bench_memory.py", "bench_overlap.py", "bench_redraw.py", "bench_step.py",
        "bench_threads.py", "bench_trace.py", "bench_watching.py",
    }  # fmt: skip


def test_conv(tmp_path):
    found = rows(tmp_path, "bench_conv.py", "--shapes", "l2", "--batch", "17", "--rounds", "5")
    assert {row["operation"] for row in found} == {"forward", "data", "filter"}
    assert {"direct", "im2col"} <= {row["algorithm"] for row in found}
    assert all(row["of_peak"] == pytest.approx(row["gflops"] / row["peak"]) for row in found)
    assert all(row["gflops"] > 0 and row["peak"] > 0 for row in found)


def test_watching(tmp_path):
    [found] = rows(tmp_path, "bench_watching.py", "--scenes", "fit", "--net", "mlp", "--rounds", "1", "--seconds", "1")
    assert found["scene"] == "fit"
    assert found["off_ms"] > 0
    assert found["on_ms"] > 0


@pytest.mark.undisturbed
@needs_mpi
def test_watching_a_cluster(tmp_path):
    [found] = rows(tmp_path, "bench_watching.py", "--scenes", "1", "--net", "mlp", "--rounds", "1", "--seconds", "1")
    assert found["on_ms"] > 0


@pytest.mark.parametrize(
    ("word", "kinds"),
    [("live", 2), ("allreduce", 2), ("lenet5", 2), ("a step", 2), ("of each of", 2), ("runs", 2), ("gradients", 2)]
    + [("confusion", 2), ("layers", 1), ("maps", 1), ("shards", 1)],
)
def test_redraw(tmp_path, word, kinds):
    found = rows(tmp_path, "bench_redraw.py", "--rounds", "1", "--only", word)
    assert len(found) == kinds
    assert all(0 < row["median_ms"] <= row["largest_ms"] for row in found)


def test_step(tmp_path):
    (found,) = rows(tmp_path, "bench_step.py", "--nets", "mlp", "--batch", "16", "--rounds", "5", "--budget", "1")
    assert found["net"] == "mlp"
    assert found["images_per_second"] > 0


@pytest.fixture
def bench(monkeypatch):
    """A function that imports a benchmark, to be broken."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module


def few(batch=16):
    rng = np.random.default_rng(0)
    return rng.random((batch, 28, 28, 1), np.float32), rng.integers(0, 10, batch)


@pytest.fixture
def no_torch(monkeypatch):
    """As in an environment without it."""
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.mark.parametrize(
    "broken", ["update", "momentum", "gradient of the weights", "gradient of the input", "gradient of the biases", None]
)
def test_a_step_that_is_wrong_is_not_timed(bench, no_torch, monkeypatch, broken):
    check, linear, update = bench("bench_step").check, dtnn.nn.linear.dense, SGD.update
    if broken == "update":
        monkeypatch.setattr(SGD, "update", lambda self, parameters, state, progress: parameters.grad.fill(0))
    elif broken == "momentum":
        without = lambda self, *some: update(dataclasses.replace(self, momentum=0), *some)  # noqa: E731
        monkeypatch.setattr(SGD, "update", without)
    elif broken == "gradient of the weights":
        monkeypatch.setattr(linear, "weight_gradient", only_exactly(linear.weight_gradient))
    elif broken == "gradient of the input":
        monkeypatch.setattr(linear, "data_gradient", only_exactly(linear.data_gradient))
    elif broken == "gradient of the biases":
        monkeypatch.setattr("dtnn.nn.linear.sum_delta", only_exactly(dtnn.nn.linear.sum_delta))
    if broken is None:
        check("mlp", *few(), 16)
        return
    with pytest.raises(AssertionError, match=r"mlp: .* (wrong|should be)"):
        check("mlp", *few(), 16)


def only_exactly(function):
    """Does nothing in float32."""
    return lambda first, *rest, **more: function(first, *rest, **more) if first.dtype == np.float64 else None


def test_wrong_outputs_are_not_timed(bench, no_torch, monkeypatch):
    inference, model = bench("bench_inference"), dtnn.zoo.mlp()
    inference.check(model, few()[0], inference.competitors(model, few()[0]))
    predict = type(model).predict
    monkeypatch.setattr(type(model), "predict", lambda self, x: 1.01 * predict(self, x))
    with pytest.raises(AssertionError, match="dtnn: an output is wrong by"):
        inference.check(model, few()[0], inference.competitors(model, few()[0]))


def test_batch(tmp_path):
    some = "--sizes", "17,40,63", "--against", "16", "--rounds", "4", "--budget", "1"
    *sizes, full = rows(tmp_path, "bench_batch.py", "--nets", "mlp", *some)
    assert [(row["size"], row["next"], row["most"]) for row in sizes] == [(17, 32, 2.0), (40, 48, 1.65), (63, 64, 1.5)]
    assert all(row["ratio"] > 0 for row in sizes)
    assert full["size"] == 16


def test_inference(tmp_path):
    found = rows(tmp_path, "bench_inference.py", "--nets", "mlp", "--batches", "1,20", "--rounds", "5", "--budget", "1")
    assert [(row["net"], row["batch"]) for row in found] == [("mlp", 1), ("mlp", 20)]
    assert all(row["images_per_second"] > 0 and row["dtnn_us"] > 0 for row in found)


@needs_torch
def test_goals_stand_beside_what_is_measured(tmp_path):
    (step,) = rows(tmp_path, "bench_step.py", "--nets", "lenet5", "--rounds", "5", "--budget", "1")
    assert (step["goal_eager"], step["goal_best"]) == (4.5, 3.6)
    assert 0 < step["times_best"] <= step["times_eager"]


def test_threads(tmp_path):
    found = rows(tmp_path, "bench_threads.py", "--nets", "mlp", "--batch", "16", "--rounds", "4")
    assert [row["threads"] for row in found] == [1, 2]
    assert [row["goal"] for row in found] == [None, None]  # asked of two nets only
    assert all(row["seconds"] > 0 for row in found)


@pytest.mark.undisturbed
def test_trace(tmp_path):
    """What a look takes more than another step, twice a second, is a share that the machine's noise does not hide."""
    (found,) = rows(tmp_path, "bench_trace.py", "--rounds", "15", "--budget", "12")
    assert (found["net"], found["batch"]) == ("lenet5", 64)
    assert found["spans"] >= 20  # each layer, forward and backward, and the phases
    assert 0 < found["packing_us"] < 1000
    assert found["traced_step_more_us"] < 1000
    assert found["default_share"] < 0.002
    assert found["default_ms"] < 1.25 * found["plain_ms"]


@pytest.mark.limit(250)
def test_large_batch(tmp_path):
    """In as many epochs SGD as it is loses accuracy, a rate 64 times as large loses all, and LARS holds it."""
    small, *large = rows(tmp_path, "bench_large_batch.py", "--net", "mlp", "--seeds", "1", seconds=240)
    assert small["batch"] == 32
    assert {row["batch"] for row in large} == {2048}
    assert (small["steps"], large[0]["steps"]) == (6250, 100)
    found = {row["recipe"]: row["accuracy"] for row in large}
    assert small["accuracy"] > 0.93
    assert found["SGD, as it is"] < small["accuracy"] - 0.02
    assert found["LARS, LEGW"] > small["accuracy"] - 0.015
    assert found["LARS, LEGW"] > found["SGD, as it is"] + 0.01
    assert found["SGD, linear"] < 0.5


def test_compile(tmp_path):
    (found,) = rows(tmp_path, "bench_compile.py", "--nets", "mlp")
    assert found["kernels"] > 6  # were compiled in the cold process: those of the mini-batch and the update, too
    assert found["compiled_again"] == 0
    assert found["more"] == found["warm"] - found["step"]
    assert found["goal"] == 2
    assert min(found["cold"], found["warm"], found["step"]) > 0


@needs_torch
def test_memory(tmp_path):
    own, *others = rows(tmp_path, "bench_memory.py", "--nets", "mlp", "--batch", "16")
    assert [row["who"] for row in (own, *others)] == ["dtnn", "eager", "channels_last"]
    assert own["ratio"] == own["peak_mb"] / min(row["peak_mb"] for row in others)
    assert own["compiled"] == 0  # or the memory of compilers would count
    assert own["grown_mb"] < 4  # more steps take no more memory
    assert own["page_faults_a_step"] < 50


@pytest.mark.undisturbed
@needs_mpi
def test_allreduce(tmp_path):
    options = "--sizes", "4,4000", "--algorithms", "ring,rabenseifner", "--rounds", "3", "--seconds", "0.01"
    found = rows(tmp_path, "bench_allreduce.py", *options)
    assert [row["bytes"] for row in found] == [4, 4000]
    for row in found:
        assert row["ranks"] == 2
        assert min(row[name] for name in ("bare", "blocking", "polled", "ring", "rabenseifner")) > 0


@pytest.mark.undisturbed
@needs_mpi
@needs_torch
def test_data_parallel(tmp_path):
    options = "--nets", "mlp", "--batch", "16", "--rounds", "2", "--seconds", "0.02", "--cluster"
    found = rows(tmp_path, "bench_data_parallel.py", *options)
    assert [(row["net"], row["where"], row["ranks"]) for row in found] == [("mlp", "mpiexec", 2), ("mlp", "cluster", 2)]
    for row in found:
        assert row["weak"] == pytest.approx(2 * row["one_seconds"] / row["weak_seconds"])
        assert row["most_weak"] == pytest.approx(2 * row["one_seconds"] / row["apart_seconds"])
        assert row["most_strong"] == pytest.approx(row["one_seconds"] / row["apart_strong_seconds"])
        assert row["goals"] == {}  # asked of 64 images
    assert min(found[0]["times_ddp_weak"], found[0]["times_ddp_strong"]) > 0


def namespaces():
    """Those of the benchmark of overlap that exist now."""
    if shutil.which("ip") is None:
        return []
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout
    return [line for line in listed.splitlines() if line.startswith("dtnn-")]


@pytest.mark.undisturbed
@needs_mpi
def test_overlap(tmp_path):
    before = namespaces()
    found = rows(tmp_path, "bench_overlap.py", "--nets", "mlp", "--batch", "16", "--rounds", "2")
    assert namespaces() == before
    if isinstance(found, str):
        assert found.startswith("not measured: "), "no root, no tools, or a kernel that makes no namespaces"
        return
    (row,) = found
    assert 0 < row["gbits_measured"] < 1.2 * row["gbits"], "the link is as slow as it should be"
    assert row["could_be_hidden"] <= 1
    assert min(row[f"{way}_seconds"] for way in ("compute", "bare", "after", "overlap")) > 0


@pytest.mark.undisturbed
@needs_mpi
def test_overlap_leaves_no_network_behind_when_it_is_ended(tmp_path):
    before = namespaces()
    command = [sys.executable, str(ROOT / "benchmarks" / "bench_overlap.py"), "--nets", "mlp", "--rounds", "1000"]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=tmp_path, **PIPES)
    until = time.perf_counter() + 20
    while process.poll() is None and len(namespaces()) < len(before) + 2 and time.perf_counter() < until:
        time.sleep(0.1)
    process.terminate()
    output, _ = process.communicate(timeout=20)
    assert process.returncode == 143 or output.startswith("not measured: ")
    assert namespaces() == before


def test_what_could_be_hidden(monkeypatch):
    """Two of four seconds of communication go on behind the backward of the layers in front; the first layer's cannot."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from bench_overlap import could_take

    assert could_take(10.0, [(2.0, 400), (3.0, 0), (1.0, 400)], 4.0) == 12.0
    assert could_take(10.0, [(2.0, 800), (3.0, 0), (1.0, 0)], 4.0) == 10.0
    assert could_take(10.0, [(0.0, 400), (0.0, 400)], 4.0) == 14.0
