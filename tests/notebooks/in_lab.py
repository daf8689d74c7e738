"""Train in a notebook in JupyterLab with a real browser, and print as JSON what was seen of the live view; see `browser`."""

import base64
import io
import time

from PIL import Image

from tests.notebooks.browser import RUN_CELL, lab, left, open_notebook, ours, output, show, until

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

# Every new picture is fetched at once, with the moment it was seen: the page lets go of old ones.  The first is seen when the
# browser has decoded it (until then it has no height); while it decodes a later one the one before must stay, or something jumps.
WATCH = """() => {
    window.seen = []; let last = '';
    window.watching = setInterval(async () => {
        const image = document.querySelector('img.dtnn-live');
        if (!image || image.src === last) return;
        const now = Date.now() / 1000, box = image.getBoundingClientRect();
        if (!last && !box.height) return;
        last = image.src;
        try {
            const bytes = new Uint8Array(await (await fetch(last)).arrayBuffer());
            let text = ''; bytes.forEach(byte => text += String.fromCharCode(byte));
            window.seen.push({now, png: btoa(text), width: box.width, height: box.height, top: box.top});
        } catch (error) { window.missed = (window.missed || 0) + 1; }
    }, 40);
}"""


def watch(page, address, folder):
    """Open the notebook, train by a click, and say what could be seen."""
    seen, errors = {}, open_notebook(page, address)
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
    seen["left"], seen["errors"] = left(page, folder), errors
    return seen


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


if __name__ == "__main__":
    show(lab(CELLS), watch, height=900)
