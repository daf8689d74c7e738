"""One step on all ranks: what each did when, what was on its way, and what it all hung on."""

import numpy as np
from matplotlib import rcParams
from matplotlib.collections import LineCollection
from matplotlib.font_manager import font_scalings

from ..tracing.events import in_lines
from ..tracing.path import critical_path, waits
from ..tracing.steps import known
from .axes import axes_or_new, dress, names, remark
from .boxes import boxes
from .columns import behind
from .gantt_legend import ON_ITS_WAY, legend
from .palette import FAINT, INK, PAPER, PHASES, RULE, STATES, on
from .spans_of import spans_of
from .step_words import MOST, milliseconds, name, received, shown, title

NARROW = 0.006  # of the Axes; a layer that is narrower has no edge
ARROWS = 80  # messages up to which each has its arrow
OWN_ROW, COMM_ROW = 0.46, 0.2  # heights; a rank's place is 1 high
TOP, BELOW = -0.30, 0.24  # where the two rows begin
WIDTH_OF_A_LETTER = 0.58  # of its height


def gantt(step, ax=None):
    """Draw what each rank did in one step: its phases and layers above, what was on its way below, and the critical path.

    Parameters
    ----------
    step : TracedStep
        From `dtnn.tracing.traced_steps`, or a `Timeline`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.

    Returns
    -------
    matplotlib Axes
        Milliseconds since the step's begin. Cold colours are a rank's own work, warm ones communication; a wait is hatched and
        says for whom. The dark line is the critical path. Where clocks differ, a bar at the begin of a rank shows by
        how much its row may be shifted; a rank whose clock isn't known stands apart, and says so.
    """
    drawn = Gantt(step, axes_or_new(ax, (10.0, 2.0 + 0.7 * min(MOST, len(step.ranks)))))
    drawn.draw()
    return drawn.ax


