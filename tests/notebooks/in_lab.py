"""Drive a notebook in JupyterLab with a real browser, and print as JSON what was seen.

python in_lab.py FOLDER CHROMIUM: FOLDER is private and gets the notebook, Jupyter's folders and the screenshots.
"""

import base64
import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
from PIL import Image
from playwright.sync_api import sync_playwright

SECONDS = 11  # of training
CELLS = [
    f"""
import time
import ipywidgets
import dtnn

cluster = dtnn.Cluster(2).start()
digits, model = dtnn.data.mnist5k(), dtnn.zoo.lenet5()
began = []

def for_some_seconds(record):
    if isinstance(record, dtnn.records.Step):
        began.append(time.time())
        return dtnn.Stop("long enough") if began[-1] - began[0] > {SECONDS} else None

def train(_):
    global run
    run = model.start(digits, cluster=cluster, epochs=100_000, batch_size=64, callbacks=[for_some_seconds])
    with place:
        display(run)

button, place = ipywidgets.Button(description="Train").add_class("train"), ipywidgets.Output()
button.on_click(train)
ipywidgets.VBox([button, place])
""",
    "print('six times seven is', 6 * 7, 'while the run is', run.state)",
    "print('end:', run.state, '| accuracy', model.evaluate(digits)['accuracy'], '| epochs', len(run.history.epoch))",
]

# Every new picture is fetched at once, with the moment it was seen: the page lets go of old ones.
WATCH = """() => {
    window.seen = []; let last = '';
    window.watching = setInterval(async () => {
        const image = document.querySelector('img.dtnn-live');
        if (!image || image.src === last) return;
        last = image.src;
        const now = Date.now() / 1000, box = image.getBoundingClientRect();
        try {
            const bytes = new Uint8Array(await (await fetch(last)).arrayBuffer());
            let text = ''; bytes.forEach(byte => text += String.fromCharCode(byte));
            window.seen.push({now, png: btoa(text), width: box.width, height: box.height, top: box.top});
        } catch (error) { window.missed = (window.missed || 0) + 1; }
    }, 40);
}"""
READY = "window.jupyterapp && window.jupyterapp.shell.currentWidget && window.jupyterapp.shell.currentWidget.sessionContext"
OPENED = """async () => {
    const page = window.jupyterapp.shell.currentWidget;
    await page.context.ready; await page.sessionContext.ready;
}"""
RUN_CELL = """async (number) => {
    window.jupyterapp.shell.currentWidget.content.activeCellIndex = number;
    await window.jupyterapp.commands.execute('notebook:run-cell');
}"""
SHUT_DOWN = "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.shutdown(); }"


def main(folder, chromium):
    folder = Path(folder)
    (folder / "work").mkdir()
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in CELLS], metadata=kernel)
    nbformat.write(book, folder / "work" / "live.ipynb")
    with lab(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        page.set_default_timeout(60_000)
        try:
            seen = watch(page, address, folder)
        except BaseException:
            page.screenshot(path=folder / "failed.png")
            raise
        browser.close()
    print(json.dumps(seen))


@contextlib.contextmanager
def lab(folder):
    """JupyterLab on a free port, with all of its folders in ours."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "MPLCONFIGDIR": str(folder / "matplotlib")}
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    options += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder / 'work'}", "--expose-app-in-browser"]
    options += ["--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with open(folder / "lab.log", "w") as log:
        command = [sys.executable, "-m", "jupyterlab", *options]
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
    try:
        address = f"http://127.0.0.1:{port}"
        until(lambda: urllib.request.urlopen(f"{address}/api", timeout=1).status == 200, 60, "JupyterLab")
        yield address
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


def watch(page, address, folder):
    """Open the notebook, train by a click, and say what could be seen."""
    seen, errors = {"errors": []}, []
    page.on("pageerror", lambda error: errors.append(str(error)[:300]))
    page.goto(f"{address}/lab/tree/live.ipynb?reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    page.wait_for_function(READY, timeout=30_000)
    page.evaluate(OPENED)
    page.evaluate(RUN_CELL, 0)
    page.wait_for_selector("button.train", timeout=60_000)
    page.evaluate(WATCH)
    clicked = time.time()
    page.click("button.train")
    page.wait_for_selector("img.dtnn-live", timeout=30_000)
    time.sleep(4)
    page.evaluate(RUN_CELL, 1)
    seen["free"] = output(page, 1)
    page.screenshot(path=folder / "training.png")
    until(
        lambda: page.evaluate("window.seen.length") > 1 and newest(page)["words"].split(":")[0] == "stopped",
        SECONDS + 40,
        "the end",
    )
    page.evaluate("clearInterval(window.watching)")
    page.evaluate(RUN_CELL, 2)
    seen["result"] = output(page, 2)
    page.screenshot(path=folder / "ended.png")
    seen["pictures"] = [told(each) for each in page.evaluate("window.seen")]
    seen["first_point"] = next(each["seen"] for each in seen["pictures"] if each["step"]) - clicked
    seen["outputs"] = page.evaluate("window.jupyterapp.shell.currentWidget.model.cells.get(0).outputs.length")
    seen["before_shutdown"] = len(ours(folder))
    page.evaluate(SHUT_DOWN)
    with contextlib.suppress(TimeoutError):
        until(lambda: not ours(folder), 15, "the processes to end")
    seen["left"], seen["errors"] = ours(folder), errors
    return seen


def output(page, cell):
    """What a cell printed, when it has."""
    place = page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-OutputArea-output pre")
    place.first.wait_for(timeout=40_000)
    return place.first.inner_text()


def newest(page):
    return told(page.evaluate("window.seen[window.seen.length - 1]"))


def told(picture):
    """What a picture says of itself."""
    text = Image.open(io.BytesIO(base64.b64decode(picture["png"]))).text
    place = {name: picture[name] for name in ("width", "height", "top")}
    return {
        "seen": picture["now"],
        "newest": float(text["dtnn.newest"]),
        "drawn": float(text["dtnn.drawn"]),
        "step": int(text["dtnn.step"]),
        "words": text["Description"],
        **place,
    }


def ours(folder):
    """Processes that inherited this folder in their environment: the kernel, and all that was started from it."""
    mark, found = f"JUPYTER_RUNTIME_DIR={folder}".encode(), []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdecimal() and mark in (process / "environ").read_bytes():
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if command and "jupyterlab" not in command:
                    found.append(command[:120])
    return found


def until(true, seconds, what):
    """Wait until something is true; whatever it raises counts as not yet."""
    end = time.time() + seconds
    while time.time() < end:
        with contextlib.suppress(Exception):
            if true():
                return
        time.sleep(0.1)
    raise TimeoutError(f"waited {seconds} s for {what}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # so that all that was started is ended
    main(*sys.argv[1:])
