"""Where each rank's time went: its own work against communication."""

from matplotlib.ticker import PercentFormatter

from .axes import axes_or_new, dress, remark
from .breakdown_legend import legend, seen
from .columns import behind, table
from .palette import COMMUNICATION, FAINT, OWN, PAPER, PHASES, on
from .story import Story
from .totals import totals

LABELS = 8  # ranks that are named, at most
FEW = 6  # up to so many ranks have numbers on their bars
VERY_FEW = 4  # ... and a sentence above them
TITLE = "Where each rank's time goes"
STRIP = 0.1  # height of what shows hidden communication
SEEN = 1  # digits of a per cent; less is not a pixel


def breakdown(records, ax=None, unit="seconds"):
    """Draw a bar for each rank: data, forward, backward, update (cold colours), pack, transfer and wait (warm colours).

    These are the exposed communication, during which the rank did nothing else. What went on behind backward is a thin warm
    strip under the bar of backward: it took none of the rank's time.

    Parameters
    ----------
    records : list of records or Story
        A run's records; only each rank's Ledger records count.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.
    unit : {"seconds", "percent"}
        What the bars' length means.  The other one is written on them.

    Returns
    -------
    matplotlib Axes
        `totals(records)` gives the numbers behind it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from dtnn.records import Ledger
    >>> told = [Ledger(0, 1, 1, 32, 4000, 0.1, 0.2, 0.3, 0.1, 0.2, 0.1, 1.0, 0.0)]
    >>> ax = breakdown(told, ax=Figure().add_subplot())
    >>> round(sum(bar.get_width() for bar in ax.patches), 6)
    1.0
    """
    if unit not in ("seconds", "percent"):
        raise ValueError(f"unit={unit!r} is not known; choose 'seconds' or 'percent'")
    bars = Bars(axes_or_new(ax), unit)
    bars.show(records if isinstance(records, Story) else Story(records))
    return bars.ax


