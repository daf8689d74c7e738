"""`explain`: where the time of a run went, in words and numbers, and one thing to try."""

import html
from dataclasses import dataclass, field

from .. import phrases
from ..allowed import listed
from . import diagnoses
from .accounts import Accounts
from .finding import Finding

SMALL, LARGE = 0.05, 0.1  # shares of the time from which on a loss is worth a sentence, and advice
NAMES = (
    *(("forward", "forward"), ("backward", "backward"), ("data", "gathering data"), ("pack", "packing")),
    *(("transfer", "transfer"), ("wait", "waiting for the slowest rank"), ("update", "the update"), ("other", "elsewhere")),
)
SHOWN = 8  # layers in the table


@dataclass(frozen=True)
class Explanation:
    """Where the time of a run went. Printed it is text, in a notebook a small page.

    Attributes
    ----------
    summary : str
        How the time divides.
    findings : list of Finding
        What took it, the largest loss first; computing, which is what it is for, last.
    advice : str
        The one thing to try first.
    layers : list of tuple
        Name, seconds a step, and share of forward and backward; the dearest first; empty where no step was traced.
    """

    summary: str
    findings: list = field(default_factory=list)
    advice: str = ""
    layers: list = field(default_factory=list)

    def __str__(self):
        lines = [self.summary, *(f"- {finding.text}" for finding in self.findings)]
        return "\n".join([*lines, f"To try: {self.advice}"] if self.advice else lines)

    __repr__ = __str__

    def _repr_html_(self):
        found = "".join(f"<li>{html.escape(finding.text)}</li>" for finding in self.findings)
        advice = f"<p><b>To try:</b> {html.escape(self.advice)}</p>" if self.advice else ""
        return f"<p>{html.escape(self.summary)}</p><ul>{found}</ul>{advice}{self._table()}"

    def _table(self):
        if not self.layers:
            return ""
        cells = [(html.escape(name), phrases.seconds(spent), phrases.share(part)) for name, spent, part in self.layers[:SHOWN]]
        rows = ["".join(f"<td>{cell}</td>" for cell in row) for row in cells]
        head = "<th>layer</th><th>a step</th><th>of forward and backward</th>"
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in [head, *rows])}</table>"


def explain(records):
    """Say where the time of a run went.

    Parameters
    ----------
    records : iterable of records
        Of a run; its ledgers are what counts, traces tell of layers.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from dtnn.records import Ledger
    >>> told = [Ledger(0, 100, 100, 3200, 0, 0.1, 0.4, 0.8, 0.5, 0.1, 0.1, 2.0, 0.0)]
    >>> told += [Ledger(1, 100, 100, 3200, 0, 0.1, 0.6, 1.1, 0.0, 0.1, 0.1, 2.0, 0.0)]
    >>> print(explain(told))
    The time of 2 ranks, 20 ms a step: forward 25 %, backward 48 %, gathering data 5 %, transfer 5 %, waiting for the slowest
    rank 12 %, the update 5 %.
    - Rank 1 is the slowest: 18 ms of its own work a step, the other rank 13 ms. The other rank waits 5.0 ms a step for it.
    ...
    To try: Look for what else is busy where rank 1 runs, or leave that rank out.
    """
    accounts = Accounts(listed("records", records, "records, such as run.records"))
    if not accounts.steps:
        return Explanation("Nothing was measured: the run told of no step that ended.")
    losses = [found for found in (diagnose(accounts) for diagnose in diagnoses.LOSSES) if found and found.share >= SMALL]
    losses.sort(key=lambda found: -found.share)
    computing = diagnoses.computing(accounts)
    advice = next((found.advice for found in losses if found.share >= LARGE), computing.advice)
    return Explanation(_summary(accounts), [*losses, computing], advice, accounts.layers())


def _summary(a):
    parts = [f"{name} {phrases.share(a.share(phase))}" for phase, name in NAMES if a.share(phase) >= 0.005]
    told = f"The time of {phrases.ranks(len(a.trained))}, {phrases.seconds(a.a_step('seconds'))} a step: {', '.join(parts)}."
    told += "".join(f" Rank {rank} trains nothing: it is a server, and not counted." for rank in a.servers)
    injected = a.settings.get("injected", ())
    return f"{told} On purpose: {'; '.join(map(str, injected))}." if injected else told


__all__ = ["Explanation", "Finding", "explain"]
