"""Where a live view appears: widgets, a display that is updated, or a terminal's bar."""

import base64
import contextlib
import functools
import html
import shutil
import sys
import uuid

from tqdm.std import tqdm  # the text bar; tqdm.auto would ask for widgets

from ..shell import in_kernel
from .axes import WIDTH
from .picture import HEIGHT

WIDE = 120  # columns of a terminal from which on nothing is abbreviated


def screen_for():
    """The screen of the place where Python runs: a notebook's (with or without ipywidgets), else a terminal's."""
    if not in_notebook():
        return Terminal()
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return Display()
    return Widgets()


def in_notebook():
    """Whether this is a Jupyter kernel, so that pictures have somewhere to appear."""
    return in_kernel() is not None


def after_each_cell(function):
    """Have a function called when a cell of this notebook has run; returns the function that ends that."""
    if not in_notebook():
        return lambda: None
    events = in_kernel().events
    events.register("post_run_cell", function)
    return functools.partial(_unregister, events, function)


def _unregister(events, function):
    with contextlib.suppress(ValueError):  # it is not registered any more
        events.unregister("post_run_cell", function)


class Display:
    """One display of a PNG, changed in place; works in every front end."""

    interval = 0.3

    def __init__(self):
        self.name, self._begun = f"dtnn-{uuid.uuid4().hex}", False

    def show(self, live):
        """Show the picture of this moment."""
        self._put(self._bundle(live, live.png()), live)

    def close(self, live):
        """Show the last picture."""
        self._put(self._bundle(live, live.last_png()), live)

    def _bundle(self, live, png):
        word, parts = live.headline
        text = " · ".join([word, *parts, *live.error.splitlines()])
        return {"text/plain": text, "image/png": base64.b64encode(png).decode()}

    def _put(self, bundle, live):
        from IPython.display import display

        size = {"width": live.width, "height": round(live.width * HEIGHT / WIDTH)}
        display(bundle, raw=True, metadata={"image/png": size}, display_id=self.name, update=self._begun)
        self._begun = True


class Widgets(Display):
    """An ipywidgets.Image of fixed size with a small line below; in the end a plain PNG in their place, for any page."""

    def show(self, live):
        """Show the picture of this moment: in the widget, or where the front end has none, in the display itself."""
        if not self._begun:
            self._begin(live)
        elif self._refused():
            super().show(live)
        else:
            self.image.value = live.png()
            self.line.value = _line(live)

    def close(self, live):
        """Leave the last picture: in the display instead of the widgets, which a page that is saved might not be able to draw."""
        png = live.last_png()
        self.image.value, self.line.value = png, _line(live)
        bundle = self._bundle(live, png)
        self._put({**bundle, "text/html": _page(live, bundle["image/png"])}, live)

    def _begin(self, live):
        import ipywidgets

        png = live.png()
        size = {"width": f"{live.width}px", "max_width": "100%", "height": "auto", "margin": "0"}
        self.image = ipywidgets.Image(value=png, format="png", layout=size).add_class("dtnn-live")
        self.line = ipywidgets.HTML(_line(live), layout={"margin": "0 0 4px 12px"}).add_class("dtnn-line")
        self.box = ipywidgets.VBox([self.image, self.line], layout={"overflow": "hidden"})
        self._closed_by_page = []
        if self.image.comm is not None and hasattr(self.image.comm, "on_close"):
            self.image.comm.on_close(self._closed_by_page.append)
        self._put({**self._view(), **self._bundle(live, png)}, live)

    def _refused(self):
        """Whether the front end has closed the widget's channel, as those do that know no widgets."""
        return bool(self._closed_by_page) or self.image.comm is None

    def _view(self):
        return self.box._repr_mimebundle_() or {}


class Terminal:
    """A bar of tqdm on standard error: words and epochs done."""

    def __init__(self):
        self.bar = None
        self.interval = 0.2 if sys.stderr.isatty() else 5.0

    def show(self, live):
        """Move the bar."""
        columns = _columns()
        form = _form(*live.headline, columns)
        if self.bar is None:
            # not dynamic_ncols: where a terminal says it has 0 rows, tqdm would hide the bar
            self.bar = tqdm(total=1, bar_format=form, ncols=columns, nrows=20, file=sys.stderr, mininterval=0)
        self.bar.bar_format, self.bar.ncols = form, columns
        self.bar.total = max(live.story.settings.get("epochs") or 1, live.story.progress)
        self.bar.n = self.bar.total if live.state == "done" else live.story.progress
        self.bar.refresh()

    def close(self, live):
        """Leave the bar as it is, and say what went wrong."""
        if self.bar is not None:
            self.bar.close()
        if live.error:
            print(live.error.strip(), file=sys.stderr)


def _form(word, parts, columns):
    """What tqdm is to fill in: a bar, shorter in a narrow terminal, and as many of the parts, whole, as there is room for.

    >>> _form("training", ["epoch 8 of 10", "loss 0.00230", "validation accuracy 97.1 %", "9,100 samples/s"], 80)
    'training |{bar:5}| {percentage:3.0f}%  epoch 8 of 10 · loss 0.00230 · val. accuracy 97.1 %'
    >>> _form("waiting", ["preparing a step of 16 samples: compiling kernel 9 (losses)"], 60)
    'waiting |{bar:5}| {percentage:3.0f}%  preparing a step of 16 samples: compi…'
    """
    bar = min(20, max(5, columns // 4 - 15))
    room = columns - len(f"{word} || 100%  ") - bar
    words, *rest = (part.replace("{", "(").replace("}", ")") for part in parts)  # braces mean something to tqdm
    least = max(room, 20)  # below, nothing could be read; tqdm cuts it off
    words = words if len(words) <= least else f"{words[: least - 1]}…"
    for part in rest:
        part = part if columns >= WIDE else part.replace("validation ", "val. ")
        if len(words) + len(part) + 3 > room:
            break
        words += f" · {part}"
    return f"{word} |{{bar:{bar}}}| {{percentage:3.0f}}%  {words}"


def _columns():
    return shutil.get_terminal_size().columns or 80


def _page(live, picture):
    """The picture and the line below it as HTML."""
    size = f"width: {live.width}px; max-width: 100%; height: auto"
    image = f'<img class="dtnn-live" alt="" style="{size}" src="data:image/png;base64,{picture}">'
    return f'{image}<div style="margin: 0 0 4px 12px">{_line(live)}</div>'


def _line(live, detail=None):
    """The line below the picture: details, those of the view if none are given, or the whole error to be read and copied."""
    if live.error:
        style = "white-space: pre-wrap; margin: 0; max-height: 20em; overflow: auto; line-height: 1.35"
        return f'<pre style="{style}">{html.escape(live.whole_error.strip())}</pre>'
    style = "color: var(--jp-ui-font-color2, #5F6B7A); font-size: 12px"
    return f'<span style="{style}">{html.escape(live.detail if detail is None else detail) or "&nbsp;"}</span>'
