"""What the scripts that drive a notebook with a real browser have in common: servers with folders of their own, and the page.

Such a script is called with a folder, which is private and gets the notebook, Jupyter's folders and the screenshots, and with the
path of Chromium; it prints as JSON what was seen.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import nbformat

from tests.notebooks.blank_page import blank_page

BETWEEN = 0.4  # seconds between two clicks of somebody who looks at what the first has done
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


def show(serve, use, height=1400, afterwards=lambda folder: {}):
    """Serve a notebook, open a page of 1,000 pixels width, use it, and print what was seen.

    Parameters
    ----------
    serve : callable
        ``serve(folder)`` is a context that gives the address; it ends what it has started.
    use : callable
        ``use(page, address, folder)`` returns what was seen.
    height : int
        Pixels of the page.
    afterwards : callable
        ``afterwards(folder)`` returns what else is seen when the server has ended.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))  # so that all that was started is ended
    folder, chromium = Path(sys.argv[1]), sys.argv[2]
    with serve(folder) as address, blank_page(chromium, height) as page:
        page.set_default_timeout(60_000)
        try:
            seen = use(page, address, folder)
        except BaseException:
            page.screenshot(path=folder / "failed.png")
            raise
    print(json.dumps({**seen, **afterwards(folder)}))


# ---- servers


def lab(cells):
    """JupyterLab with a notebook of these cells, "work/book.ipynb"."""

    def serve(folder):
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell.strip()) for cell in cells], metadata=kernel)
        (folder / "work").mkdir()
        nbformat.write(book, folder / "work" / "book.ipynb")
        options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", "--port={port}", "--ServerApp.port_retries=0"]
        options += ["--IdentityProvider.token=", f"--ServerApp.root_dir={folder / 'work'}", "--expose-app-in-browser"]
        options += ["--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
        return served(folder, "jupyterlab", options, signal.SIGTERM)

    return serve


@contextlib.contextmanager
def served(folder, module, options, end):
    """A server on a free port, with all of its folders in ours; `end` is the signal that ends it."""
    port = free_port()
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **own, "IPYTHONDIR": str(folder / "ipython"), "MPLCONFIGDIR": str(folder / "matplotlib")}
    with open(folder / f"{module}.log", "w") as log:
        command = [sys.executable, "-m", module, *(option.format(port=port) for option in options)]
        server = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
    try:
        address = f"http://127.0.0.1:{port}"
        until(lambda: answers(address, port), 60, module)
        yield address
    finally:
        server.send_signal(end)
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()


def free_port():
    """One that nobody uses at the moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def answers(address, port):
    """Whether the server listens, and where it has an API, as JupyterLab, whether that answers."""
    with socket.create_connection(("127.0.0.1", port), 1):
        pass
    with contextlib.suppress(urllib.error.HTTPError):
        return urllib.request.urlopen(f"{address}/api", timeout=1).status == 200
    return True


# ---- the page


def open_notebook(page, address):
    """Open the notebook of `lab`, and wait until its kernel is there; returns the list that gets the page's errors from here.

    They are printed, too, whole, so that a script that fails has told them.
    """
    errors = []

    def note(text):
        errors.append(text[:300])
        print("in the page:", text, file=sys.stderr)

    page.on("pageerror", lambda error: note(str(error)))
    page.on("console", lambda message: note(message.text) if message.type == "error" else None)
    page.goto(f"{address}/lab/tree/book.ipynb?reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_function(READY)
    page.evaluate(OPENED)
    errors.clear()  # JupyterLab's own, while it starts
    return errors


def output(page, cell):
    """What a cell printed, when it has."""
    place = page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-OutputArea-output pre")
    place.first.wait_for(timeout=40_000)
    return place.first.inner_text()


def left(page, folder):
    """Shut the kernel down; what of all that it started is left."""
    page.evaluate(SHUT_DOWN)
    return ours_after(folder, 20)


def ours_after(folder, seconds):
    """What is left of it when it has had so many seconds to end."""
    with contextlib.suppress(TimeoutError):
        until(lambda: not ours(folder), seconds, "the processes to end", patience=1)
    return ours(folder)


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


def until(true, seconds, what, patience=3):
    """Wait until something is true; whatever it raises counts as not yet.

    `seconds` is what a slow machine needs that does nothing else; it may be busy, so `patience` times as many are waited.
    """
    seconds *= patience
    end = time.time() + seconds
    while time.time() < end:
        with contextlib.suppress(Exception):
            if true():
                return
        time.sleep(0.1)
    raise TimeoutError(f"waited {seconds} s for {what}")
