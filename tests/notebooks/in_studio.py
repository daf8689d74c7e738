"""Build and train a network in JupyterLab by clicks alone, with a real browser, and print what was seen; see `browser`."""

import time

from tests.notebooks.browser import BETWEEN, RUN_CELL, lab, left, open_notebook, output, show, until

CELLS = [
    "import dtnn\nstudio = dtnn.lab.Studio()\nstudio",
    "print('six times seven is', 6 * 7, 'while the run is', studio.run.state)",
    """
class Twice(dtnn.nn.Layer):
    def forward(self, x, step=None):
        return 2 * x, lambda dy: 2 * dy

def summed(comm, array):
    comm.Allreduce(array)
""",
    """
score, last = studio.model.evaluate(studio.data), studio.run.records.last(dtnn.records.Step)
print(studio.run.state, studio.run.size, "ranks | accuracy", score["accuracy"], "| rate", last.lr)
""",
    "print(studio.run.records.last(dtnn.records.Start).settings['strategy'])",
]
LAYERS = "Conv2d", "ReLU", "MaxPool2d", "Flatten", "Linear"


def use(page, address, folder):
    """What a new user does, and what there is to see."""
    seen, errors = {}, open_notebook(page, address)
    began = time.time()
    page.evaluate(RUN_CELL, 0)
    page.wait_for_selector(".dtnn-train")
    page.evaluate("document.querySelector('.dtnn-studio').scrollIntoView()")
    seen["buttons"] = in_sight(page, ".dtnn-train"), in_sight(page, ".dtnn-stop")
    build(page, seen)
    page.screenshot(path=folder / "built.png")
    seen["seconds"] = {"built": time.time() - began}
    train(page, seen, folder)
    seen["seconds"]["trained"] = time.time() - began
    page.evaluate(RUN_CELL, 3)
    seen["result"] = output(page, 3)
    page.evaluate(RUN_CELL, 2)
    until(lambda: "Twice" in page.text_content(".dtnn-kind select"), 20, "the layer of the cell")
    train_with_ones_own_layer(page, seen)
    seen["cut_off"] = page.evaluate(
        "[...document.querySelectorAll('.dtnn-studio .jupyter-button')].filter(b => b.scrollWidth > b.clientWidth + 1"
        " && !b.classList.contains('dtnn-call')).map(b => b.textContent)"
    )
    page.screenshot(path=folder / "ended.png", full_page=True)
    seen["left"], seen["errors"] = left(page, folder), errors
    return seen


def build(page, seen):
    """A small convolutional network with a Residual from nothing, with one mistake on the way."""
    page.click(".dtnn-clear")
    for number, name in enumerate(LAYERS, 1):
        page.select_option(".dtnn-kind select", label=name)
        page.dblclick(".dtnn-add") if name == "ReLU" else page.click(".dtnn-add")
        until(lambda: page.locator(".dtnn-call:visible").count() == number, 20, name)  # noqa: B023
        time.sleep(BETWEEN)  # a second click that comes too soon is none
    calls = page.locator(".dtnn-call:visible")
    seen["double"] = calls.count()
    calls.first.click()
    channels = page.locator(".dtnn-layers .dtnn-form:visible input[type=number]").first
    channels.wait_for()
    channels.fill("8")
    channels.press("Enter")
    until(lambda: calls.first.inner_text().startswith("Conv2d(8,"), 20, "8 channels")
    time.sleep(0.5)
    calls.first.click()
    until(lambda: page.locator(".dtnn-layers .dtnn-form:visible").count() == 0, 20, "the form to be closed")
    time.sleep(0.5)
    page.locator(".dtnn-layer:visible .dtnn-down").nth(3).dblclick()
    page.locator(".dtnn-wrong:visible").first.wait_for()
    time.sleep(0.5)
    seen["misfit"] = page.locator(".dtnn-layers .dtnn-wrong:visible").first.inner_text()
    page.dblclick(".dtnn-undo")
    until(lambda: page.locator(".dtnn-layers .dtnn-wrong:visible").count() == 0, 20, "the network to fit")
    time.sleep(0.5)
    build_inside(page, calls)
    seen["layers"] = calls.all_inner_texts()
    seen["total"] = page.inner_text(".dtnn-total")


def build_inside(page, calls):
    """A Residual behind the pooling, with a layer more in its body, and one of them less."""
    calls.nth(2).click()
    page.locator(".dtnn-layers .dtnn-form:visible").wait_for()
    page.select_option(".dtnn-kind select", label="Residual")
    page.click(".dtnn-add")
    until(lambda: calls.count() == 11, 20, "the five layers in the Residual")
    page.select_option(".dtnn-kind select", label="Dropout")
    time.sleep(0.5)
    page.locator(".dtnn-here:visible").first.dblclick()
    until(lambda: calls.count() == 12, 20, "a layer in its body")
    rate = page.locator(".dtnn-layer", has=page.locator(".dtnn-call", has_text="Dropout")).locator(".dtnn-call")
    time.sleep(0.5)
    rate.click()
    share = page.locator(".dtnn-layers .dtnn-form:visible input[type=number]").first
    until(lambda: share.input_value() == "0.5", 20, "its controls")
    share.fill("0.1")
    share.press("Enter")
    until(lambda: rate.inner_text() == "Dropout(0.1)", 20, "another share")
    time.sleep(0.5)
    page.locator(".dtnn-layer:visible .dtnn-remove").nth(6).dblclick()  # of the ReLU within, whose own row this is
    until(lambda: calls.count() == 11, 20, "one layer less")


