"""The words of a run's picture: the line above, and the box of an error."""

import textwrap

from .headline import headline, state
from .palette import INK, PAPER, STATES

LEFT, RIGHT, MIDDLE = 0.012, 0.99, 0.925  # where the line begins, must end, and how high it stands
MANY = 500  # widths of texts that are kept


class Header:
    """The line of words and the box of one figure, made once and then only changed."""

    def __init__(self, figure, title=""):
        self.figure, self.title, self._widths = figure, title, {}
        self.word = figure.text(LEFT, MIDDLE, "", fontsize=13.5, fontweight="bold", va="center")
        self.words = figure.text(LEFT, MIDDLE, "", fontsize=12, color=INK, va="center")
        red = STATES["failed"]
        edge = {"facecolor": PAPER, "edgecolor": red, "boxstyle": "round,pad=0.7", "linewidth": 1.2}
        self.error = figure.text(0.02, 0.045, "", fontsize=11, color=red, ha="left", va="bottom", bbox=edge, linespacing=1.5)

    @property
    def moving(self):
        """All its artists."""
        return [self.word, self.words, self.error]

    @property
    def text(self):
        """The line as text."""
        return f"{self.word.get_text()}: {self.words.get_text()}"

    def show(self, story, told=None, waiting_for="", error=""):
        """Say what the story tells."""
        word, parts = headline(story, told, waiting_for)
        self.word.set(text=f"{self.title}  {word}".strip(), color=STATES.get(state(story, told), INK))
        self._fit(parts, 2 * LEFT + self._width(self.word))
        self.error.set(text=_wrapped(error or (story.finish.text if story.finish and story.finish.reason == "failed" else "")))
        self.error.set_visible(bool(self.error.get_text()))

    def _fit(self, parts, left):
        """As many of the parts as the width has room for; the last one may be what is waited for, and stays."""
        widths = [self._width(self.words, f"{part} · ") for part in parts]
        while left + sum(widths) > RIGHT and len(parts) > 1:
            parts, widths = parts[:-2] + parts[-1:], widths[:-2] + widths[-1:]
        self.words.set(text=" · ".join(parts), x=left)

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


def _wrapped(error, width=104, most=7):
    """The error in lines that fit."""
    lines = [piece for line in error.strip().splitlines() if line.strip() for piece in textwrap.wrap(line, width)]
    return "\n".join(lines[:most] + ["..."] * (len(lines) > most)).replace("$", r"\$")
