"""The script for a batch system trains what the run trained; what can't be repeated so is refused, with the remedy."""

import importlib
import json
import os
import subprocess
import time

import numpy as np
import pytest

import dtnn
from dtnn.cluster import Cluster, Run
from dtnn.cluster.batch import Batch
from dtnn.nn import Flatten, Linear, ReLU

from .conftest import needs_mpi

MODULE = """
from dtnn.nn import Layer

class Twice(Layer):
    def __repr__(self):
        return "Twice()"

    def build(self, shape, rng):
        return shape

    def forward(self, x, step=None):
        return 2 * x, lambda dy: 2 * dy
"""


@pytest.fixture(scope="module")
def threads():
    with Cluster(2, "threads") as cluster:
        yield cluster


def finished(cluster, model, data=None, **settings):
    settings = {"batch_size": 500, "validation_data": False, "optimizer": dtnn.optim.SGD(0.1), **settings}
    run = model.start(dtnn.data.mnist5k() if data is None else data, cluster=cluster, **settings)
    run.result(60)
    return run


def small(*layers):
    return dtnn.Model(Flatten(), *layers, Linear(10), input_shape=(28, 28, 1), seed=3)


@needs_mpi
def test_the_script_trains_what_the_run_trained(threads, tmp_path):
    model = small(Linear(16), ReLU())
    model.layers[1].trainable = False
    early = dtnn.EarlyStopping("loss", patience=5)
    optimizer = dtnn.optim.SGD(dtnn.optim.schedules.cosine(0.1), momentum=0.5)
    run = finished(threads, model, epochs=2, optimizer=optimizer, callbacks=[early], seed=7)
    script = run.to_batch("shell", tmp_path / "job")
    done = subprocess.run(["bash", str(script)], capture_output=True, text=True, timeout=50, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = Run.load(tmp_path / "job" / "run.json")
    assert (again.size, again.state) == (2, "done")
    np.testing.assert_allclose(again.history.history["loss"], run.history.history["loss"], rtol=1e-5)
    trained = dtnn.load(tmp_path / "job" / "model.npz")
    for name, value in model.state_dict().items():
        np.testing.assert_allclose(trained.state_dict()[name], value, rtol=1e-4, atol=1e-6)
    told = json.loads((tmp_path / "job" / "run.json").read_text())["records"]
    assert [record["settings"]["seed"] for record in told if record["type"] == "start"] == [7]


def test_what_slurm_is_told_stands_first(threads, tmp_path):
    run = finished(threads, small())
    lines = ["module load gcc", "#SBATCH --qos=short"]
    settings = {"account": "class7", "partition": "main", "time": "1:00:00", "nodes": 2, "lines": lines}
    script = run.to_batch("slurm", tmp_path, ranks=8, threads_per_rank=2, **settings).read_text().splitlines()
    head = [line for line in script if line.startswith("#SBATCH")]
    told = {
        "ntasks": 8,
        "cpus-per-task": 2,
        "account": "class7",
        "partition": "main",
        "time": "1:00:00",
        "nodes": 2,
        "qos": "short",
    }
    assert all(f"#SBATCH --{name}={value}" in head for name, value in told.items())
    assert script.index("module load gcc") > max(script.index(line) for line in head)
    assert "export OMP_NUM_THREADS=2" in script
    assert any(" -n 8 " in line for line in script)
    assert os.access(tmp_path / "train.sbatch", os.X_OK)


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"ranks": 0}, ValueError, "ranks=0: give a whole number of at least 1"),
        ({"ranks": "4"}, TypeError, "ranks='4': give a whole number"),
        ({"threads_per_rank": -1}, ValueError, "threads_per_rank=-1: give a whole number of at least 1"),
        ({"nodes": 0}, ValueError, "nodes=0: give a whole number of at least 1"),
        ({"time": -5}, ValueError, "time=-5: give a whole number of at least 1"),
        ({"lines": 5}, TypeError, "lines=5: give a list of lines"),
        ({"data": 5}, TypeError, "data=5: give the path of a file"),
    ],
)
def test_what_no_job_can_have_is_told_before_anything_is_written(threads, tmp_path, settings, error, text):
    run = finished(threads, small())
    with pytest.raises(error, match=text):
        run.to_batch("slurm", tmp_path / "job", **settings)
    assert not (tmp_path / "job").exists()


