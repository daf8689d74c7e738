"""A run in one picture: loss, accuracy, each rank's time, and a line of words above them."""

import io
import textwrap
import time

from matplotlib import rc_context, rcParamsDefault
from PIL import Image, PngImagePlugin

from .axes import Sheet, paper
from .breakdown import Bars
from .curves import Curve
from .headline import headline, state
from .palette import INK, PAPER, STATES
from .story import Story

WIDTH, HEIGHT = 960, 340  # pixels
PLACES = (0.052, 0.165, 0.268, 0.60), (0.380, 0.165, 0.236, 0.60), (0.684, 0.295, 0.293, 0.47)
STYLED = ("axes", "font", "grid", "hatch", "legend", "lines", "patch", "text", "xtick", "ytick")
STYLE = {key: value for key, value in rcParamsDefault.items() if key.split(".")[0] in STYLED}
STYLE |= {"font.size": 9.5, "text.color": INK, "hatch.linewidth": 1.2}
COLOURS = 128  # in the PNG: half the bytes and the time of a full one, and no difference to be seen


def picture(records, width=WIDTH, title="", state=None, waiting_for="", error="", scale=1.0):
    """Draw a run as a PNG, without pyplot and without anything on a screen.

    Parameters
    ----------
    records : list of records or Story
    width : int
        Pixels; the height follows (17:48).
    title : str
        What the run is called, in front of the line of words.
    state, waiting_for, error : str, optional
        What the run's owner knows beyond its records: "running" ..., what it waits for, what went wrong.
    scale : float
        2 draws twice as many pixels for print and dense screens.

    Returns
    -------
    bytes
        A PNG; its text chunks "dtnn.newest" and "dtnn.drawn" are the moments of the newest record in it and of its
        drawing, "dtnn.step" is the newest step, "Description" the line of words.

    Notes
    -----
    A `Picture` that is kept draws the next picture several times faster than this function does the first.

    Examples
    --------
    >>> picture([])[1:4]
    b'PNG'
    """
    story = records if isinstance(records, Story) else Story(records)
    return Picture(width, title, scale).draw(story, state, waiting_for, error)


def figure(records, title="", state=None, waiting_for="", error=""):
    """The same as a matplotlib Figure, to be changed or saved in any format; see `picture` for the parameters."""
    drawn = Picture(title=title)
    drawn.draw(records if isinstance(records, Story) else Story(records), state, waiting_for, error)
    for artist in drawn.moving:
        artist.set_animated(False)
    return drawn.figure


class Picture:
    """A figure laid out once: a next picture redraws what moved, and the frame only where that had to change.

    Parameters
    ----------
    width : int
        Pixels.
    title : str
    scale : float
    """

    def __init__(self, width=WIDTH, title="", scale=1.0):
        with rc_context(STYLE):
            self.figure = Sheet(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100 * scale * width / WIDTH)
            self.canvas = self.figure.canvas
            loss, metric, bars = (self.figure.add_axes(place) for place in PLACES)
            self.loss, self.metric, self.bars = Curve(loss), Curve(metric, "accuracy"), Bars(bars)
            self.word = self.figure.text(0.012, 0.925, "", fontsize=12, fontweight="bold", va="center")
            self.words = self.figure.text(0.012, 0.925, "", fontsize=11, color=INK, va="center")
            self.error = self._box()
            self.title, self._ground = title, None
            paper(self.figure)

    def _box(self):
        red = STATES["failed"]
        edge = {"facecolor": PAPER, "edgecolor": red, "boxstyle": "round,pad=0.7", "linewidth": 1.2}
        return self.figure.text(0.02, 0.045, "", fontsize=10, color=red, ha="left", va="bottom", bbox=edge, linespacing=1.5)

    @property
    def moving(self):
        """The artists that are not part of the frame."""
        return [*self.loss.moving, *self.metric.moving, *self.bars.moving, self.word, self.words, self.error]

    def draw(self, story, state=None, waiting_for="", error=""):
        """The picture of what the story tells, as PNG bytes."""
        with rc_context(STYLE):
            self._write(story, state, waiting_for, error)
            self._choose_metric(story)
            changed = [panel.show(story) for panel in (self.loss, self.metric, self.bars)]
            if any(changed) or self._ground is None:
                self._draw_frame()
            self.canvas.restore_region(self._ground)
            for artist in self.moving:
                artist.draw(self.canvas.get_renderer())
        return self._png(story)

    def _write(self, story, told, waiting_for, error):
        word, parts = headline(story, told, waiting_for)
        self.word.set(text=f"{self.title}  {word}".strip(), color=STATES.get(state(story, told), INK))
        self.words.set_x(self._right(self.word) + 0.012)
        self._fit(parts)
        self.error.set(text=_wrapped(error or (story.finish.text if story.finish and story.finish.reason == "failed" else "")))
        self.error.set_visible(bool(self.error.get_text()))

    def _fit(self, parts):
        """As many of the parts as the width has room for; the last one may be what is waited for, and stays."""
        self.words.set_text("  ·  ".join(parts))
        while self._right(self.words) > 0.99 and len(parts) > 1:
            parts = parts[:-2] + parts[-1:]
            self.words.set_text("  ·  ".join(parts))

    def _right(self, text):
        return text.get_window_extent(self.canvas.get_renderer()).x1 / self.figure.bbox.width

    def _choose_metric(self, story):
        name = story.metric or "accuracy"
        if name != self.metric.metric:
            ax = self.metric.ax
            ax.clear()
            self.metric = Curve(ax, name)
            paper(self.figure)

    def _draw_frame(self):
        for artist in self.moving:
            artist.set_animated(True)
        self.canvas.draw()
        self._ground = self.canvas.copy_from_bbox(self.figure.bbox)

    def _png(self, story):
        told = PngImagePlugin.PngInfo()
        told.add_text("dtnn.newest", repr(story.newest))
        told.add_text("dtnn.drawn", repr(time.time()))
        told.add_text("dtnn.step", str(story.step.step if story.step else 0))
        told.add_itxt("Description", f"{self.word.get_text()}: {self.words.get_text()}")
        size, written = self.canvas.get_width_height(), io.BytesIO()
        image = Image.frombuffer("RGBA", size, self.canvas.buffer_rgba(), "raw", "RGBA", 0, 1).convert("RGB")
        few = image.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(written, "png", compress_level=3, pnginfo=told)
        return written.getvalue()


def _wrapped(error, width=118, most=7):
    """The error in lines that fit."""
    lines = [piece for line in error.strip().splitlines() if line.strip() for piece in textwrap.wrap(line, width)]
    return "\n".join(lines[:most] + ["..."] * (len(lines) > most)).replace("$", r"\$")
