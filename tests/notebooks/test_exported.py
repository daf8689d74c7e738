"""A notebook that was run, saved with its widgets and exported as HTML, on a page without a network: nothing is left blank."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.notebooks.blank_page import blank_page
from tests.notebooks.watched import CHROMIUM, marks

pytestmark = marks("nbclient", "nbconvert", limit=200)
CELLS = [
    "import dtnn\nstudio = dtnn.lab.Studio()\nstudio",
    "run = dtnn.zoo.mlp(hidden=(8,)).start(dtnn.data.mnist5k(), epochs=1)\nrun",
    "run.result()\nassert run.done",
    "history = dtnn.zoo.mlp(hidden=(8,)).fit(dtnn.data.mnist5k(), epochs=1)",
    "dtnn.lab.Playground()",
    "dtnn.lab.ClusterPanel()",
]
RUN = """
import sys, nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS], metadata=kernel)
NotebookClient(book, timeout=100, store_widget_state=True, resources={"metadata": {"path": sys.argv[1]}}).execute()
assert book.metadata.widgets, "the widgets are in it, so that their views are tried first"
open(sys.argv[1] + "/ran.html", "w").write(HTMLExporter().from_notebook_node(book)[0])
"""
SEEN = "image.complete && image.naturalWidth > 300 && image.getBoundingClientRect().height > 100"
IMAGES = "[...cell.querySelectorAll('.jp-OutputArea-output img')]"
PICTURES = f"[...document.querySelectorAll('.jp-Cell')].map(cell => {IMAGES}.filter(image => {SEEN}).length)"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The exported page, as a browser without a network shows it."""
    folder = tmp_path_factory.mktemp("exported")
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", f"CELLS = {CELLS!r}\n{RUN}", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    with blank_page(CHROMIUM, offline=True) as page:
        page.goto((folder / "ran.html").as_uri())
        page.screenshot(path=folder / "page.png", full_page=True)
        yield page


def test_each_cell_has_its_last_picture_once(page):
    assert page.evaluate(PICTURES) == [1, 1, 0, 1, 1, 0]


def test_words_are_there_too(page):
    words = page.inner_text("body")
    for told in ("Network, input (28, 28, 1)", "step 125", "step 0 · no step yet", "ClusterPanel: no cluster yet"):
        assert told in words


def test_where_the_widgets_are_drawn_the_other_output_is_not_seen(page):
    """What JupyterLab shows: the class of a panel that is on the page hides its picture."""
    kept = page.locator("div[class^=dtnn-][class$=-kept]").first
    assert kept.is_visible()
    name = kept.get_attribute("class").removesuffix("-kept")
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', '<div class=\"{name}\"></div>')")
    assert not kept.is_visible()
    assert page.locator("div[class^=dtnn-][class$=-kept]").nth(1).is_visible(), "of another panel it is"
