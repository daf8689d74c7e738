"""The studio's notebook as a page without code, through Voila and in a real browser, with two MPI engines."""

import json
import os
import shutil
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
MISSING = [name for name in ("voila", "playwright", "jupyterlab", "nbformat") if util.find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; on Debian: apt-get install chromium"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.limit(320),
]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the browser saw."""
    folder = tmp_path_factory.mktemp("voila")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, str(Path(__file__).parent / "in_voila.py"), str(folder), CHROMIUM]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        told, errors = process.communicate(timeout=300)
    finally:
        process.terminate()  # its handler ends Voila and the browser
        process.wait(20)
    assert process.returncode == 0, f"{errors[-3000:]}\nscreenshots and logs are in {folder}"
    print(told, folder)
    return json.loads(told)


def test_all_panels_are_there_and_no_code(seen):
    assert seen["panels"] >= 4
    assert seen["code"] == 0


def test_a_click_trains_on_the_engines(seen):
    assert seen["state"] == "done"
    assert seen["line"].startswith("step 126 · ")
    assert seen["picture"] >= 960


def test_no_errors_in_the_page_and_nothing_left(seen):
    assert seen["errors"] == []
    assert seen["while_served"] > 0, "what was started is seen"
    assert seen["left"] == []
