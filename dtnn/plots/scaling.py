"""A scaling study in pictures: speed-up, efficiency, and where the time goes as ranks are added."""

from .axes import axes_or_new, dress, paper, sheet
from .columns import behind, table
from .fitted import Fitted
from .palette import COMMUNICATION, FAINT, IDEAL, OWN, PAPER, PHASES, TRAINING


def scaling(study, ax=None):
    """Draw the speed-up against ranks, with the ideal line; the band is from the slowest to the fastest repeat.

    Parameters
    ----------
    study : Study
        Anything with `rows` (a dict for each number of ranks) and `mode`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure's without it.

    Returns
    -------
    matplotlib Axes
        Its lines are labelled "ideal" and "measured"; `study.rows` has the numbers.
    """
    ax = behind(dress(axes_or_new(ax), "Speed-up", "ranks", "", "both"), lambda: _table(study, "speedup"))
    ranks = _column(study, "ranks")
    ax.plot([ranks[0], ranks[-1]], [ranks[0] / ranks[0], ranks[-1] / ranks[0]], "--", color=IDEAL, label="ideal")
    _band(ax, study, "speedup")
    for number, value in list(zip(ranks, _column(study, "speedup")))[1:]:
        ax.annotate(
            f"{value:.2f}", (number, value), (0, -14), textcoords="offset points", ha="center", fontsize="small", color=FAINT
        )
    ax.set_ylim(0, max(ranks[-1] / ranks[0], *_column(study, "speedup_high")) * 1.1)
    return _ranks_below(ax, ranks, legend="upper left")


def efficiency(study, ax=None):
    """Draw the efficiency against ranks: the speed-up as a share of the ideal one. Parameters as for `scaling`."""
    ax = behind(dress(axes_or_new(ax), "Efficiency", "ranks"), lambda: _table(study, "efficiency"))
    ranks = _column(study, "ranks")
    ax.axhline(1.0, linestyle="--", color=IDEAL, label="ideal")
    _band(ax, study, "efficiency")
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f}%")
    ax.set_ylim(0, max(1.15, *_column(study, "efficiency_high")) * 1.02)
    return _ranks_below(ax, ranks, legend="lower left")


def time_per_step(study, ax=None):
    """Draw a column for each number of ranks: milliseconds of a step by phase, mean over ranks. Parameters as for `scaling`."""
    ax = dress(axes_or_new(ax), "Time of a step", "ranks", "milliseconds")
    behind(ax, lambda: _phases(study))
    ranks, below = [str(number) for number in _column(study, "ranks")], [0.0] * len(study.rows)
    for phase in (*OWN, *COMMUNICATION):
        heights = [1000 * row["step"].get(phase, 0.0) for row in study.rows]
        if phase != "other" or any(height > 0.01 * sum(row["step"].values()) * 1000 for height, row in zip(heights, study.rows)):
            hatch = "////" if phase == "wait" else ""
            ax.bar(ranks, heights, 0.55, below, color=PHASES[phase], edgecolor=PAPER, linewidth=0.8, hatch=hatch, label=phase)
        below = [low + height for low, height in zip(below, heights)]
    ax.set_ylim(0, max(below) * 1.12)
    handles, labels = ax.get_legend_handles_labels()
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "handlelength": 1.0, "handletextpad": 0.5}
    ax.legend(handles[::-1], labels[::-1], frameon=False, fontsize="small", **beside)
    return ax


def study_figure(study, title=""):
    """All three, and words above them, as a matplotlib Figure."""
    figure = sheet(5.4 + 0.2 * title.count("\n"), layout=Fitted())
    for draw, place in ((scaling, 1), (efficiency, 2), (time_per_step, (3, 4))):
        draw(study, figure.add_subplot(2, 2, place))
    figure.text(0.012, 0.99, title, ha="left", va="top", fontsize="medium", color=FAINT)
    return paper(figure)


def _band(ax, study, name):
    ranks = _column(study, "ranks")
    ax.fill_between(ranks, _column(study, f"{name}_low"), _column(study, f"{name}_high"), color=TRAINING, alpha=0.2, linewidth=0)
    ax.plot(ranks, _column(study, name), "o-", color=TRAINING, label="measured")


def _ranks_below(ax, ranks, legend):
    margin = 0.08 * max(1, ranks[-1] - ranks[0])
    ax.set_xlim(ranks[0] - margin, ranks[-1] + margin)
    ax.set_xticks(ranks)
    ax.legend(frameon=False, fontsize="small", loc=legend)
    return ax


def _column(study, name):
    return [row[name] for row in study.rows]


def _table(study, name):
    """A number and its band for each number of ranks."""
    names = "ranks", name, f"{name}_low", f"{name}_high"
    return table(names, [[row[name] for name in names] for row in study.rows])


def _phases(study):
    return table(("ranks", "phase", "seconds"), [(row["ranks"], *phase) for row in study.rows for phase in row["step"].items()])
