"""What a scaling study found: numbers, table, picture, file."""

import json
import statistics
from dataclasses import asdict, dataclass, field
from html import escape

from .. import allowed
from ..phrases import counted
from ..plots.palette import COMMUNICATION, OWN
from ..whole_file import whole_file
from .measure import Measurement

HEADS = {
    "ranks": "ranks",
    "batch_size": "global batch",
    "throughput": "samples/s",
    "band": "slowest to fastest",
    "speedup": "speed-up",
    "efficiency": "efficiency",
    "own": "own work",
    "transfer": "transfer",
    "wait": "wait",
}
NARROW = "text-align:right;padding:0.3em 0.25em"  # nine columns on a page of 1,000 pixels


@dataclass
class Study:
    """What a scaling study found; made by `study`, or read back by `Study.load`.

    Attributes
    ----------
    measurements : list of Measurement
    rows : list of dict
        For each number of ranks the median throughput (samples/s), speed-up and efficiency with their lowest and highest
        value over the repeats, and "step": seconds of each phase in a step, mean over ranks.
    machine : dict
        Where it was measured, see `dtnn.machine.describe`.
    """

    model: str
    data: str
    mode: str
    batch_size: int
    optimizer: str
    machine: dict
    threads_per_rank: int = 1
    measurements: list = field(default_factory=list)

    @property
    def ranks(self):
        """The numbers of ranks, in the order they were asked for."""
        return list(dict.fromkeys(each.ranks for each in self.measurements))

    @property
    def rows(self):
        """One dict for each number of ranks."""
        base = statistics.median(each.throughput for each in self.measurements if each.ranks == self.ranks[0])
        return [_row([each for each in self.measurements if each.ranks == ranks], base, self.ranks[0]) for ranks in self.ranks]

    @property
    def title(self):
        """What was measured, in a line."""
        share = "for each rank" if self.mode == "weak" else "shared by all ranks"
        threads = f"{counted(self.threads_per_rank, 'thread')} a rank"
        repeats = len(self.measurements) // max(1, len(self.ranks))
        return f"{self.mode} scaling · {self.data} · batch {self.batch_size} {share} · {threads} · {repeats} repeats"

    @property
    def warning(self):
        """What makes these numbers doubtful; "" if nothing does."""
        cores, most = self.machine.get("cores") or 0, max(self.ranks, default=0)
        if 0 < cores < most:
            return f"{most} ranks shared {counted(cores, 'core')}: times with more ranks than cores say little"
        return ""

    def plot(self):
        """Speed-up with the ideal line, efficiency, and the time of a step, as one matplotlib Figure."""
        from ..plots import study_figure

        return study_figure(self, f"{self.title}\n{self.warning}".strip())

    def save(self, path):
        """Write everything as one JSON file, whole or not at all."""
        with whole_file(path) as file:
            file.write(json.dumps({"type": "study", **asdict(self)}, indent=1).encode())

    @classmethod
    def load(cls, path):
        """The study that `save` wrote.

        Raises
        ------
        ValueError
            If the file is no study.
        """
        path = allowed.file("path", path)
        try:
            with open(path, encoding="utf-8") as file:
                values = json.load(file)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict) or values.pop("type", None) != "study":
            raise ValueError(f"{path} is not a study that dtnn saved; Study.save writes one")
        try:
            return cls(**{**values, "measurements": [_measured(each) for each in values["measurements"]]})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{path} is no study of dtnn, or a damaged one: {error!r}") from error

    def __str__(self):
        cells = [list(HEADS.values()), *(_cells(row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in cells]
        return "\n".join([self.title, *lines, *([self.warning] if self.warning else [])])

    __repr__ = __str__

    def _repr_html_(self):
        head = "".join(f'<th style="{NARROW}">{escape(name)}</th>' for name in HEADS.values())
        cells = ["".join(f'<td style="{NARROW}">{escape(cell)}</td>' for cell in _cells(row)) for row in self.rows]
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        note = f"<p>{escape(self.warning)}</p>" if self.warning else ""
        table = f'<div style="overflow-x:auto;max-width:100%"><table><tr>{head}</tr>{body}</table></div>'
        return f"<p>{escape(self.title)}</p>{table}{note}"


def _measured(values):
    return Measurement(**{**values, "time": {int(rank): time for rank, time in values["time"].items()}})


def _row(repeats, base, first):
    """One line of the result: all repeats of one number of ranks."""
    ranks, rates = repeats[0].ranks, [each.throughput for each in repeats]
    row = {"ranks": ranks, "batch_size": repeats[0].batch_size}
    for end, rate in (("", statistics.median(rates)), ("_low", min(rates)), ("_high", max(rates))):
        row[f"throughput{end}"], row[f"speedup{end}"], row[f"efficiency{end}"] = rate, rate / base, rate / base * first / ranks
    row["step"] = {phase: _mean(repeats, phase) for phase in (*OWN, *COMMUNICATION)}
    return row


def _mean(repeats, phase):
    """Seconds of a phase in a step: mean over ranks, median over repeats."""
    return statistics.median(
        statistics.fmean(time.get(phase, 0.0) / time["steps"] for time in each.time.values()) for each in repeats
    )


def _cells(row):
    whole = sum(row["step"].values()) or 1.0
    step = row["step"]
    shares = [sum(step[phase] for phase in OWN), step["pack"] + step["transfer"], step["wait"]]
    return [
        str(row["ranks"]),
        str(row["batch_size"]),
        f"{row['throughput']:,.0f}",
        f"{row['throughput_low']:,.0f} to {row['throughput_high']:,.0f}",
        f"{row['speedup']:.2f}",
        f"{100 * row['efficiency']:.0f} %",
        *(f"{100 * share / whole:.0f} %" for share in shares),
    ]
