"""Cases 80 and 83: what is compiled is compiled before the first step, so no step, epoch or scaling result contains it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dtnn

# Each compiles everything, in a process and a cache of its own.
pytestmark = [pytest.mark.processes, pytest.mark.slow, pytest.mark.limit(180)]

ROOT = Path(dtnn.__file__).parents[1]
CODE = """
import json, sys
import numpy as np
from dtnn import Model, optim
from dtnn.comm import Serial
from dtnn.data import Flip, Samples
from dtnn.kernels.cache import compiling
from dtnn.machine import threads
from dtnn.nn import BatchNorm2d, Conv2d, Dropout, Flatten, Linear, MaxPool2d, ReLU
from dtnn.records import Finish, Note
from dtnn.training import train

wanted, batch = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(0)
images = Samples(rng.random((2 * batch + 3, 16, 16, 1), np.float32), rng.integers(0, 3, 2 * batch + 3), augment=(Flip(),))
rows = Samples(rng.random((300, 16, 16, 1), np.float32), rng.integers(0, 3, 300))
layers = [Flatten(), Linear(64), ReLU(), Dropout(0.2), Linear(3)]
if wanted == 1:
    layers = [Conv2d(4, 3, padding=1), BatchNorm2d(), ReLU(), MaxPool2d(2), *layers]
model = Model(*layers, input_shape=(16, 16, 1))
early, late, begun = [], [], []
with threads(wanted), compiling(lambda name, number: (late if begun else early).append(name)):
    for record in train(Serial(), model, images, validation=rows, optimizer=optim.Adam(0.01), epochs=2,
                        batch_size=batch):
        if isinstance(record, Note) and "waiting for all" in record.text:
            begun.append(record)
        last = record
assert isinstance(last, Finish) and begun
print(json.dumps([early, late, "numba.np.arrayobj" in sys.modules]))
"""


@pytest.mark.parametrize(("threads", "batch"), [(1, 5), (2, 64)])
def test_nothing_is_compiled_once_the_steps_have_begun_nor_what_is_on_disk(tmp_path, threads, batch):
    environment = os.environ | {"DTNN_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT), "NUMBA_NUM_THREADS": "2"}
    command = [sys.executable, "-c", CODE, str(threads), str(batch)]
    for warm in (False, True):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=170)
        assert done.returncode == 0, done.stderr
        early, late, compiler = json.loads(done.stdout)
        assert (len(early) == 0) if warm else (len(early) > 5)
        assert late == []
        assert compiler != warm  # what Numba only compiles with takes a process a second, and memory


TRAIN = """
import numpy as np, dtnn
from dtnn.nn import Linear
x, y = np.ones((8, 3), np.float32), np.arange(8) % 2
history = dtnn.Model(Linear(2), input_shape=(3,)).fit(x, y, epochs=2, show=False)
print(len(history.epoch), "epochs")
"""


def test_where_nothing_can_be_written_it_trains_after_one_note(tmp_path):
    """Case 80: no home, no folder for caches."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DTNN", "XDG"))}
    environment |= {"HOME": "/proc/nobody", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", TRAIN], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=170
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "epochs"]
    assert done.stderr.count("RuntimeWarning") == 1
    assert "set DTNN_CACHE_DIR" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_package_that_cannot_be_written_trains_and_nothing_is_written_to_it(tmp_path):
    """Case 80: installed by somebody else."""
    site, cache = tmp_path / "site", tmp_path / "cache"
    shutil.copytree(ROOT / "dtnn", site / "dtnn", ignore=shutil.ignore_patterns("__pycache__"))
    for path in site.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted(site.rglob("*"))
    environment = os.environ | {"PYTHONPATH": str(site), "DTNN_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    code = TRAIN + "print(dtnn.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=170
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "epochs", str(site / "dtnn" / "__init__.py")]
    assert done.stderr == ""
    assert sorted(site.rglob("*")) == before  # also as root, who may write everywhere
    assert list(cache.rglob("*.kernel"))
    for path in site.rglob("*"):
        path.chmod(0o755)
