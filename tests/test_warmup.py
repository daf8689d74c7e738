"""`dtnn warmup`: after it nothing is compiled any more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dtnn import cli
from dtnn.warmup import warmup

pytestmark = [pytest.mark.processes, pytest.mark.slow]

STEPS = """
import sys, numpy as np, dtnn
from dtnn.kernels.cache import compiling
from dtnn.machine import threads
names = []
with threads(int(sys.argv[1])), compiling(lambda name, number: names.append(name)):
    model, digits = dtnn.zoo.mlp(), dtnn.data.mnist5k()
    few = digits.x_train[:160], digits.y_train[:160]
    some = digits.x_test[:100], digits.y_test[:100]
    model.fit(few, validation_data=some, batch_size=64, optimizer=dtnn.optim.SGD(0.05, momentum=0.9), show=False)
    model.predict(np.zeros((1, 28, 28, 1), np.float32))
print(names)
"""

SIZES = """
import sys, numpy as np, dtnn
from dtnn.kernels.cache import compiling
from dtnn.machine import threads
rng, names = np.random.default_rng(0), []
for net in ("lenet5", "resnet20"):
    model = getattr(dtnn.zoo, net)()
    for batch, last in ((16, 3), (32, 9), (64, 40), (100, 17), (128, 72)):  # as users take them, each with a smaller last one
        images = rng.integers(0, 255, (batch + last, *model.input_shape), np.uint8), rng.integers(0, 10, batch + last)
        with threads(int(sys.argv[1])), compiling(lambda name, number: names.append((net, batch, name))):
            model.fit(images, validation_data=images, batch_size=batch, show=False)
print(names)
"""


def run(folder, *command):
    root = Path(cli.__file__).parents[1]
    environment = os.environ | {"DTNN_CACHE_DIR": str(folder), "PYTHONPATH": str(root), "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.limit(600)
def test_after_it_nothing_is_compiled(tmp_path):
    told = run(tmp_path, "-m", "dtnn", "warmup", "mlp", "--threads", "1")
    compiled = [line.split()[-1] for line in told if line.startswith("    kernel")]
    assert told[0] == "mlp"
    assert "dense" in " ".join(compiled)
    assert len(list(tmp_path.rglob("*.kernel"))) >= len(compiled) > 5
    assert told[-1].startswith(f"{len(compiled)} kernels compiled: ")
    assert str(tmp_path) in told[-1]
    assert run(tmp_path, "-c", STEPS, "1")[-1] == "[]"
    assert run(tmp_path, "-c", STEPS, "2")[-1] != "[]"  # the test can fail


@pytest.mark.limit(600)
def test_after_it_nothing_is_compiled_for_several_threads_either(tmp_path):
    told = run(tmp_path, "-m", "dtnn", "warmup", "mlp", "--threads", "2")
    assert [line for line in told if not line.startswith("    ")][:4] == [
        "mlp", "batches and optimizers", "mlp, on 2 threads", "batches and optimizers, on 2 threads",
    ]  # fmt: skip
    for count in "12":
        assert run(tmp_path, "-c", STEPS, count)[-1] == "[]"


@pytest.mark.limit(900)
def test_after_it_no_size_of_a_batch_is_compiled_for(tmp_path):
    told = run(tmp_path, "-m", "dtnn", "warmup", "lenet5", "resnet20", "--threads", "2")
    assert told[-1].split(" ", 1)[1].startswith("kernels compiled: ")
    for count in "12":
        assert run(tmp_path, "-c", SIZES, count)[-1] == "[]"


def test_more_threads_than_numba_has_are_refused():
    with pytest.raises(ValueError, match=r"threads=1000: Numba uses \d+ at most.*set NUMBA_NUM_THREADS=1000"):
        warmup("mlp", threads=1000)
    with pytest.raises(ValueError, match=r"threads=0: give a whole number of at least 1"):
        warmup("mlp", threads=0)


def test_a_network_that_is_none_is_told(capsys):
    assert cli.main(["warmup", "lenet"]) == 1
    assert "no network is called 'lenet': did you mean 'lenet5'" in capsys.readouterr().err


def test_without_a_folder_it_is_told(monkeypatch):
    monkeypatch.setattr("dtnn.warmup.folder", lambda: None)
    with pytest.raises(RuntimeError, match="set DTNN_CACHE_DIR to a folder that can be written"):
        warmup("mlp")
