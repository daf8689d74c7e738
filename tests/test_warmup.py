"""`dtnn warmup`: after it nothing is compiled any more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dtnn import cli
from dtnn.warmup import warmup

pytestmark = pytest.mark.slow

STEPS = """
import numpy as np, dtnn
from dtnn.kernels.cache import compiling
names = []
with compiling(lambda name, number: names.append(name)):
    model = dtnn.zoo.mlp()
    model.fit(dtnn.data.mnist5k(), epochs=1, batch_size=64, optimizer=dtnn.optim.SGD(0.05, momentum=0.9), show=False)
    model.predict(np.zeros((1, 28, 28, 1), np.float32))
print(names)
"""


def run(folder, *command):
    root = Path(cli.__file__).parents[1]
    environment = os.environ | {"DTNN_CACHE_DIR": str(folder), "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_after_it_nothing_is_compiled(tmp_path):
    told = run(tmp_path, "-m", "dtnn", "warmup", "mlp")
    compiled = [line.split()[-1] for line in told if line.startswith("    kernel")]
    assert told[0] == "mlp"
    assert "dense" in " ".join(compiled)
    assert len(list(tmp_path.rglob("*.kernel"))) >= len(compiled) > 5
    assert told[-1].startswith(f"{len(compiled)} kernels compiled: ")
    assert str(tmp_path) in told[-1]
    assert run(tmp_path, "-c", STEPS)[-1] == "[]"


def test_a_network_that_is_none_is_told(capsys):
    assert cli.main(["warmup", "lenet"]) == 1
    assert "no network is called 'lenet': did you mean 'lenet5'" in capsys.readouterr().err


def test_without_a_folder_it_is_told(monkeypatch):
    monkeypatch.setattr("dtnn.warmup.folder", lambda: None)
    with pytest.raises(RuntimeError, match="set DTNN_CACHE_DIR to a folder that can be written"):
        warmup("mlp")
