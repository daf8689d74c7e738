"""A run as a piece of HTML, for pages that show no live view: its main numbers, and the picture of how it went."""

import base64
import html

from ..phrases import ranks
from ..records import Epoch, Finish, Ledger, Resumed, Start, Step
from ..sentence import sentence

PICTURE = 640  # pixels of its width; some 20 kB


def run_page(run):
    """The page of a run: a table, in the colours of the notebook's theme, and a picture of a training.

    Parameters
    ----------
    run : Run

    Returns
    -------
    str
    """
    rows = "".join(
        f'<tr><th style="text-align:left;padding:0.1em 0.8em 0.1em 0">{name}</th>'
        f'<td style="text-align:left;padding:0.1em 0">{html.escape(text)}</td></tr>'
        for name, text in numbers(run)
    )
    head = f'<div style="font-weight:600">{html.escape(run.name)} on {ranks(run.size)}</div>'
    return f'{head}<table style="color:inherit;margin:0.3em 0">{rows}</table>{_picture(run)}'


def numbers(run):
    """What there is to say of a run: (name, text) for each."""
    records, start = run.records, run.records.last(Start)
    rows = [("state", run.state)]
    if run.error:
        rows.append(("error", sentence(run.error).splitlines()[0]))
    if start is None:
        return [*rows, ("records", f"{len(records):,}")]
    told = start.settings
    rows += [("model", f"{told['parameters']:,} parameters")] if told.get("parameters") else []
    rows += [("data", f"{told.get('data')}: {told['samples']:,} samples")] if told.get("samples") else []
    rows += [(name.replace("_", " "), str(told[name])) for name in ("batch_size", "optimizer", "strategy") if name in told]
    return [*rows, *_course(records, told), *_time(records, start)]


def _course(records, told):
    """How far it came, and how well it does."""
    epochs, step = records.of(Epoch), records.last(Step)
    done = len({epoch.epoch for epoch in epochs if epoch.samples})
    rows = [("epochs", f"{done} of {told['epochs']}" if told.get("epochs") else str(done))]
    if epochs:
        return rows + [(name.replace("val_", "validation "), f"{value:.4g}") for name, value in epochs[-1].metrics.items()]
    return rows + ([("loss", f"{step.loss:.4g}")] if step else [])


def _time(records, start):
    """How long it took, without pauses, and how much of that went into communication."""
    last = records.last(Finish) or records.last(Epoch) or records.last(Step)
    paused = sum(record.seconds for record in records.of(Resumed))
    rows = [("time", f"{last.time - start.time - paused:.1f} s")] if last else []
    ledgers = records.of(Ledger)
    seconds = sum(ledger.seconds for ledger in ledgers)
    if seconds and start.ranks > 1:
        shares = [sum(getattr(ledger, name) for ledger in ledgers) / seconds for name in ("pack", "transfer", "wait")]
        moved, waited = 100 * (shares[0] + shares[1]), 100 * shares[2]
        rows.append(("communication", f"{moved:.0f} % of the ranks' time, and {waited:.0f} % waiting for the slowest"))
    return rows


def _picture(run):
    """The picture of a training that has begun, where matplotlib is installed."""
    if run.records.last(Step) is None:
        return ""
    try:
        from ..plots import picture
    except ImportError:
        return ""
    drawn = base64.b64encode(picture(run.records, PICTURE, run.name, run.state)).decode()
    return f'<img style="max-width:100%" width="{PICTURE}" alt="how it went" src="data:image/png;base64,{drawn}">'
