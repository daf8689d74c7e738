"""Whatever backend of matplotlib the user has chosen, pictures are the same, and none is left open in pyplot."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IPYMPL = "module://ipympl.backend_nbagg"
DRAW = """
import hashlib, json, sys
sys.path.insert(0, ROOT)
from dtnn.gradients import GradientView
from dtnn.plots import Timeline, gradients_figure, picture
from dtnn.plots.overlay import overlay_figure
from tests.gradients.made import told
from tests.plots.conftest import synthetic
from tests.tracing.made import run_of
import numpy as np

records = synthetic()
gradients = GradientView(told({"linear_1": np.ones((2, 3))}, [4, 4]))
drawn = {
    "run": picture(records, state="done"),
    "step": Timeline(run_of(ranks=2)).picture(),
    "gradients": gradients_figure(gradients)._repr_png_(),
    "runs": overlay_figure({"a": records})._repr_png_(),
}
found = {name: hashlib.sha1(png[png.index(b"IDAT"):]).hexdigest() for name, png in drawn.items()}
found["pyplot"] = "matplotlib.pyplot" in sys.modules and sys.modules["matplotlib.pyplot"].get_fignums()
print(json.dumps(found))
"""
OWN = """
import matplotlib.pyplot as plt, sys
sys.path.insert(0, ROOT)
from dtnn.plots import curves
from tests.plots.conftest import synthetic
ax = curves(synthetic())
assert plt.get_fignums() == [1], "who gives no Axes gets a figure of pyplot, as everywhere"
print(type(ax.figure.canvas).__module__)
"""


def ran(code, backend, **environment):
    """What a script prints where that backend was chosen."""
    environment = {**os.environ, "MPLBACKEND": backend, **environment}
    command = [sys.executable, "-c", f"ROOT = {str(ROOT)!r}\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.fixture(scope="module")
def usual():
    return json.loads(ran(DRAW, "agg"))


@pytest.fixture
def foreign(tmp_path):
    """The environment of a process in which there is a backend that matplotlib does not know, as ipympl's is one."""
    source = "from matplotlib.backends.backend_agg import FigureCanvasAgg, _BackendAgg\n"
    source += "class FigureCanvas(FigureCanvasAgg): pass\nclass _Backend(_BackendAgg): FigureCanvas = FigureCanvas\n"
    (tmp_path / "foreign.py").write_text(source + "FigureManager = FigureCanvas.manager_class\n")
    return {"PYTHONPATH": str(tmp_path)}


def is_the_same(found, usual):
    names = "run", "step", "gradients", "runs"
    assert not found["pyplot"]
    assert {name: found[name] for name in names} == {name: usual[name] for name in names}


@pytest.mark.processes
@pytest.mark.parametrize("backend", ["module://foreign", "module://matplotlib_inline.backend_inline", "svg"])
def test_pictures_are_the_same_and_pyplot_knows_nothing_of_them(usual, foreign, backend):
    is_the_same(json.loads(ran(DRAW, backend, **foreign)), usual)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("backend", "module"),
    [("agg", "backend_agg"), ("module://matplotlib_inline.backend_inline", "backend_agg"), ("module://foreign", "foreign")],
)
def test_a_picture_without_axes_is_one_of_the_users_backend(foreign, backend, module):
    assert ran(OWN, backend, **foreign).endswith(module)


@pytest.mark.processes
@pytest.mark.skipif(importlib.util.find_spec("ipympl") is None, reason="not installed: ipympl")
def test_ipympl_is_such_a_backend(usual):
    """Case 88."""
    is_the_same(json.loads(ran(DRAW, IPYMPL)), usual)
    assert ran(OWN, IPYMPL) == "ipympl.backend_nbagg"
