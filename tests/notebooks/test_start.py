"""The first notebook, run from top to bottom as a student would, in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dtnn.lab_command import notebooks

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")

RUN = """
import sys, nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], 4)
NotebookClient(book, timeout=60, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(book, sys.argv[2] + "/ran.ipynb")
"""
BOOKS = sorted(notebooks().glob("*.ipynb"))


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.name)
def test_notebooks_are_kept_clean(path):
    """What lies in the repository has no outputs, so that a change of it can be read."""
    book = nbformat.read(path, 4)
    nbformat.validate(book)
    for cell in book.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
    assert book.metadata.kernelspec.name == "python3"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The notebook after it was run, and the file it was saved to."""
    folder = tmp_path_factory.mktemp("start")
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": root}
    command = [sys.executable, "-c", RUN, str(notebooks() / "00_start.ipynb"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return nbformat.read(folder / "ran.ipynb", 4), folder / "ran.ipynb"


def _outputs(book, name):
    return next(cell for cell in book.cells if cell.id == name).outputs


@pytest.mark.limit(160)
def test_it_runs_and_learns(ran):
    book, _ = ran
    accuracy = float(re.search(r"'accuracy': ([\d.]+)", _outputs(book, "wait")[-1].data["text/plain"]).group(1))
    assert accuracy > 0.93
    assert [bundle.data["text/plain"] for bundle in _outputs(book, "breakdown")] == ["<Figure size 640x360 with 1 Axes>"]


@pytest.mark.limit(160)
@pytest.mark.parametrize(("cell", "ranks"), [("here", "1 rank"), ("there", "2 ranks")])
def test_the_last_picture_stays_for_pages_without_widgets(ran, cell, ranks):
    """Cases 85 and 88: one display that was updated, and a static image in it."""
    book, _ = ran
    pictures = [output for output in _outputs(book, cell) if "image/png" in output.get("data", {})]
    assert len(pictures) == 1
    assert pictures[0].output_type == "display_data"
    words = pictures[0].data["text/plain"]
    assert words.startswith("done · ")
    assert words.endswith(ranks)


@pytest.mark.limit(160)
def test_it_stays_small(ran):
    _, path = ran
    assert path.stat().st_size < 1_000_000
