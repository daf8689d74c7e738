"""A run in one picture: words, loss and accuracy, and each rank's time, now and since the start."""

import time

from matplotlib import rc_context
from matplotlib.transforms import Bbox
from PIL import PngImagePlugin

from .axes import INCHES, STYLE, WIDTH, paper, sheet
from .curves import Curve
from .header import Header
from .now_and_whole import NowAndWhole
from .png import png
from .smooth import SMOOTHING, smoothing_of
from .story import Story

HEIGHT = 572  # pixels
HEADER, ROWS = 0.875, 0.455  # where the words begin, and what is between the two rows of panels
STRIPS = (0.0, ROWS, 0.5, HEADER), (0.5, ROWS, 1.0, HEADER), (0.0, 0.0, 1.0, ROWS)  # left, low, right, high: of each panel
PLACES = (0.074, 0.54, 0.41, 0.285), (0.575, 0.54, 0.41, 0.285)
BARS = (0.098, 0.105, 0.388, 0.295), (0.576, 0.105, 0.388, 0.295)


def picture(records, width=WIDTH, title="", state=None, waiting_for="", error="", scale=1.0, smoothing=SMOOTHING):
    """Draw a run as a PNG, without pyplot and without anything on a screen.

    Parameters
    ----------
    records : list of records or Story
    width : int
        Pixels; the height follows (13:18).
    title : str
        What the run is called, in front of the words.
    state, waiting_for, error : str, optional
        What the run's owner knows beyond its records: "running" ..., what it waits for, what went wrong.
    scale : float
        2 draws twice as many pixels for print and dense screens.
    smoothing : float
        As for `curves`.

    Returns
    -------
    bytes
        A PNG; its text chunks "dtnn.newest" and "dtnn.drawn" are the moments of the newest record in it and of its
        drawing, "dtnn.step" is the newest step, "Description" the words.

    Notes
    -----
    A `Picture` that is kept draws the next picture several times faster than this function does the first.

    Examples
    --------
    >>> picture([])[1:4]
    b'PNG'
    """
    story = records if isinstance(records, Story) else Story(records)
    return Picture(width, title, scale, smoothing).draw(story, state, waiting_for, error)


def figure(records, title="", state=None, waiting_for="", error="", smoothing=SMOOTHING):
    """The same as a matplotlib Figure, to be changed or saved in any format; see `picture` for the parameters."""
    drawn = Picture(title=title, smoothing=smoothing)
    drawn.draw(records if isinstance(records, Story) else Story(records), state, waiting_for, error)
    for artist in drawn.moving:
        artist.set_animated(False)
    return drawn.figure


class Picture:
    """A figure laid out once: a next picture redraws panels in which something moved, and a frame only where it had to change.

    Parameters
    ----------
    width : int
        Pixels.
    title : str
    scale, smoothing : float
    """

    def __init__(self, width=WIDTH, title="", scale=1.0, smoothing=SMOOTHING):
        with rc_context(STYLE):
            self.figure = sheet(HEIGHT / WIDTH * INCHES, scale * width / WIDTH)
            self.canvas = self.figure.canvas
            loss, metric, *bars = (self.figure.add_axes(place) for place in (*PLACES, *BARS))
            self.loss, self.metric, self.bars = Curve(loss), Curve(metric, "accuracy"), NowAndWhole(*bars)
            self.smooth(smoothing)
            self.header, self._frames, self._panels = Header(self.figure, title), {}, {}
            paper(self.figure)

    def smooth(self, smoothing):
        """Draw the running means over that share of the points from now on."""
        self.loss.smoothing = self.metric.smoothing = smoothing_of(smoothing)

    @property
    def moving(self):
        """The artists that are not part of a frame."""
        return [*self.loss.moving, *self.metric.moving, *self.bars.moving, *self.header.moving]

    def draw(self, story, state=None, waiting_for="", error=""):
        """The picture of what the story tells, as PNG bytes."""
        with rc_context(STYLE):
            self.header.show(story, state, waiting_for, error)
            self._choose_metric(story)
            panels = self.loss, self.metric, self.bars
            for panel, strip in zip(panels, STRIPS):
                if panel.show(story) or strip not in self._frames:
                    self._frames[strip] = self._frame(panel, strip)
                    self._panels.pop(strip, None)
            self._compose(panels)
        return self._png(story)

    def _choose_metric(self, story):
        name = story.metric or "accuracy"
        if name != self.metric.metric:
            ax = self.metric.ax
            ax.clear()
            self.metric = Curve(ax, name, smoothing=self.loss.smoothing)
            paper(self.figure)
            self._frames.clear()
            self._panels.clear()

    def _frame(self, panel, strip):
        """What of a panel stays the same for many pictures (axes, ticks, titles, legend), as an image of its strip."""
        for artist in panel.moving:
            artist.set_animated(True)
        renderer = self._clean_paper()
        for ax in panel.axes:
            ax.draw(renderer)
        return self.canvas.copy_from_bbox(self._pixels(strip)), self._legend(panel.axes[0], renderer)

    def _legend(self, ax, renderer):
        """The image of a legend, to be put above the lines that pass under it."""
        legend = ax.get_legend()
        return legend and self.canvas.copy_from_bbox(legend.get_window_extent(renderer))

    def _compose(self, panels):
        """The panels, as they were where nothing moved, and the words above."""
        renderer = self._clean_paper()
        for panel, strip in zip(panels, STRIPS):
            before, image = self._panels.get(strip, (None, None))
            if before == panel.shown:
                self.canvas.restore_region(image)
            else:
                self._draw(panel, strip, renderer)
                self._panels[strip] = panel.shown, self.canvas.copy_from_bbox(self._pixels(strip))
        for text in self.header.moving:
            text.draw(renderer)

    def _draw(self, panel, strip, renderer):
        """The frame, then what moves, then the legend."""
        frame, legend = self._frames[strip]
        self.canvas.restore_region(frame)
        for artist in panel.moving:
            artist.draw(renderer)
        if legend:
            self.canvas.restore_region(legend)

    def _clean_paper(self):
        renderer = self.canvas.get_renderer()
        renderer.clear()
        self.figure.patch.draw(renderer)
        return renderer

    def _pixels(self, strip):
        return Bbox.from_extents(*strip).transformed(self.figure.transSubfigure)

    def _png(self, story):
        told = PngImagePlugin.PngInfo()
        told.add_text("dtnn.newest", repr(story.newest))
        told.add_text("dtnn.drawn", repr(time.time()))
        told.add_text("dtnn.step", str(story.step.step if story.step else 0))
        told.add_itxt("Description", self.header.text)
        return png(self.canvas, told=told)
