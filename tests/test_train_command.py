"""`dtnn train`: the same training as in a notebook, on one rank and under mpiexec, and an end of all ranks when one fails."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dtnn
from dtnn import cli
from dtnn.cluster import Run, launchers
from dtnn.records import Ledger, Place, Step
from tests.cluster.conftest import needs_mpi

ROOT = Path(dtnn.__file__).parent.parent
SHORT = ["--batch-size", "500", "--no-validation"]

FAILING = """
from dtnn.nn import Layer

class Failing(Layer):
    def __init__(self, step):
        self.step = step

    def __repr__(self):
        return f"Failing({self.step})"

    def build(self, shape, rng):
        return shape

    def forward(self, x, step=None):
        import os
        rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", 0)))
        if step is not None and step.number == self.step and rank == 1:
            raise OSError("the disk of rank 1 is on fire")
        return x, lambda dy: dy
"""


def under_mpiexec(ranks, *arguments, cwd, **more):
    """`dtnn train` under mpiexec, as a batch script would."""
    command = [launchers.mpiexec(), "-n", str(ranks), sys.executable, "-m", "dtnn", "train", *arguments]
    environment = {**os.environ, **launchers.OPEN_MPI, "PYTHONPATH": f"{cwd}{os.pathsep}{ROOT}", **more}
    environment["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd, env=environment)


def test_it_trains_what_fit_trains(tmp_path, capsys):
    arguments = ["train", "mlp", *SHORT, "--epochs", "2", "--optimizer", "SGD(cosine(0.1), momentum=0.5)", "--out", str(tmp_path)]
    assert cli.main(arguments) == 0
    assert "epoch 2/2" in capsys.readouterr().out
    model = dtnn.zoo.mlp()
    optimizer = dtnn.optim.SGD(dtnn.optim.schedules.cosine(0.1), momentum=0.5)
    data = dtnn.data.mnist5k()
    history = model.fit(data, batch_size=500, epochs=2, optimizer=optimizer, validation_data=False, show=False)
    run = Run.load(tmp_path / "run.json")
    assert (run.state, run.size) == ("done", 1)
    assert run.history.history["loss"] == history.history["loss"]
    trained = dtnn.load(tmp_path / "model.npz").state_dict()
    assert all((trained[name] == value).all() for name, value in model.state_dict().items())


def test_it_goes_on_where_it_ended(tmp_path, capsys):
    options = [*SHORT, "--optimizer", "SGD(0.1)", "--out", str(tmp_path)]
    assert cli.main(["train", "mlp", *options, "--epochs", "1"]) == 0
    assert cli.main(["train", str(tmp_path / "model.npz"), *options, "--epochs", "2", "--resume"]) == 0
    resumed = dtnn.load(tmp_path / "model.npz")
    whole = dtnn.zoo.mlp()
    settings = {"batch_size": 500, "optimizer": dtnn.optim.SGD(0.1), "validation_data": False, "show": False}
    whole.fit(dtnn.data.mnist5k(), epochs=2, **settings)
    assert resumed.steps == whole.steps
    assert all((resumed.state_dict()[name] == value).all() for name, value in whole.state_dict().items())


def test_data_may_be_a_file_of_arrays(tmp_path, capsys):
    x, y = np.zeros((20, 28, 28, 1), np.uint8), np.arange(20) % 10
    np.savez(tmp_path / "mine.npz", x_train=x, y_train=y)
    assert cli.main(["train", "mlp", "--data", str(tmp_path / "mine.npz"), "--out", str(tmp_path / "out")]) == 0
    np.savez(tmp_path / "odd.npz", x=x)
    assert cli.main(["train", "mlp", "--data", str(tmp_path / "odd.npz"), "--out", str(tmp_path / "out")]) == 1
    assert "it has x, and should have x_train" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lenet6"], "no model is called 'lenet6': did you mean 'lenet5'?"),
        (["lenet5", "--data", "mnist5"], "there is no 'mnist5'; did you mean 'mnist5k'?"),
        (["lenet5", "--optimizer", "SGDD(0.1)"], "there is no 'SGDD'; did you mean 'SGD'?"),
        (["lenet5", "--optimizer", "sdg"], "no optimizer is called 'sdg'"),
        (["lenet5", "--ranks", "2"], "this is rank 0 of 1, and --ranks 2 were asked for: run it under mpiexec -n 2"),
        (["lenet5", "--layer", "nowhere:Mine"], "--layer nowhere:Mine: No module named 'nowhere'"),
        (["missing.json"], "missing.json"),
    ],
)
def test_mistakes_are_told_and_leave_nothing(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", *arguments, "--out", "out"]) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out" / "model.npz").exists()


ODD = ["{", "[]", "{}", '{"format": "dtnn model"}', '{"format": "dtnn model", "layers": [{"layer": "exec"}]}']


@pytest.mark.parametrize("text", ODD)
def test_a_description_that_is_none_is_refused(text, tmp_path, capsys):
    path = tmp_path / "odd.json"
    path.write_text(text)
    assert cli.main(["train", str(path), "--out", str(tmp_path / "out")]) == 1
    assert "odd.json is no description of a dtnn model, or is damaged" in capsys.readouterr().err


@pytest.mark.undisturbed
@needs_mpi
def test_ranks_under_mpiexec_train_together(tmp_path):
    process = under_mpiexec(2, "mlp", *SHORT, "--ranks", "2", "--optimizer", "SGD(0.1)", "--out", "out", cwd=tmp_path)
    out, err = process.communicate(timeout=50)
    assert process.returncode == 0, err
    assert out.count("epoch 1/1") == 1
    run = Run.load(tmp_path / "out" / "run.json")
    assert (run.size, run.state) == (2, "done")
    assert {record.rank for record in run.records.of(Place)} == {0, 1}
    assert {record.rank for record in run.records.of(Ledger)} == {0, 1}
    assert run.records.column(Step, "step") == list(range(1, 9))
    alone = dtnn.zoo.mlp()
    settings = {"batch_size": 500, "optimizer": dtnn.optim.SGD(0.1), "validation_data": False, "show": False}
    alone.fit(dtnn.data.mnist5k(), **settings)
    trained = dtnn.load(tmp_path / "out" / "model.npz").state_dict()
    for name, value in alone.state_dict().items():
        np.testing.assert_allclose(trained[name], value, rtol=1e-4, atol=1e-6)


@pytest.mark.undisturbed
@needs_mpi
def test_a_rank_that_fails_ends_the_job(tmp_path):  # case 31
    (tmp_path / "burning.py").write_text(FAILING)
    layers = [{"layer": "Flatten", "arguments": [], "settings": {}}, {"layer": "Failing", "arguments": [3], "settings": {}}]
    layers += [{"layer": "Linear", "arguments": [10], "settings": {}}]
    about = {"format": "dtnn model", "layers": layers, "input_shape": [28, 28, 1], "seed": 0, "dtype": "float32", "frozen": []}
    (tmp_path / "model.json").write_text(json.dumps(about))
    arguments = ["model.json", *SHORT, "--layer", "burning:Failing", "--ranks", "2", "--out", "out"]
    process = under_mpiexec(2, *arguments, cwd=tmp_path)
    err = ""
    for line in process.stderr:
        err += line
        if "on fire" in line:
            told = time.monotonic()
            break
    process.communicate(timeout=20)
    assert time.monotonic() - told < 4, "the others were left waiting"  # 2 s are promised; a shared machine gets some more
    assert process.returncode != 0
    assert "Rank 1 failed:\nTraceback" in err
    assert 'burning.py", line 18, in forward' in err
    run = Run.load(tmp_path / "out" / "run.json")
    assert run.state == "failed"
    assert "the disk of rank 1 is on fire" in run.story
    assert run.size == 2


@pytest.mark.undisturbed
@needs_mpi
@pytest.mark.slow
def test_a_batch_system_that_wants_an_end_gets_one_after_a_step(tmp_path):
    process = under_mpiexec(2, "mlp", "--no-validation", "--epochs", "100000", "--out", "out", cwd=tmp_path)
    process.stdout.readline()  # an epoch is done
    own = [pid for pid in _children(process.pid) if "dtnn" in Path(f"/proc/{pid}/cmdline").read_text()]
    os.kill(min(own), signal.SIGTERM)
    process.communicate(timeout=30)
    run = Run.load(tmp_path / "out" / "run.json")
    assert run.state == "stopped"
    assert process.returncode == 0


def _children(pid):
    import psutil

    return [child.pid for child in psutil.Process(pid).children(recursive=True)]
