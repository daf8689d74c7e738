"""What the colours and lines of the picture of a step mean, below it."""

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from .palette import COMMUNICATION, INK, OWN, PAPER, PHASES, STATES

ON_ITS_WAY = "on its way"
BELOW = 0.52  # inches


def legend(ax, phases, sent, uncertain):
    """Explain what is there, in one row.

    Parameters
    ----------
    ax : matplotlib Axes
    phases : collection of str
        Those that are drawn.
    sent, uncertain : bool
        Whether anything was on its way, and whether clocks differ.
    """
    names = [phase for phase in (*OWN, *COMMUNICATION) if phase in phases]
    handles = [Patch(facecolor=PHASES[name], edgecolor=PAPER, hatch="////" if name == "wait" else "") for name in names]
    if sent:
        handles.append(Patch(facecolor=PHASES["transfer"], alpha=0.45))
        names.append(ON_ITS_WAY)
    handles.append(Line2D([], [], color=INK, linewidth=2.0))
    names.append("critical path")
    if uncertain:
        handles.append(Line2D([], [], color=STATES["interrupted"], linewidth=1.4, marker="|"))
        names.append("uncertainty of clocks")
    below = ax.transAxes + ScaledTranslation(0, -BELOW, ax.get_figure().dpi_scale_trans)
    ax.legend(
        handles, names, loc="upper left", bbox_to_anchor=(0.0, 0.0), bbox_transform=below, ncols=len(names),
        frameon=False, fontsize="small", handlelength=1.2, handletextpad=0.4, columnspacing=1.2, borderaxespad=0.0,
    )  # fmt: skip
