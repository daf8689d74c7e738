"""What all panels are: a box of widgets that a page without widgets shows as words and a picture."""

import asyncio
import base64
import html
import threading
import uuid
import weakref

from ..shell import in_kernel

PLAIN = "white-space: pre-wrap; font-family: var(--jp-code-font-family, monospace)"  # how words look
_former = {}  # the panel that each cell made last, so that the same cell's next one takes its place


class Panel:
    """Shows `box` where there are widgets; elsewhere `words()` and, if there is one, the picture `png()`.

    These have an output of their own below the widgets', which is not seen while the widgets are: a page that was saved with
    widgets, but can't draw them, leaves theirs empty. A cell that is run again replaces the panel it made before: that one is
    closed, with all it had started.
    """

    box = _display = None

    def words(self):
        """What the panel is and shows, as text."""
        return f"{type(self).__name__}: needs a notebook with widgets"

    def png(self):
        """A picture of what it shows, or None."""
        return None

    def close(self):
        """End what it has started, and take it away."""
        if self.box is not None:
            self.box.close()

    def _ipython_display_(self):
        from IPython.display import display

        if self._display is None:
            self._display = f"dtnn-{uuid.uuid4().hex}"
            self.box.add_class(self._display)
        view = {**(self.box._repr_mimebundle_() or {}), "text/plain": ""}
        display(view, raw=True, display_id=self._display)
        self._keep(update=False)

    @property
    def displayed(self):
        """Whether it was displayed, so that there is a place for its picture."""
        return self._display is not None

    def keep_picture(self):
        """Put the present words and picture into what was displayed, so that a saved notebook has them."""
        if self.displayed:
            self._keep(update=True)

    def _keep(self, update):
        from IPython.display import display

        display(self._kept(), raw=True, display_id=f"{self._display}-kept", update=update)

    def _kept(self):
        """What pages without widgets show."""
        words, picture = self.words(), self.png()
        shown = f'<pre style="{PLAIN}">{html.escape(words)}</pre>'
        bundle = {"text/plain": words}
        if picture:
            bundle["image/png"] = base64.b64encode(picture).decode()
            shown += f'<img alt="" style="max-width: 100%" src="data:image/png;base64,{bundle["image/png"]}">'
        hidden = f"<style>body:has(.{self._display}) .{self._display}-kept {{ display: none; }}</style>"
        return {**bundle, "text/html": f'{hidden}<div class="{self._display}-kept">{shown}</div>'}

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {**(self.box._repr_mimebundle_() or {}), "text/plain": self.words()}
        picture = self.png()
        if picture:
            bundle["image/png"] = base64.b64encode(picture).decode()
        return bundle

    def __repr__(self):
        return self.words()

    def take_the_cells_place(self):
        """Close what the same cell made when it was run before."""
        cell = this_cell()
        former = _former.get(cell) and _former[cell]()
        if former is not None and type(former) is type(self):
            former.close()
        if cell is not None:
            _former[cell] = weakref.ref(self)


def this_cell():
    """What names the cell that runs now; None outside of notebooks that say so."""
    shell = in_kernel()
    if shell is None:
        return None
    header = getattr(shell, "get_parent", dict)() or {}
    return header.get("metadata", {}).get("cellId")


def namespace():
    """The notebook's variables; an empty dict elsewhere."""
    shell = in_kernel()
    return shell.user_ns if shell else {}


def begin(coroutine):
    """Let a coroutine run in the kernel's event loop, and return at once; without a loop (a script, a test) run it here."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    task = loop.create_task(coroutine)
    _tasks.add(task)  # or it might be collected before it ends
    task.add_done_callback(_tasks.discard)
    return task


_tasks = set()


def within(seconds, function, *arguments):
    """What a function returns, if it does within some seconds; a thread that never ends is left to end with the process.

    Raises
    ------
    TimeoutError
        It has not ended.

    Examples
    --------
    >>> within(5, divmod, 7, 2)
    (3, 1)
    """
    ended = []

    def work():
        try:
            ended.append((function(*arguments), None))
        except BaseException as error:
            ended.append((None, error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if not ended:
        raise TimeoutError(f"it has not ended after {seconds:g} s; does it wait for something, or loop for ever?")
    value, error = ended[0]
    if error is not None:
        raise error
    return value
