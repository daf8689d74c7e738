"""The notebook of the studio, run without a browser: pictures and words, never the dump of a widget."""

import os
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
NotebookClient(book, timeout=100, store_widget_state=False, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(book, sys.argv[2] + "/ran.ipynb")
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The notebook after it was run."""
    folder = tmp_path_factory.mktemp("studio")
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": root}
    command = [sys.executable, "-c", RUN, str(notebooks() / "06_studio.ipynb"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert (folder / "ran.ipynb").stat().st_size < 1_000_000
    return nbformat.read(folder / "ran.ipynb", 4)


def shown(book, name):
    view, kept = next(cell for cell in book.cells if cell.id == name).outputs
    assert view["data"]["text/plain"] == ""
    return kept["data"]


@pytest.mark.limit(160)
@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("studio", "Network, input (28, 28, 1)"),
        ("allreduce", "ring on 4 ranks, 8 numbers: round 1 of 6"),
        ("playground", "step 0 · no step yet"),
        ("cluster", "ClusterPanel: no cluster yet"),
    ],
)
def test_a_page_without_widgets_has_words_and_a_picture(ran, cell, words):
    """Case 88."""
    data = shown(ran, cell)
    assert data["text/plain"].startswith(words)
    assert "VBox" not in data["text/plain"]
    assert ("image/png" in data) == (cell != "cluster")
    assert ("data:image/png" in data["text/html"]) == (cell != "cluster")


@pytest.mark.limit(160)
def test_what_the_studio_holds_is_a_model(ran):
    (output,) = next(cell for cell in ran.cells if cell.id == "held").outputs
    assert "model = Model(\n    Conv2d(6, 5, padding=2)," in output["text"]
    assert "no training yet" in output["text"]