def train(page, seen, folder):
    """Two engines; pause, a step, another rate, on, stop."""
    epochs = page.locator(".dtnn-epochs input")
    epochs.fill("100000")
    epochs.press("Enter")
    page.dblclick(".dtnn-train")
    page.wait_for_selector(".dtnn-live:visible", timeout=60_000)
    until(lambda: "step" in page.inner_text(".dtnn-line"), 90, "the first step")
    page.evaluate("document.querySelector('.dtnn-studio').scrollIntoView()")
    seen["view"] = in_sight(page, ".dtnn-train"), in_sight(page, "img.dtnn-live")
    page.evaluate(RUN_CELL, 1)
    seen["free"] = output(page, 1)
    page.evaluate("document.querySelector('.dtnn-train').scrollIntoView({block: 'center'})")
    until(lambda: int(step(page)) > 200, 60, "some steps")
    page.click(".dtnn-pause")
    until(lambda: page.inner_text(".dtnn-pause") == "Resume", 30, "the pause")
    time.sleep(3)
    paused_at = step(page)
    page.dblclick(".dtnn-step")
    until(lambda: step(page) > paused_at, 30, "one step")
    time.sleep(1)
    seen["double_step"] = step(page) - paused_at
    for _ in range(4):  # as quickly as somebody clicks who looks at each
        page.click(".dtnn-step")
        time.sleep(BETWEEN)
    until(lambda: step(page) >= paused_at + 5, 30, "four more")
    seen["quick_steps"] = step(page) - paused_at - 1
    paused_at = step(page) - 1
    lead_through_a_step(page, seen, folder)
    paused_at += 1
    even_out(page, seen, folder)
    rate = page.locator(".dtnn-lr input")
    rate.fill("0.01")
    rate.press("Enter")
    page.click(".dtnn-set-lr")
    page.click(".dtnn-pause")
    until(lambda: step(page) > paused_at + 20, 30, "it to go on")
    seen["line"] = page.inner_text(".dtnn-line")
    page.screenshot(path=folder / "training.png")
    page.dblclick(".dtnn-stop")
    until(lambda: page.inner_text(".dtnn-state") == "stopped", 40, "the end")
    seen["enabled"] = page.is_enabled(".dtnn-train") and not page.is_enabled(".dtnn-stop")


def lead_through_a_step(page, seen, folder):
    """Phase by phase; the weights of now in between."""
    seen["phases"], before = [], step(page)
    for name in ("forward", "backward", "reduce", "update"):
        page.click(".dtnn-step-phase")
        until(lambda: f"✓ {name}" in page.inner_text(".dtnn-phase b"), 30, name)  # noqa: B023
        seen["phases"].append(page.inner_text(".dtnn-phase"))
        time.sleep(BETWEEN)
        if name == "reduce":
            page.screenshot(path=folder / "phase.png")
            look_at_the_model(page, seen, folder)
    until(lambda: f"step {before + 1:,} " in page.inner_text(".dtnn-line"), 30, "the line below the picture")
    seen["told"] = page.inner_text(".dtnn-studio").count("update of step")


def in_sight(page, what):
    """Whether all of it is seen at the present place of the page."""
    box = page.locator(what).first.bounding_box()
    size = page.viewport_size
    return box["y"] >= 0 and box["y"] + box["height"] <= size["height"] and box["x"] + box["width"] <= size["width"]


def even_out(page, seen, folder):
    """The slider below the curves, while the run pauses: other pictures of the same step."""
    pictures = [page.get_attribute("img.dtnn-live", "src")]
    page.locator(".dtnn-smoothing:visible .noUi-handle").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        until(lambda: page.get_attribute("img.dtnn-live", "src") != pictures[-1], 20, "another picture")
        pictures.append(page.get_attribute("img.dtnn-live", "src"))
    page.screenshot(path=folder / "smoothed.png")
    seen["smoothed"] = page.locator(".dtnn-smoothing:visible .widget-readout").inner_text()


def look_at_the_model(page, seen, folder):
    """The tab that shows the weights of now, and back."""
    page.locator(".dtnn-insights .lm-TabBar-tab", has_text="model").click()
    words = page.locator(".dtnn-model .dtnn-faint")
    until(lambda: words.count() and "steps of the run that goes on" in words.first.inner_text(), 60, "the weights of now")
    seen["weights"] = words.first.inner_text()
    page.screenshot(path=folder / "weights.png")
    page.locator(".dtnn-insights .lm-TabBar-tab", has_text="live").click()
    page.wait_for_selector(".dtnn-live:visible")


def train_with_ones_own_layer(page, seen):
    """The layer and the all-reduce that a cell defined, on the same engines."""
    page.evaluate("document.querySelector('.dtnn-studio').scrollIntoView()")
    page.locator(".dtnn-kind select").select_option(index=0)
    page.click(".dtnn-add")
    until(lambda: "Twice()" in page.locator(".dtnn-call:visible").all_inner_texts(), 20, "the layer in the network")
    page.locator('.dtnn-settings select:has(option:text-is("native"))').select_option(label="summed (yours)")
    epochs = page.locator(".dtnn-epochs input")
    epochs.fill("1")
    epochs.press("Enter")
    page.click(".dtnn-train")
    until(lambda: page.inner_text(".dtnn-state") in ("done", "failed", "ready"), 90, "the end")
    seen["own"], seen["said"] = page.inner_text(".dtnn-state"), page.inner_text(".dtnn-bar")
    page.evaluate(RUN_CELL, 4)
    seen["own_strategy"] = output(page, 4)


def step(page):
    """The step that the line below the picture tells."""
    return int(page.inner_text(".dtnn-line").split("step ")[1].split(" ")[0].replace(",", ""))


if __name__ == "__main__":
    show(lab(CELLS), use)
