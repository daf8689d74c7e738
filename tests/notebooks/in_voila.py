"""Open the studio's notebook through Voila with a real browser, train, and print as JSON what was seen.

python in_voila.py FOLDER CHROMIUM: FOLDER is private and gets the notebook, Jupyter's folders and the screenshots.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from dtnn.cli import notebooks
from tests.notebooks.in_lab import ours, until


def main(folder, chromium):
    folder = Path(folder)
    (folder / "work").mkdir()
    shutil.copy(notebooks() / "06_studio.ipynb", folder / "work")
    with voila(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1000, "height": 1400})
        page.set_default_timeout(60_000)
        try:
            seen = use(page, address, folder)
        except BaseException:
            page.screenshot(path=folder / "failed.png")
            raise
        browser.close()
        seen["while_served"] = len(ours(folder))
    with contextlib.suppress(TimeoutError):
        until(lambda: not ours(folder), 20, "the processes to end")
    print(json.dumps({**seen, "left": ours(folder)}))


@contextlib.contextmanager
def voila(folder):
    """Voila on a free port, with all of its folders in ours; the notebook is the page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "MPLCONFIGDIR": str(folder / "matplotlib")}
    options = ["--no-browser", f"--port={port}", "--Voila.ip=127.0.0.1", "--token=", str(folder / "work" / "06_studio.ipynb")]
    with open(folder / "voila.log", "w") as log:
        command = [sys.executable, "-m", "voila", *options]
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
    try:
        address = f"http://127.0.0.1:{port}"
        until(lambda: listens(port), 60, "Voila")
        yield address
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()


def listens(port):
    """Whether somebody answers there."""
    with socket.create_connection(("127.0.0.1", port), 1):
        return True


def use(page, address, folder):
    """What a visitor does, who sees no code, and what there is to see."""
    errors, began = [], time.time()
    page.on("pageerror", lambda error: errors.append(str(error)[:300]))
    page.goto(address, timeout=90_000)
    page.wait_for_selector(".dtnn-train", timeout=90_000)
    seen = {"seconds": {"shown": time.time() - began}, "panels": page.locator(".dtnn-panel").count()}
    seen["code"] = page.locator(".jp-InputArea-editor:visible").count()
    page.screenshot(path=folder / "shown.png")
    epochs = page.locator(".dtnn-epochs input")
    epochs.fill("2")
    epochs.press("Enter")
    page.click(".dtnn-train")
    ended = ("done", "failed", "stopped", "ready")
    until(lambda: page.inner_text(".dtnn-state") in ended and page.is_enabled(".dtnn-train"), 120, "the end")
    seen["state"], seen["line"] = page.inner_text(".dtnn-state"), page.inner_text(".dtnn-line")
    seen["picture"] = page.evaluate("document.querySelector('img.dtnn-live').naturalWidth")
    seen["seconds"]["trained"] = time.time() - began
    page.screenshot(path=folder / "trained.png")
    seen["errors"] = errors
    return seen


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # so that all that was started is ended
    main(*sys.argv[1:])