class Gantt:
    """The drawing of one step."""

    def __init__(self, step, ax):
        self.step, self.ax = step, dress(ax, title(step), "milliseconds since the step began", "", "x")
        behind(ax, lambda: spans_of([step]))
        self.path, self.waits = critical_path(step), waits(step)
        self.ranks = shown(step, self.path, self.waits)
        self.row = {rank: place for place, rank in enumerate(self.ranks)}
        self.width = 1e3 * step.seconds or 1.0
        letters = font_scalings["small"] * rcParams["font.size"] * self.ax.figure.dpi / 72
        self._letter = WIDTH_OF_A_LETTER * letters * self.width / self.ax.bbox.width
        self.seen, self._bars, self._edges, self._whiskers = set(), {}, [], []

    def draw(self):
        """Everything."""
        for rank in self.ranks:
            self._own(rank)
            self._communication(rank)
            self._uncertainty(rank)
        self._boxes()
        self._arrows()
        self._critical_path()
        self._frame()

    def _bar(self, kind, begin, seconds, top, height):
        """A bar of a phase, or of what is "on its way"; they are drawn all together."""
        self._bars.setdefault(kind, []).append((1e3 * begin, top, 1e3 * seconds, height))

    def _boxes(self):
        for kind, bars in self._bars.items():
            look = {"hatch": "////", "edgecolors": PAPER} if kind == "wait" else {"alpha": 0.45} if kind == ON_ITS_WAY else {}
            colour = PHASES["transfer" if kind == ON_ITS_WAY else kind]
            boxes(self.ax, bars, facecolors=colour, linewidths=0, label=kind, **look)
        self.ax.add_collection(LineCollection(self._edges, colors=PAPER, linewidths=0.8), autolim=False)
        if self._whiskers:
            look = {"color": STATES["interrupted"], "linewidth": 1.4, "clip_on": False}
            self.ax.add_collection(LineCollection(self._whiskers, label="uncertainty of clocks", **look), autolim=False)
            ends = [end for whisker in self._whiskers for end in whisker]
            self.ax.plot(*zip(*ends), "|", ms=6, mew=1.4, color=STATES["interrupted"], clip_on=False)

    def _write(self, words, begin, seconds, middle, colour):
        """Words in a bar, the first that fit; None if none do."""
        for text in words:
            if len(text) * self._letter < 1e3 * seconds:
                return self.ax.text(
                    1e3 * (begin + seconds / 2),
                    middle,
                    text,
                    ha="center",
                    va="center",
                    fontsize="small",
                    color=colour,
                    clip_on=True,
                )
        return None

    def _own(self, rank):
        top = self.row[rank] + TOP
        for span in self.step.phases(rank):
            self.seen.add(span.name)
            self._bar(span.name if span.name in PHASES else "other", span.time, span.seconds, top, OWN_ROW)
            if span.name == "wait":
                self._label_wait(rank, span, top + OWN_ROW / 2)
        for span in self.step.layers(rank):
            if 1e3 * span.seconds > NARROW * self.width:
                self._edges.append([(1e3 * span.time, top), (1e3 * span.time, top + OWN_ROW)])
            words = span.name, span.name.rpartition(".")[2]
            self._write(words, span.time, span.seconds, top + OWN_ROW / 2, on(PHASES.get(span.phase, PHASES["other"])))

    def _label_wait(self, rank, span, middle):
        other = next((other for waiting, other, _ in self.waits if waiting == rank), None)
        if other is not None:
            spent = milliseconds(span.seconds)
            words = f"waits {spent} for rank {other}", f"{spent} for {other}", f"for {other}"
            written = self._write(words, span.time, span.seconds, middle, INK)
            if written is not None:
                written.set_bbox({"facecolor": PHASES["wait"], "edgecolor": "none", "pad": 1.2})

    def _communication(self, rank):
        spans = [span for span in self.step.communication(rank) if span.seconds > 0]
        lines = in_lines(spans, begin=lambda span: span.time, end=lambda span: span.time + span.seconds)
        for place, line in enumerate(lines):
            height = COMM_ROW / len(lines)
            top = self.row[rank] + BELOW + place * height
            for span in line:
                self._bar(ON_ITS_WAY, span.time, span.seconds, top, height * 0.86)
                size = f"{span.name} {span.bytes / 1000:,.0f} kB"
                if len(lines) == 1:
                    self._write((size, span.name), span.time, span.seconds, top + height / 2, INK)

    def _arrows(self):
        """From where each message was sent to where it was received."""
        pairs = [pair for rank in self.ranks for pair in received(self.step, rank)]
        pairs = [(sent, got) for sent, got in pairs if sent.source in self.row and sent.source in self.step.aligned]
        if 0 < len(pairs) <= ARROWS:
            x, y = (np.array([1e3 * sent.time for sent, _ in pairs]), np.array([self._lane(sent.source) for sent, _ in pairs]))
            to_x = np.array([1e3 * (got.time + got.seconds) for _, got in pairs])
            to_y = np.array([self._lane(got.rank) for _, got in pairs])
            how = {"angles": "xy", "scale_units": "xy", "scale": 1, "units": "dots", "width": 0.8, "headwidth": 8}
            self.ax.quiver(x, y, to_x - x, to_y - y, color=FAINT, headlength=8, headaxislength=6, label="messages", **how)

    def _lane(self, rank):
        return self.row[rank] + BELOW + COMM_ROW / 2

    def _uncertainty(self, rank):
        clock = self.step.clocks.get(rank)
        if known(clock) and clock.uncertainty and rank in self.step.aligned:
            begin, middle, half = 1e3 * self.step.start(rank), self.row[rank] + TOP - 0.07, 1e3 * clock.uncertainty
            self._whiskers.append([(begin - half, middle), (begin + half, middle)])

    def _critical_path(self):
        """A line along the tops of the bars, and from rank to rank where one waited for the other."""
        x, y = [], []
        for leg in self.path:
            if leg.rank in self.row:
                x += [1e3 * leg.begin, 1e3 * leg.end]
                y += [self.row[leg.rank] + TOP - 0.02] * 2
        self.ax.plot(x, y, color=INK, linewidth=2.0, solid_capstyle="butt", solid_joinstyle="miter", label="critical path")

    def _frame(self):
        count = len(self.ranks)
        names(self.ax.yaxis, range(count), [name(self.step, rank) for rank in self.ranks])
        self.ax.tick_params(axis="y", length=0)
        if any(rank not in self.step.aligned for rank in self.ranks):
            for label, rank in zip(self.ax.get_yticklabels(), self.ranks):
                label.set_color(INK if rank in self.step.aligned else STATES["failed"])
        self.ax.spines["left"].set_visible(False)
        self.ax.set_ylim(count - 0.5, -0.5)
        self.ax.set_xlim(0, self.width)
        for place in range(1, count):
            apart = self.ranks[place] not in self.step.aligned
            self.ax.axhline(place - 0.5, color=STATES["failed"] if apart else RULE, linewidth=0.8)
            if apart:
                words = "clock not known: the row begins at 0 by itself, and can't be compared"
                self.ax.text(self.width, place - 0.49, words, ha="right", va="top", fontsize="small", color=STATES["failed"])
        sent = any(self.step.communication(rank) for rank in self.ranks)
        legend(self.ax, self.seen, sent, bool(self._whiskers))


def nothing(ax):
    """What is drawn where no step was traced."""
    dress(ax, "Timeline", "", "", "")
    ax.set_axis_off()
    remark(ax).set_text("no step was traced:\ntrace=True looks at one every half second, from the second step on")
    return ax
