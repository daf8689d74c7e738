"""A run as it happens: a picture that changes in place in a notebook, a bar in a terminal."""

import asyncio
import contextlib
import time

from ..sentence import sentence
from .axes import WIDTH
from .facts import facts, with_phase
from .headline import headline
from .pace import Pace
from .picture import Picture
from .screens import after_each_cell, screen_for
from .smooth import SMOOTHING, smoothing_of
from .story import Story

DENSE = 1.5  # pixels of the last picture, the one that stays, for each of a live one


class Live:
    """The live view of a run: loss, accuracy, each rank's time and what is going on, two or three times a second.

    Where no core is idle, or this process itself trains, so seldom that the training loses about 2 % at most (see `Pace`).

    Nothing is shown before the first `update`, `start` or display.  One output is made, which changes in place; the
    last picture stays in it, and in the saved notebook.

    Parameters
    ----------
    run : Run, or list of records
        Anything with `records`, and perhaps `state`, `waiting_for`, `error`, `done`; or a list that grows.
    title : str
        What the run is called.
    width : int
        Pixels.
    smoothing : float
        Of loss and metrics, see `curves`.
    screen : object, optional
        Where to show it; chosen by where Python runs: a notebook with ipywidgets, one without, or a terminal.

    Examples
    --------
    In a cell that waits for a run::

        live = Live(run)
        while not run.wait(0.2):
            live.update()
        live.close()

    In a cell that does not: ``Live(run).start()``.
    """

    def __init__(self, run, title="", width=WIDTH, screen=None, smoothing=SMOOTHING):
        self.run, self.title, self.width, self.screen = run, title, width, screen
        self.smoothing, self._last = smoothing_of(smoothing), None
        self.story, self.task, self.closed = Story(), None, False
        self._picture, self._next, self._shown, self._leave, self._pace = None, 0.0, None, _nothing, Pace(run)

    # ---- what is known of the run

    @property
    def records(self):
        """The run's records."""
        return getattr(self.run, "records", self.run)

    @property
    def state(self):
        """The run's state as its owner tells it; None where only records are known."""
        return getattr(self.run, "state", None)

    @property
    def waiting_for(self):
        """What the run's owner waits for."""
        return getattr(self.run, "waiting_for", "") or ""

    @property
    def done(self):
        """Whether the run has ended, well or not."""
        return getattr(self.run, "done", self.story.finish is not None)

    @property
    def error(self):
        """What went wrong, in a few words; "" if nothing did."""
        error, finish = getattr(self.run, "error", None), self.story.finish
        if error is not None:
            rank = getattr(error, "rank", None)
            return f"{'' if rank is None else f'rank {rank}: '}{sentence(error)}"
        return finish.text if finish and finish.reason == "failed" else ""

    @property
    def whole_error(self):
        """The same with tracebacks, as far as they are known."""
        return (self.error and getattr(self.run, "story", "")) or self.error

    @property
    def headline(self):
        """The run in one line of words: the state, and the rest in parts."""
        return headline(self.story, self.state, self.waiting_for)

    @property
    def detail(self):
        """What the picture has no room for: step, learning rate, bytes, the phase of a step that is led through its phases."""
        return with_phase(self.story)

    @property
    def facts(self):
        """Step, learning rate and bytes, as far as they are known: a list of words."""
        return facts(self.story)

    # ---- showing it

    def update(self, force=False):
        """Show what is new; cheap, and nothing at all before the next picture is due.

        To be called as often as one likes by whatever waits for the run in a cell that blocks.
        """
        if self.closed or (time.perf_counter() < self._next and not force):
            return
        clock = self._pace.clock
        begin = clock()
        self.story.read(self.records)
        key = (self.story.read_so_far, self.headline, self.error)
        if force or key != self._shown:
            self._shown = key
            self._on_screen().show(self)
        self._next = time.perf_counter() + self._pace.wait(clock() - begin, self._on_screen().interval)

    def start(self):
        """Keep it up to date in the kernel's own event loop whenever no cell runs, to the run's end; returns at once."""
        self.update(force=True)
        if self.task is None and not self.closed:
            with contextlib.suppress(RuntimeError):  # no loop: a terminal; whoever waits for the run updates
                self.task = asyncio.get_running_loop().create_task(self._follow())
                self._leave = after_each_cell(self._after_cell)
                self._ask_to_be_updated()
        return self

    def _ask_to_be_updated(self):
        """A run that keeps a list of its views updates them while a cell waits for it, which our own task can't."""
        views = getattr(self.run, "views", None)
        if views is not None and self not in views:
            views.append(self)

    def close(self):
        """Show the end; the last picture stays."""
        if not self.closed:
            self.update(force=True)
            self.closed = True
            self._on_screen().close(self)
            self._leave()

    def _after_cell(self, *_):
        """At the end of a cell that may have waited for the run: programs that run notebooks hear of nothing between cells."""
        self.close() if self.done else self.update()

    async def _follow(self):
        try:
            while not (self.closed or self.done):
                self.update()
                await asyncio.sleep(max(0.05, self._next - time.perf_counter()))
        finally:
            self.close()

    def png(self):
        """The picture of this moment, as bytes."""
        if self._picture is None:
            self._picture = Picture(self.width, self.title)
        self._picture.smooth(self.smoothing)
        return self._picture.draw(self.story, self.state, self.waiting_for, self.error)

    def last_png(self):
        """The picture that stays: the same with more pixels."""
        last = self._last or Picture(self.width, self.title, DENSE)
        last.smooth(self.smoothing)
        return last.draw(self.story, self.state, self.waiting_for, self.error)

    def smooth(self, smoothing):
        """Take the running means over that share of the points; shown at once, also when the run has ended."""
        self.smoothing = smoothing_of(smoothing)
        if self.closed:
            self._last = self._last or Picture(self.width, self.title, DENSE)  # kept, for others will follow
            self._on_screen().close(self)
        else:
            self.update(force=True)

    def _on_screen(self):
        if self.screen is None:
            self.screen = screen_for()
        return self.screen

    def _ipython_display_(self):
        self.start()


def _nothing():
    pass