class Bars:
    """The bars of one Axes, drawn once for a number of ranks and then only moved.

    Parameters
    ----------
    ax : matplotlib Axes
    unit : {"seconds", "percent"}
    title : str
    now : bool
        Of each rank's last seconds, instead of since the run began.
    named : bool
        Whether ranks are named at the left.
    columns : int
        Of the legend; 0 for none.
    """

    def __init__(self, ax, unit="percent", title=TITLE, now=False, named=True, columns=4):
        self.ax, self.unit = dress(ax, title, "" if unit == "percent" else "seconds", "", "x"), unit
        self.now, self._named, self._columns = now, named, columns
        if unit == "percent":
            ax.xaxis.set_major_formatter(PercentFormatter(decimals=0))
        self.bars, self.texts, self.hidden, self.moving = {}, {}, [], []
        self._ranks = self._frame = self.shown = None

    def show(self, story):
        """Move the bars to what the story tells; returns whether the frame (ranks, limits) has changed."""
        numbers = totals(story, self.now)
        behind(self.ax, lambda: _columns(numbers))
        ranks = tuple(numbers) or tuple(range(story.ranks))
        changed = ranks != self._ranks
        if changed:
            self._build(ranks)
        for row, rank in enumerate(ranks):
            if rank in numbers:
                self._move(row, numbers[rank])
        self._empty.set_text("" if numbers else "nothing was measured" if story.finish else "after the first steps")
        self.shown = (
            self._empty.get_text(),
            ranks,
            [[round(bar.get_width(), SEEN) for bar in bars] for bars in self.bars.values()],
        )
        return self._set_frame(numbers, totals(story) if self.now else numbers) or changed

    def _build(self, ranks):
        for artist in self.moving:
            artist.remove()
        rows, self._ranks = range(len(ranks)), ranks
        self.bars = {
            phase: self.ax.barh(
                rows,
                [0.0] * len(ranks),
                height=0.62 if len(ranks) < 3 else 0.52 if len(ranks) <= VERY_FEW else 0.78,
                color=PHASES[phase],
                edgecolor=PAPER,
                linewidth=0.8,
            )
            for phase in (*OWN, *COMMUNICATION)
        }
        for bar in self.bars["wait"]:
            bar.set(hatch="////", edgecolor=PAPER)
        self.texts = {key: self._text(key) for key in [(row, phase) for row in rows for phase in (*OWN, *COMMUNICATION, "sum")]}
        self.hidden = self.ax.barh(rows, [0.0] * len(ranks), height=STRIP, color=PHASES["transfer"])
        self._empty = remark(self.ax)
        bars = [bar for bars in self.bars.values() for bar in bars]
        self.moving = [*bars, *self.hidden, *self.texts.values(), self._empty]
        self._label(ranks)

    def _text(self, key):
        row, phase = key
        if phase == "sum":
            return self.ax.text(
                0, row - (0.48 if len(self._ranks) < 3 else 0.42), "", ha="left", va="center", fontsize="small", color=FAINT
            )
        return self.ax.text(0, row, "", ha="center", va="center", fontsize="small", color=on(PHASES[phase]), clip_on=True)

    def _label(self, ranks):
        every = -(-len(ranks) // LABELS) or 1
        words = [f"rank {rank}" if self._named else "" for rank in ranks[::every]]
        self.ax.set_yticks(range(0, len(ranks), every), words)
        self.ax.tick_params(axis="y", length=0, labelsize="medium" if len(ranks) <= VERY_FEW else "small")
        self.ax.spines["left"].set_visible(False)
        self.ax.set_ylim(max(len(ranks), 1) - 0.5, -0.75 if len(ranks) <= VERY_FEW else -0.5)

    def _move(self, row, time):
        whole = time["own"] + time["communication"] or 1.0
        scale, left = (100 / whole if self.unit == "percent" else 1.0), 0.0
        for phase in (*OWN, *COMMUNICATION):
            width = time[phase] * scale
            self.bars[phase][row].set(x=left, width=width)
            self._write(row, phase, left + width / 2, time[phase] / whole)
            left += width
            if phase == "backward":
                behind = min(time["hidden"], time["backward"]) * scale
                self.hidden[row].set(x=left - behind, width=behind, y=row + self.bars[phase][row].get_height() / 2 - STRIP)
        if len(self._ranks) <= VERY_FEW:
            self.texts[row, "sum"].set_text(_sentence(time, whole))

    def _write(self, row, phase, x, part):
        wide = part >= 0.115 and len(self._ranks) <= FEW and phase != "wait"
        text = self.texts[row, phase]
        text.set_text(f"{100 * part:.0f} %" if wide else "")
        text.set_x(x)

    def _set_frame(self, numbers, whole):
        longest = max((time["own"] + time["communication"] for time in numbers.values()), default=1.0)
        there = tuple(phase for phase in (*OWN, *COMMUNICATION, "hidden") if seen(numbers, phase) or seen(whole, phase))
        frame = (100.0 if self.unit == "percent" else longest, there, self._ranks)
        if frame == self._frame:
            return False
        self._frame = frame
        self.ax.set_xlim(0, frame[0])
        if self._columns:
            legend(self.ax, there, self._columns, -0.16 if self.unit == "percent" else -0.24)
        return True


def _columns(numbers):
    """Seconds of each rank in each phase, and what it did."""
    names = *OWN, *COMMUNICATION, "hidden", "samples", "bytes", "steps"
    return table(("rank", *names), [(rank, *(time[name] for name in names)) for rank, time in numbers.items()])


def _sentence(time, whole):
    own, packed, moved, waited, hidden = (100 * time[name] / whole for name in ("own", "pack", "transfer", "wait", "hidden"))
    if hidden > 1:
        return f"own {own:.0f} · exposed {packed + moved:.0f} · wait {waited:.0f} · hidden {hidden:.0f} %"
    if packed > 1:
        return f"own {own:.0f} · pack {packed:.0f} · transfer {moved:.0f} · wait {waited:.0f} %"
    return f"own work {own:.0f} % · transfer {packed + moved:.0f} % · wait {waited:.0f} %"
