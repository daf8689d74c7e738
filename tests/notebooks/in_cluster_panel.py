"""Use the cluster's panel in JupyterLab with a real browser and two MPI engines; prints as JSON what was seen, see `browser`."""

import json
import time

from tests.notebooks.browser import RUN_CELL, lab, left, open_notebook, output, show, until
from tests.notebooks.in_allreduce import SAVE
from tests.notebooks.in_playground import OVERFLOW

CELLS = [
    "import dtnn\npanel = dtnn.lab.ClusterPanel()\npanel",
    "print(panel.cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result(), 'on', panel.cluster.ranks)",
    "import os, signal\nos.kill(panel.cluster.describe()[1]['pid'], signal.SIGKILL)\nprint('killed')",
    "print('six times seven is', 6 * 7)",
]
PANEL = OVERFLOW.replace(".dtnn-playground", ".dtnn-cluster")


def use(page, address, folder):
    """What a curious visitor does, and what there is to see."""
    seen, errors = {}, open_notebook(page, address)
    page.evaluate(RUN_CELL, 0)
    page.wait_for_selector(".dtnn-cluster")
    seen["begin"] = roster(page)
    page.dblclick(".dtnn-start")
    page.evaluate(RUN_CELL, 3)
    seen["free"] = output(page, 3)
    until(lambda: roster(page).count("idle") == 2, 60, "two engines")
    seen["overflow"] = page.evaluate(PANEL)
    page.screenshot(path=folder / "running.png")
    page.evaluate(RUN_CELL, 1)
    seen["sum"] = output(page, 1)
    die(page, seen, folder)
    restart_and_doctor(page, seen, folder)
    page.click(".dtnn-stop")
    until(lambda: roster(page).count("stopped") == 3, 30, "the stop")
    until(lambda: page.is_enabled(".dtnn-start"), 30, "the end of the stop")
    seen["kept"] = kept(page, folder)
    seen["left"], seen["errors"] = left(page, folder), errors
    return seen


def roster(page):
    return page.inner_text(".dtnn-roster")


def die(page, seen, folder):
    """A rank is killed; start makes new ones."""
    page.evaluate(RUN_CELL, 2)
    output(page, 2)
    begin = time.monotonic()
    until(lambda: "dead" in roster(page), 30, "the death to be seen")
    seen["seconds"] = time.monotonic() - begin
    until(lambda: "died" in page.inner_text(".dtnn-state"), 10, "the advice")
    seen["advice"] = page.inner_text(".dtnn-state")
    page.screenshot(path=folder / "dead.png")
    page.click(".dtnn-start")
    until(lambda: roster(page).count("idle") == 2, 60, "new engines")


def restart_and_doctor(page, seen, folder):
    before = roster(page)
    page.click(".dtnn-restart")
    until(lambda: roster(page).count("idle") == 2 and roster(page) != before, 60, "other engines")
    page.click(".dtnn-doctor")
    until(lambda: "MPI" in page.inner_text(".dtnn-findings"), 60, "the doctor")
    seen["overflow"] += page.evaluate(PANEL)
    page.screenshot(path=folder / "doctor.png")


def kept(page, folder):
    """What the saved notebook has, where there are no widgets."""

    def saved():
        page.evaluate(SAVE)
        _, made = json.loads((folder / "work" / "book.ipynb").read_text())["cells"][0]["outputs"]
        told.append("".join(made["data"]["text/plain"]))
        return "stopped" in told[-1]

    told = []
    until(saved, 20, "the picture to be kept")
    return told[-1]


if __name__ == "__main__":
    show(lab(CELLS), use)
