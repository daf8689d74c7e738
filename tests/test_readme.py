"""What the README names is there, and its code runs."""

import operator
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dtnn
from dtnn.cli import COMMANDS
from dtnn.cluster import Run
from tests.comm.mpi_job import why_no_mpi

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def mentioned(pattern):
    found = sorted(set(re.findall(pattern, TEXT, re.MULTILINE)))
    assert found, pattern
    return found


@pytest.mark.parametrize("name", mentioned(r"\bdtnn\.([A-Za-z_][\w.]*\w)"))
def test_names_of_the_package(name):
    if name.startswith("lab"):
        pytest.importorskip("ipywidgets")
    operator.attrgetter(name)(dtnn)


@pytest.mark.parametrize("name", mentioned(r"\brun\.(\w+)\("))
def test_what_a_run_can_do(name):
    assert callable(getattr(Run, name))


@pytest.mark.parametrize("name", mentioned(r"^    (?:.*&& )?dtnn (\w+)"))
def test_commands(name):
    assert name in COMMANDS


@pytest.mark.parametrize("path", mentioned(r"(?:benchmarks/\w+\.py|\w+\.ipynb|[A-Z]+\.md|environment\.yml)"))
def test_files(path):
    assert (ROOT / path).exists() or (ROOT / "notebooks" / path).exists()


@pytest.mark.undisturbed
@pytest.mark.slow
@pytest.mark.limit(120)
@pytest.mark.skipif(bool(why_no_mpi()), reason=why_no_mpi())
@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
def test_code_runs(block, tmp_path):
    check = "assert model.evaluate(digits)['accuracy'] > 0.9, model.history.history"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", f"{block}\n{check}"], cwd=tmp_path, timeout=110, check=True, env=environment)
