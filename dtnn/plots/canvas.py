"""A canvas that draws a text once, and then puts it where it is wanted: the letters are most of the time that a picture takes."""

import functools
import math

import numpy as np
from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg, get_hinting_flag
from matplotlib.font_manager import findfont, get_font
from matplotlib.ft2font import FT2Font

MANY = 2048  # texts that are kept, a few hundred bytes each
SETTINGS = ("text.", "font.")  # those of matplotlib on which the look of a letter depends

WRITES = "set_text", "draw_glyphs_to_bitmap", "get_image", "get_bitmap_offset", "get_width_height", "get_descent"
PLAIN = all(hasattr(FT2Font, name) for name in WRITES) and hasattr(RendererAgg, "_prepare_font")  # or a later matplotlib draws


class Canvas(FigureCanvasAgg):
    """Matplotlib's own canvas, with a `Renderer` that remembers texts."""

    _made = None

    def get_renderer(self):
        """The one of the figure's present size."""
        size = (*self.get_width_height(physical=True), self.figure.dpi)
        if size != self._made:
            self.renderer, self._made = Renderer(*size), size
        return self.renderer

    def draw(self):
        """Draw the figure."""
        self.get_renderer().settings = _settings()
        super().draw()


class Renderer(RendererAgg):
    """Draws texts from memory, each beginning at a whole pixel; those with formulas, or half transparent, as matplotlib does.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(2, 1))
    >>> canvas = Canvas(figure)
    >>> text = figure.text(0.1, 0.5, "words")
    >>> canvas.draw()
    >>> before = _letters.cache_info().hits
    >>> text.set_position((0.2, 0.4))
    >>> canvas.draw()
    >>> _letters.cache_info().hits > before
    True
    """

    def __init__(self, width, height, dpi):
        super().__init__(width, height, dpi)
        self.settings = _settings()

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        """Put the letters there."""
        red, green, blue, alpha = gc.get_rgb()
        if not PLAIN or ismath or alpha != 1 or gc.get_alpha() != 1 or not gc.get_antialiased() or _special(mtext):
            super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)
            return
        known = prop.copy(), angle % 360, self.dpi, self.settings
        shade, (right, down), _ = _turned(s, *known) if angle % 360 else _letters(s, known[0], *known[2:])
        image = np.empty((*shade.shape, 4), np.uint8)
        image[..., :3] = [round(255 * part) for part in (red, green, blue)]
        image[..., 3] = shade
        self.draw_image(gc, round(x + right), self.height - round(y + down) - 1, image)

    def get_text_width_height_descent(self, s, prop, ismath):
        """The size of a text in pixels."""
        if ismath or not PLAIN:
            return super().get_text_width_height_descent(s, prop, ismath)
        return _letters(s, prop.copy(), self.dpi, self.settings)[2]

    def _get_font_height_metrics(self, prop):
        """What matplotlib, from 3.11 on, asks a renderer for with each text, or else reads from the font's tables each time."""
        return _heights(prop.copy(), self.dpi, self.settings)


def _special(text):
    """Whether a text asks for a feature of its font, or a language; not every version of matplotlib can."""
    asked = [getattr(text, name, None) for name in ("get_fontfeatures", "get_language")]
    return any(ask() for ask in asked if ask is not None)


def _settings():
    """The present ones, whose look-up takes longer than a text."""
    return tuple(str(value) for name, value in rcParams.items() if name.startswith(SETTINGS))


@functools.lru_cache(MANY)
def _heights(font, dpi, settings):
    """How far a font reaches above and below its line, and the gap between two lines, in pixels; None where it doesn't tell."""
    face = get_font(findfont(font))
    for table, *names in (
        ("OS/2", "sTypoAscender", "sTypoDescender", "sTypoLineGap"),
        ("hhea", "ascent", "descent", "lineGap"),
    ):
        told = face.get_sfnt_table(table)
        if told is not None:
            scale = font.get_size_in_points() * dpi / 72 / face.get_sfnt_table("head")["unitsPerEm"]
            ascent, descent, gap = (scale * told[name] for name in names)
            return ascent, -descent, gap
    return None, None, None


@functools.lru_cache(MANY)
def _letters(text, font, dpi, settings):
    """How much of each pixel is covered, from the lowest row; where that lies from the text's beginning; the text's measures."""
    face = RendererAgg(1, 1, dpi)._prepare_font(font)
    face.set_text(text, 0.0, flags=get_hinting_flag())
    face.draw_glyphs_to_bitmap(antialiased=True)
    right, down, width, height, descent = (
        pixels / 64 for pixels in (*face.get_bitmap_offset(), *face.get_width_height(), face.get_descent())
    )
    return np.asarray(face.get_image())[::-1].copy(), (right, down + descent), (width, height, descent)


@functools.lru_cache(MANY)
def _turned(text, font, angle, dpi, settings):
    """The same of a text that is turned; it has no size of its own."""
    width, height, _ = _letters(text, font, dpi, settings)[2]
    reach = math.ceil(width + height) + 4
    sheet = RendererAgg(2 * reach, 2 * reach, dpi)
    sheet.draw_text(sheet.new_gc(), reach, reach, text, font, angle)
    covered = np.asarray(sheet.buffer_rgba())[..., 3]
    rows, columns = np.flatnonzero(covered.any(axis=1)), np.flatnonzero(covered.any(axis=0))
    if not len(rows):
        return np.zeros((0, 0), np.uint8), (0, 0), None
    (top, bottom), (left, right) = rows[[0, -1]], columns[[0, -1]]
    return covered[top : bottom + 1, left : right + 1][::-1].copy(), (int(left) - reach, int(bottom) - reach), None
