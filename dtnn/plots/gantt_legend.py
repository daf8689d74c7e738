"""What the colours and lines of the picture of a step mean, below it."""

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .key import key
from .palette import COMMUNICATION, INK, OWN, PAPER, PHASES, STATES

ON_ITS_WAY = "on its way"
BELOW = 0.45  # inches
COLUMNS = 5


def legend(ax, phases, sent, uncertain):
    """Explain what is there.

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
    key(ax, handles, names, at=(0.0, 0.0), columns=COLUMNS, handle=1.2, below=BELOW)
