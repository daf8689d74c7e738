"""Open the studio's notebook through Voila with a real browser, train, and print as JSON what was seen; see `browser`."""

import shutil
import signal
import time

from dtnn.lab_command import notebooks
from tests.notebooks.browser import ours, ours_after, served, show, until


def voila(folder):
    """Voila: the notebook is the page."""
    (folder / "work").mkdir()
    shutil.copy(notebooks() / "06_studio.ipynb", folder / "work")
    options = ["--no-browser", "--port={port}", "--Voila.ip=127.0.0.1", "--token=", str(folder / "work" / "06_studio.ipynb")]
    return served(folder, "voila", options, signal.SIGINT)


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
    until(lambda: page.inner_text(".dtnn-state") not in ended, 60, "the click to count")
    until(lambda: page.inner_text(".dtnn-state") in ended and page.is_enabled(".dtnn-train"), 120, "the end")
    seen["state"], seen["line"] = page.inner_text(".dtnn-state"), page.inner_text(".dtnn-line")
    seen["picture"] = page.evaluate("document.querySelector('img.dtnn-live').naturalWidth")
    seen["seconds"]["trained"] = time.time() - began
    page.screenshot(path=folder / "trained.png")
    page.dblclick(".dtnn-playground .dtnn-one-step")
    until(lambda: page.inner_text(".dtnn-words").startswith("step 1 · loss"), 60, "one step of the playground")
    seen["playground"] = page.inner_text(".dtnn-words")
    page.locator(".dtnn-playground").screenshot(path=folder / "playground.png")
    seen["errors"], seen["while_served"] = errors, len(ours(folder))
    return seen


if __name__ == "__main__":
    show(voila, use, afterwards=lambda folder: {"left": ours_after(folder, 20)})
