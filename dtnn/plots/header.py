"""The words of a run's picture: the line above, and the box of an error."""

import textwrap

from .headline import headline, state
from .palette import INK, PAPER, STATES

LEFT, RIGHT = 0.012, 0.99  # where the words begin, and must end
HEIGHTS = 0.962, 0.912  # of the two lines
MANY = 500  # widths of texts that are kept


class Header:
    """The words of one figure, in two lines, and the box, made once and then only changed."""

    def __init__(self, figure, title=""):
        self.figure, self.title, self._widths = figure, title, {}
        first, second = HEIGHTS
        self.word = figure.text(LEFT, first, "", fontsize=12.5, fontweight="bold", va="center")
        self.words = figure.text(LEFT, first, "", fontsize=11, color=INK, va="center")
        self.more = figure.text(LEFT, second, "", fontsize=11, color=INK, va="center")
        red = STATES["failed"]
        edge = {"facecolor": PAPER, "edgecolor": red, "boxstyle": "round,pad=0.7", "linewidth": 1.2}
        self.error = figure.text(0.02, 0.045, "", fontsize=10.5, color=red, ha="left", va="bottom", bbox=edge, linespacing=1.5)

    @property
    def moving(self):
        """All its artists."""
        return [self.word, self.words, self.more, self.error]

    @property
    def text(self):
        """The words as text."""
        return f"{self.word.get_text()}: {' · '.join(filter(None, [self.words.get_text(), self.more.get_text()]))}"

    def show(self, story, told=None, waiting_for="", error=""):
        """Say what the story tells."""
        word, parts = headline(story, told, waiting_for)
        self.word.set(text=f"{self.title}  {word}".strip(), color=STATES.get(state(story, told), INK))
        self._fit(parts, 2 * LEFT + self._width(self.word))
        self.error.set(text=_wrapped(error or (story.finish.text if story.finish and story.finish.reason == "failed" else "")))
        self.error.set_visible(bool(self.error.get_text()))

    def _fit(self, parts, left):
        """As many of the parts as there is room for; the last one may be what is waited for, and stays."""
        first = self._room_for(parts, RIGHT - left)
        second = parts[first:]
        while len(second) > 1 and self._room_for(second, RIGHT - LEFT) < len(second):
            second = second[:-2] + second[-1:]
        self.words.set(text=" · ".join(parts[:first]), x=left)
        self.more.set_text(" · ".join(second))

    def _room_for(self, parts, room):
        """How many of them fit in one line."""
        for count, part in enumerate(parts):
            room -= self._width(self.words, f"{part} · ")
            if room < 0:
                return count
        return len(parts)

    def _width(self, artist, text=None):
        """That of an artist with its text, or with another one, as a share of the picture's; most were asked for before."""
        text = artist.get_text() if text is None else text
        if (artist, text) not in self._widths:
            if len(self._widths) > MANY:
                self._widths.clear()
            artist.set_text(text)
            self._widths[artist, text] = (
                artist.get_window_extent(self.figure.canvas.get_renderer()).width / self.figure.bbox.width
            )
        return self._widths[artist, text]


def _wrapped(error, width=84, most=9):
    """The error in lines that fit."""
    lines = [piece for line in error.strip().splitlines() if line.strip() for piece in textwrap.wrap(line, width)]
    return "\n".join(lines[:most] + ["..."] * (len(lines) > most)).replace("$", r"\$")
