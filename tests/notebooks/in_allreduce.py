"""Use the lab of all-reduces in JupyterLab with a real browser, and print as JSON what was seen; see `browser`."""

import json
import time

from tests.notebooks.browser import BETWEEN, RUN_CELL, lab, left, open_notebook, output, show, until
from tests.notebooks.in_playground import DARK, OVERFLOW

CELLS = [
    "import dtnn\nlab = dtnn.lab.AllReduceLab('ring', ranks=4, length=8)\nlab",
    "def broken(comm, array):\n    raise ValueError('this one is broken')",
    "print('six times seven is', 6 * 7)",
    "print(lab.words())",
    "dtnn.lab.AllReduceLab('torus', ranks=16, length=100_000, big=True)",
]
SAVE = "async () => { await window.jupyterapp.commands.execute('docmanager:save'); }"
PANEL = OVERFLOW.replace(".dtnn-playground", ".dtnn-allreduce")


def use(page, address, folder):
    """What a curious visitor does, and what there is to see."""
    seen, errors = {}, open_notebook(page, address)
    page.evaluate(RUN_CELL, 0)
    page.wait_for_selector(".dtnn-allreduce img")
    seen["overflow"] = page.evaluate(PANEL)
    page.screenshot(path=folder / "begin.png")
    rounds(page, seen, folder)
    below(page, seen, folder)
    others(page, seen, folder)
    seen["kept"] = kept(page, folder)
    seen["left"], seen["errors"] = left(page, folder), errors
    return seen


def words(page):
    """What the panel says in a terminal, asked for in a cell."""
    page.evaluate(RUN_CELL, 3)
    return output(page, 3)


def picture(page):
    return page.locator(".dtnn-allreduce img").first.get_attribute("src")


def rounds(page, seen, folder):
    """A step by a double click, another, one back, then all of them."""
    first = picture(page)
    page.dblclick(".dtnn-forward")
    time.sleep(BETWEEN)
    page.click(".dtnn-forward")
    page.click(".dtnn-back")
    until(lambda: "round 2 of 6" in words(page), 20, "one round")
    assert picture(page) != first
    page.screenshot(path=folder / "step.png")
    page.click(".dtnn-play")
    until(lambda: "stop" in page.inner_text(".dtnn-play"), 10, "play")
    page.evaluate(RUN_CELL, 2)
    seen["free"], seen["playing"] = output(page, 2), page.inner_text(".dtnn-play")
    until(lambda: page.inner_text(".dtnn-play") == "▶ play", 30, "the end")
    seen["played"] = words(page)


def below(page, seen, folder):
    """Clock and bits, one of the algorithms being a broken one of the notebook's; a measurement that is ended."""
    page.evaluate(RUN_CELL, 1)
    page.dblclick(".dtnn-measure")
    until(lambda: "the clock" in page.inner_text(".dtnn-clock"), 30, "the clock")
    seen["clock"] = page.inner_text(".dtnn-clock")
    page.click(".dtnn-compare")
    until(lambda: page.inner_text(".dtnn-bits").count("the same") == 10, 60, "the bits")
    until(lambda: page.inner_text(".dtnn-compare") == "compare bits", 10, "the button")
    seen["bits"] = page.inner_text(".dtnn-bits")
    page.locator(".dtnn-latency input").fill("1000")
    page.keyboard.press("Enter")
    page.click(".dtnn-measure")
    until(lambda: "stop" in page.inner_text(".dtnn-measure"), 10, "the stop")
    page.wait_for_timeout(500)  # what follows at once is a double click
    page.click(".dtnn-measure")
    until(lambda: page.inner_text(".dtnn-measure") == "measure", 10, "its end")
    seen["ended"] = page.inner_text(".dtnn-clock")
    seen["overflow"] += page.evaluate(PANEL)
    page.screenshot(path=folder / "below.png")


def others(page, seen, folder):
    """A broken one, a torus of another grid; the largest, with large letters and in the dark."""
    page.select_option(".dtnn-algorithm select", label="broken")
    page.wait_for_selector(".dtnn-wrong:visible")
    seen["wrong"] = page.locator(".dtnn-wrong:visible").first.inner_text()
    page.select_option(".dtnn-algorithm select", label="torus")
    page.wait_for_selector(".dtnn-grid:visible")
    page.select_option(".dtnn-grid select", label="1 × 4")
    until(lambda: "torus (1 × 4)" in words(page), 20, "the grid")
    seen["overflow"] += page.evaluate(PANEL)
    page.evaluate(DARK)
    page.screenshot(path=folder / "torus.png")
    page.evaluate(RUN_CELL, 4)
    page.wait_for_selector(".dtnn-big img")
    page.evaluate("document.querySelector('.dtnn-big').scrollIntoView()")
    page.locator(".dtnn-big .dtnn-forward").click()
    seen["overflow"] += page.evaluate(OVERFLOW.replace(".dtnn-playground", ".dtnn-big"))
    page.wait_for_timeout(1000)
    page.screenshot(path=folder / "big.png")


def kept(page, folder):
    """What the saved notebook has of the first cell, where there are no widgets."""

    def saved():
        page.evaluate(SAVE)
        _, made = json.loads((folder / "work" / "book.ipynb").read_text())["cells"][0]["outputs"]
        told.append("".join(made["data"]["text/plain"]))
        return "torus" in told[-1] and "image/png" in made["data"]

    told = []
    until(saved, 20, "the picture to be kept")
    return told[-1]


if __name__ == "__main__":
    show(lab(CELLS), use)
