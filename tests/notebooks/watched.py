"""How tests have a script drive a notebook with a real browser, see `browser`."""

import json
import os
import shutil
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


def marks(*modules, limit, slow=True):
    """What a file of such tests is marked with: nothing runs beside them; skipped without Chromium or one of the modules."""
    missing = [name for name in ("playwright", "nbformat", *modules) if util.find_spec(name) is None]
    return [
        pytest.mark.undisturbed,
        *([pytest.mark.slow] if slow else []),
        pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; on Debian: apt-get install chromium"),
        pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}"),
        pytest.mark.limit(limit),
    ]


def watched(script, folder, seconds):
    """What the browser saw, as the script printed it."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, str(Path(__file__).parent / script), str(folder), CHROMIUM]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        told, errors = process.communicate(timeout=seconds)
    finally:
        process.terminate()  # its handler ends the server and the browser
        process.wait(20)
    assert process.returncode == 0, f"{errors[-3000:]}\nscreenshots and logs are in {folder}"
    print(told, folder)
    return json.loads(told)
