"""Use the playground in JupyterLab with a real browser, and print as JSON what was seen; see `browser`."""

import time

from tests.notebooks.browser import BETWEEN, RUN_CELL, lab, left, open_notebook, output, show, until

CELLS = [
    "import dtnn\nplayground = dtnn.lab.Playground('circle')\nplayground",
    """
import threading
rank_threads = [thread for thread in threading.enumerate() if thread.name.endswith("of a playground")]
print("step", playground.play.step, "|", len(rank_threads), "threads |", playground.play.ranks, "ranks")
""",
    "print('six times seven is', 6 * 7)",
    "dtnn.lab.Playground('gauss', big=True)",
]
PICTURES = """async () => {
    const seen = new Set(), image = () => document.querySelector('.dtnn-playground img').src;
    const end = Date.now() + 3000;
    while (Date.now() < end) { seen.add(image()); await new Promise(done => setTimeout(done, 20)); }
    return seen.size / 3;
}"""
OVERFLOW = """() => {
    const panel = document.querySelector('.dtnn-playground'), edge = panel.getBoundingClientRect().right + 1;
    const parts = [...panel.querySelectorAll('button, select, label, .widget-slider, .widget-readout, img, .dtnn-faint')];
    return parts.filter(part => part.offsetParent && (part.getBoundingClientRect().right > edge
        || part.scrollWidth > part.clientWidth + 1 && part.clientWidth)).map(part => part.className + ': ' + part.textContent);
}"""
DARK = "async () => { await window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'}); }"


def use(page, address, folder):
    """What a curious visitor does, and what there is to see."""
    seen, errors = {}, open_notebook(page, address)
    page.evaluate(RUN_CELL, 0)
    page.wait_for_selector(".dtnn-playground img")
    page.evaluate("document.querySelector('.dtnn-playground').scrollIntoView()")
    seen["begin"], seen["overflow"] = words(page), page.evaluate(OVERFLOW)
    page.screenshot(path=folder / "begin.png")
    train(page, seen, folder)
    mistake(page, seen, folder)
    again(page, seen, folder)
    seen["left"], seen["errors"] = left(page, folder), errors
    return seen


def words(page):
    return page.inner_text(".dtnn-words")


def step_of(page):
    return int(words(page).split()[1])


def train(page, seen, folder):
    """Step, run, another network while it runs, stop."""
    page.dblclick(".dtnn-one-step")
    time.sleep(BETWEEN)
    until(lambda: step_of(page) == 1, 30, "one step")
    page.click(".dtnn-run")
    until(lambda: step_of(page) > 10, 30, "some steps")
    page.evaluate(RUN_CELL, 2)
    seen["free"] = output(page, 2)
    page.screenshot(path=folder / "runs.png")
    page.select_option(".dtnn-hidden select", label="two weights")
    until(lambda: "class 1 is where" in words(page) and step_of(page) > 10, 30, "steps of two weights")
    page.locator(".dtnn-ranks .noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    until(lambda: ": 6.4 a rank" in words(page) and step_of(page) > 30, 30, "steps of five ranks")
    seen["pictures"], seen["runs"] = page.evaluate(PICTURES), page.inner_text(".dtnn-run")
    page.screenshot(path=folder / "two.png")
    page.dblclick(".dtnn-run")  # stops, and doesn't run on
    until(lambda: page.inner_text(".dtnn-run") == "▶ run", 10, "the stop")
    seen["trained"] = words(page)


def mistake(page, seen, folder):
    """Two strategies at once, a click nevertheless, and one of them back."""
    for name in ("local-steps", "compression"):
        page.locator(f".dtnn-{name} .noUi-handle").focus()
        page.keyboard.press("ArrowRight")
    page.wait_for_selector(".dtnn-wrong:visible")
    page.click(".dtnn-run")
    page.click(".dtnn-one-step")
    seen["wrong"] = page.inner_text(".dtnn-wrong")
    seen["overflow"] += page.evaluate(OVERFLOW)
    page.screenshot(path=folder / "wrong.png")
    page.locator(".dtnn-local-steps .noUi-handle").focus()
    page.keyboard.press("ArrowLeft")
    until(lambda: page.locator(".dtnn-wrong:visible").count() == 0, 20, "the sentence to go")
    time.sleep(BETWEEN)
    page.click(".dtnn-one-step")
    until(lambda: "Compressed" in words(page) and step_of(page) == 1, 20, "a step")


def again(page, seen, folder):
    """The cell is run again, in the dark, and another one with large letters."""
    page.evaluate(DARK)
    page.evaluate(RUN_CELL, 0)
    until(lambda: step_of(page) == 0, 20, "the new one")
    page.evaluate(RUN_CELL, 1)
    seen["after"] = output(page, 1)
    page.select_option(".dtnn-hidden select", label="two weights")
    for _ in range(5):
        page.click(".dtnn-one-step")
        time.sleep(BETWEEN)
    until(lambda: step_of(page) == 5, 20, "five steps")
    page.screenshot(path=folder / "dark.png")
    page.evaluate(RUN_CELL, 3)
    page.wait_for_selector(".dtnn-big img")
    page.evaluate("document.querySelector('.dtnn-big').scrollIntoView()")
    page.locator(".dtnn-big .dtnn-one-step").click()
    until(lambda: "step 1" in page.inner_text(".dtnn-big .dtnn-words"), 20, "a step with large letters")
    seen["overflow"] += page.evaluate(OVERFLOW.replace(".dtnn-playground", ".dtnn-big"))
    page.screenshot(path=folder / "big.png")


if __name__ == "__main__":
    show(lab(CELLS), use)