def test_a_layer_of_a_notebook_cell_is_refused_and_one_of_a_module_is_not(threads, tmp_path, monkeypatch):
    cell = {"__name__": "__main__"}
    exec(MODULE, cell)
    run = finished(threads, small(cell["Twice"]()))
    with pytest.raises(ValueError, match=r"layer Twice is defined in a notebook cell.*put it in a module \(a .py file\)"):
        run.to_batch("slurm", tmp_path / "job")
    assert not (tmp_path / "job").exists()
    (tmp_path / "twice_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    layer = importlib.import_module("twice_module").Twice()
    text = finished(threads, small(layer)).to_batch("slurm", tmp_path / "job").read_text()
    assert "--layer twice_module:Twice" in text
    assert str(tmp_path) in next(line for line in text.splitlines() if line.startswith("export PYTHONPATH"))


def test_data_without_a_name_need_a_file(threads, tmp_path):
    x, y = np.zeros((40, 28, 28, 1), np.uint8), np.arange(40) % 10
    run = finished(threads, small(), (x, y), batch_size=20)
    with pytest.raises(ValueError, match=r"the data have no name.*numpy\.savez.*data=\.\.\."):
        run.to_batch("slurm", tmp_path)
    text = run.to_batch("slurm", tmp_path, data=tmp_path / "mine.npz").read_text()
    assert f"--data {tmp_path / 'mine.npz'}" in text


def test_data_that_are_made_are_made_again(threads, tmp_path):
    data = dtnn.data.synthetic((28, 28, 1), 10, 100, 20, seed=3)
    text = finished(threads, small(), data, batch_size=50).to_batch("slurm", tmp_path).read_text()
    assert "--data 'synthetic((28, 28, 1), 10, 100, 20, 3)'" in text


def own_rate(progress):
    return 0.1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"optimizer": dtnn.optim.SGD(own_rate)}, "optimizer SGD.*is your own, and a batch job can't make it"),
        ({"callbacks": [print]}, "callback print is your own"),
        ({"validation_data": (np.zeros((4, 28, 28, 1), np.uint8), [0, 1, 2, 3])}, "make them x_test and y_test"),
    ],
)
def test_what_a_batch_job_cannot_make_is_named(threads, tmp_path, settings, words):
    run = finished(threads, small(), **settings)
    with pytest.raises(ValueError, match=words):
        run.to_batch("slurm", tmp_path)


def test_a_model_that_was_trained_before_needs_its_file(threads, tmp_path):
    model = small()
    model.fit(dtnn.data.mnist5k(), batch_size=1000, show=False)
    run = finished(threads, model)
    with pytest.raises(ValueError, match=r"had made 4 steps before this run: save it .*model=\.\.\."):
        run.to_batch("slurm", tmp_path)
    assert f"{tmp_path / 'before.npz'}" in run.to_batch("slurm", tmp_path, model=tmp_path / "before.npz").read_text()


def _until(comm, path):
    end = time.monotonic() + 20
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)


def test_a_run_that_has_not_begun_is_asked_for_later(threads, tmp_path):
    before = threads.run(_until, tmp_path / "go on")
    run = small().start(dtnn.data.mnist5k(), batch_size=500, cluster=threads)
    with pytest.raises(ValueError, match=r"has not begun yet: call to_batch a moment later, or after run\.wait\(\)"):
        run.to_batch("slurm", tmp_path)
    (tmp_path / "go on").touch()
    before.wait(20)
    run.wait(20)
    assert run.to_batch("slurm", tmp_path).name == "train.sbatch"


def test_a_run_that_is_no_training_is_refused(threads, tmp_path):
    run = threads.run(lambda comm: 1)
    run.result(20)
    with pytest.raises(ValueError, match="is no training that has begun"):
        run.to_batch("slurm", tmp_path)


def test_settings_and_systems_that_are_not_known_are_told(threads, tmp_path):
    run = finished(threads, small())
    with pytest.raises(ValueError, match="system='pbs' is not known; there are 'slurm', 'shell'"):
        run.to_batch("pbs", tmp_path)
    with pytest.raises(TypeError, match="no setting 'queue'; a batch system is told account, partition, time, nodes, lines"):
        run.to_batch("slurm", tmp_path, queue="main")


BREAKING = [{"account": "a b"}, {"partition": "x\n#SBATCH --evil"}, {"time": 1.5}, {"lines": ["a\nb"]}, {"nodes": True}]


@pytest.mark.parametrize("bad", BREAKING)
def test_what_would_break_the_script_is_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        Batch(**bad)
