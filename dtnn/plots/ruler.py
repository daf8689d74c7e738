"""`Ruler`: an axis that is measured and drawn in a few strokes, instead of five artists for each tick."""

from typing import NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.colors import to_rgba
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform


class Tick(NamedTuple):
    """A place on an axis.

    Parameters
    ----------
    at : float
        Pixels along the axis.
    text : str
        Its label; "" without one.
    look : dict
        Its settings.
    """

    at: float
    text: str
    look: dict


class Ruler:
    """One axis: grid, ticks, their labels, and the words beside them.

    Parameters
    ----------
    axis : matplotlib Axis
    """

    def __init__(self, axis):
        self.axis, self.ax, self.across = axis, axis.axes, axis.axis_name == "x"
        align = {"ha": "center", "va": "top"} if self.across else {"ha": "right", "va": "center_baseline"}
        self.text, self._rooms, self._looks = Text(**align), {}, [self._look(which) for which in ("minor", "major")]
        self.text.set_figure(self.ax.figure)

    def draw(self, renderer):
        """Grid and ticks, then the words."""
        if not self.axis.get_visible():
            return
        ticks = self._ticks()
        for look in self._looks:
            self._strokes(renderer, look, [tick.at for tick in ticks if tick.look is look])
        for tick in ticks:
            if tick.text:
                self._label(tick, *self._place(tick)).draw(renderer)
        for words in self._words([self._box(tick, renderer) for tick in ticks]):
            words.draw(renderer)

    def get_tightbbox(self, renderer=None, *, for_layout_only=False):
        """The room of labels and words; for a layout, a line of words has no length."""
        if not self.axis.get_visible():
            return None
        boxes = [self._box(tick, renderer) for tick in self._ticks()]
        for words in self._words(boxes):
            box = words.get_window_extent(renderer)
            if for_layout_only and words is self.axis.label:
                x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
                box = Bbox(((x, box.y0), (x + 1, box.y1)) if self.across else ((box.x0, y), (box.x1, y + 1)))
            boxes.append(box)
        return Bbox.union(boxes) if boxes else None

    # ---- ticks

    def _ticks(self):
        """Those in view."""
        axis, found = self.axis, []
        low, high = sorted(self._pixels(axis.get_view_interval()))
        kinds = (axis.get_minorticklocs(), axis.get_minor_formatter()), (axis.get_majorticklocs(), axis.get_major_formatter())
        for look, (places, form) in zip(self._looks, kinds):
            words = form.format_ticks(places) if len(places) else ()
            at = self._pixels(places)
            found += [Tick(x, word * look["labelled"], look) for x, word in zip(at, words) if low - 1e-6 <= x <= high + 1e-6]
        return found

    def _pixels(self, places):
        """Where numbers of this axis are in the figure."""
        places = np.asarray(places, float)
        other = np.full(len(places), (self.ax.get_ylim() if self.across else self.ax.get_xlim())[0])
        both = np.stack([places, other] if self.across else [other, places], axis=1)
        return self.ax.transData.transform(both)[:, 0 if self.across else 1]

    def _look(self, which):
        """How such ticks look: what was set, or else is usual; lengths in pixels, but widths of lines in points."""
        side, name = ("bottom", "xtick") if self.across else ("left", "ytick")
        usual = {"gridOn": False, "length": rcParams[f"{name}.{which}.size"]}
        usual |= {key: rcParams[f"{name}.{which}.{key}"] for key in ("width", "pad")}
        usual |= {key: rcParams[f"{name}.{key}"] for key in ("color", "labelcolor", "labelsize")}
        usual |= {f"grid_{key}": rcParams[f"grid.{key}"] for key in ("color", "alpha", "linewidth")}
        look = usual | self.axis.get_tick_params(which)
        for length in ("length", "pad"):
            look[length] *= self.ax.figure.dpi / 72
        if look["labelcolor"] == "inherit":
            look["labelcolor"] = look["color"]
        return look | {"marked": look[side], "labelled": look[f"label{side}"]}

    def _strokes(self, renderer, look, places):
        """The grid, and the ticks outside of it."""
        box = self.ax.bbox
        first, last = (box.y0, box.y1) if self.across else (box.x0, box.x1)
        grid = to_rgba(look["grid_color"], look["grid_alpha"])
        for seen, ends, colour, width, clip in (
            (look["gridOn"], (first, last), grid, look["grid_linewidth"], box),
            (look["marked"], (first - look["length"], first), to_rgba(look["color"]), look["width"], None),
        ):
            if seen and len(places):
                gc = renderer.new_gc()
                gc.set_foreground(colour, isRGBA=True)
                gc.set_linewidth(width)
                gc.set_clip_rectangle(clip)
                renderer.draw_path(gc, self._lines(places, ends), IdentityTransform())
                gc.restore()

    def _lines(self, places, ends):
        """A straight line at each place."""
        along, beside = np.repeat(places, 2), np.tile(ends, len(places))
        codes = np.tile((Path.MOVETO, Path.LINETO), len(places))
        return Path(np.stack([along, beside] if self.across else [beside, along], axis=1), codes)

    # ---- words

    def _label(self, tick, x=0.0, y=0.0):
        """The text of a tick's label there."""
        look = tick.look
        self.text.set(text=tick.text, x=x, y=y, fontsize=look["labelsize"], color=look["labelcolor"])
        if self.across and look.get("rotation"):
            self.text.set(rotation=look["rotation"], ha="right")
        return self.text

    def _place(self, tick):
        """Where a tick's label is."""
        away = tick.look["length"] + tick.look["pad"]
        return (tick.at, self.ax.bbox.y0 - away) if self.across else (self.ax.bbox.x0 - away, tick.at)

    def _box(self, tick, renderer):
        """The room that a tick takes with its label."""
        if not tick.text:
            return self._mark(tick)
        key = tick.text, tick.look["labelsize"]
        if key not in self._rooms:
            self._rooms[key] = self._label(tick).get_window_extent(renderer)
        return self._rooms[key].translated(*self._place(tick))

    def _mark(self, tick):
        """The room of a tick without a label."""
        box, away = self.ax.bbox, tick.look["length"] * tick.look["marked"]
        return Bbox(
            ((tick.at, box.y0 - away), (tick.at, box.y0)) if self.across else ((box.x0 - away, tick.at), (box.x0, tick.at))
        )

    def _words(self, boxes):
        """The axis' name, and a power of ten that all labels share, put where the labels leave room."""
        box, pixels, power = self.ax.bbox, self.ax.figure.dpi / 72, self.axis.get_offset_text()
        power.set_text(self.axis.get_major_formatter().get_offset())
        end = min([box.y0, *(each.y0 for each in boxes)] if self.across else [box.x0, *(each.x0 for each in boxes)])
        (x, y), away = self.axis.label.get_position(), end - self.axis.labelpad * pixels
        self.axis.label.set_position((x, away) if self.across else (away, y))
        pad = self.axis.OFFSETTEXTPAD * pixels
        power.set_position((power.get_position()[0], end - pad if self.across else box.y1 + pad))
        return [words for words in (self.axis.label, power) if words.get_visible() and words.get_text()]
