"""What the colours of each rank's bar mean, below the bars."""

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .palette import PAPER, PHASES

RARE = ("other", "pack", "hidden")


def legend(ax, there, columns, below):
    """Explain the phases that are there, and "hidden", so far below the Axes (in its heights)."""
    colours = {**PHASES, "hidden": PHASES["transfer"]}
    handles = [Patch(facecolor=colours[phase], edgecolor=PAPER, hatch="////" if phase == "wait" else "") for phase in there]
    if "hidden" in there:
        handles[-1] = Line2D([], [], color=colours["hidden"], linewidth=2.5)
    ax.legend(
        handles, there, loc="upper left", bbox_to_anchor=(-0.02, below), ncols=columns, frameon=False, fontsize="small",
        handlelength=1.0, handletextpad=0.4, columnspacing=1.0 if len(there) < 8 else 0.6, borderaxespad=0.0,
    )  # fmt: skip


def seen(numbers, phase):
    """Whether a phase belongs in the legend: one that most runs don't have only where it is more than one per cent."""
    if phase not in RARE or not numbers:
        return phase not in RARE
    return any(time[phase] > 0.01 * (time["own"] + time["communication"]) for time in numbers.values())
