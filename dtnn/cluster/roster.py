"""The ranks of a cluster as a table: one row a rank, for a terminal and for a notebook."""

import html as escaping

from .. import phrases

COLUMNS = ("rank", "host", "pid", "cores", "threads", "state", "step", "memory")
NUMBERS = {"rank", "pid", "cores", "threads", "step", "memory"}  # stand right
MARKS = {"dead": "#d9534f", "stopped": "#8a8f98", "idle": "#3f8fd9"}  # readable on white and on black
BUSY = "#2f9e63"


def describe(cluster):
    """One description a rank: rank, host, pid, cores, threads, state, and step and memory (bytes) where they are known.

    `state` is "stopped", "dead", "idle", or the name of the job under way; `step` that of its training.
    """
    if cluster._crew is None:
        return [{"rank": rank, "threads": cluster.threads_per_rank, "state": "stopped"} for rank in range(cluster.ranks)]
    return cluster._started.rows()


def heading(cluster):
    """The line above the table."""
    return f"Cluster of {phrases.ranks(cluster.ranks)} ({cluster._asked.kind}), {cluster.state}"


def text(title, rows):
    """The table for a terminal.

    Parameters
    ----------
    title : str
    rows : list of dict
        One a rank, with the keys of `COLUMNS`; what a row doesn't have is left blank.

    Examples
    --------
    >>> print(text("2 ranks", [{"rank": 0, "host": "lab7", "pid": 41, "state": "train", "step": 12, "memory": 83 * 2**20}]))
    2 ranks
       rank  host  pid  cores  threads  state  step  memory
          0  lab7   41                  train    12   83 MB
    """
    cells = [COLUMNS, *(tuple(_cell(row, name) for name in COLUMNS) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells)]
    placed = [[_placed(*item) for item in zip(line, COLUMNS, widths)] for line in cells]
    return "\n".join([title, *(f"   {'  '.join(line)}".rstrip() for line in placed)])


def html(title, rows):
    """The table for a notebook, in the colours of its theme."""
    head = "".join(f'<th style="text-align:{_side(name)};padding:0.1em 0.6em">{name}</th>' for name in COLUMNS)
    body = "".join(f"<tr>{''.join(_html_cell(row, name) for name in COLUMNS)}</tr>" for row in rows)
    style = "color:inherit;font-variant-numeric:tabular-nums;margin:0.3em 0"
    caption = f'<div style="font-weight:600">{escaping.escape(title)}</div>'
    return f'{caption}<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _html_cell(row, name):
    shown = escaping.escape(_cell(row, name))
    if name == "state":
        shown = f'<span style="color:{MARKS.get(row.get("state"), BUSY)}">&#9679;</span> {shown}'
    return f'<td style="text-align:{_side(name)};padding:0.1em 0.6em">{shown}</td>'


def _cell(row, name):
    value = row.get(name)
    if value is None:
        return ""
    return f"{value / 2**20:.0f} MB" if name == "memory" else str(value)


def _placed(cell, name, width):
    return cell.rjust(width) if name in NUMBERS else cell.ljust(width)


def _side(name):
    return "right" if name in NUMBERS else "left"
