"""`Table`: the settings in which runs differ, and their results, as text and for a page."""

import math
from html import escape

from ..nn.metrics.direction import less_is_better
from .brief import brief
from .results_of import told

FEW = 4  # runs that have a column each; of more each has a row
CELL = "padding: 2px 10px 2px 0; text-align: left; vertical-align: top; white-space: normal"
WORDS = f"{CELL}; overflow-wrap: anywhere"  # in a narrow page a long name goes on in the next line
NUMBER = f"{CELL}; white-space: nowrap"


class Table:
    """What is shown of runs side by side.

    Parameters
    ----------
    settings, results : dict of dict
        Of each run by its name, see `settings_of` and `results_of`.

    Examples
    --------
    >>> results = {"a": {"state": "done", "loss": 2.0}, "b": {"state": "done", "loss": 1.0}}
    >>> table = Table({"a": {"lr": 0.1}, "b": {"lr": 0.2}}, results)
    >>> print(table)
    run  lr   state  loss
    a    0.1  done   2
    b    0.2  done   1
    >>> table.best
    {('b', 'loss')}
    """

    def __init__(self, settings, results):
        self.settings, self.found, self.results = settings, results, told(results.values())
        rows = list(settings.values())
        keys = dict.fromkeys(key for row in rows for key in row)
        self.varied = [key for key in keys if any(row.get(key) != rows[0].get(key) for row in rows)]
        self._models = list(dict.fromkeys(str(row.get("model")) for row in rows))

    @property
    def best(self):
        """The best of each result, as pairs of a run's name and the result's; nothing where all are the same."""
        places = set()
        for key in self.results:
            values = {name: row.get(key) for name, row in self.found.items()}
            known = [value for value in values.values() if isinstance(value, int | float) and math.isfinite(value)]
            if key != "epochs done" and len(known) > 1 and min(known) < max(known):
                best = min(known) if key == "seconds" or less_is_better(key) else max(known)
                places |= {(name, key) for name, value in values.items() if value == best}
        return places

    @property
    def same(self):
        """What all runs have in common, in a line."""
        first = next(iter(self.settings.values()))
        common = [f"{key} {brief(value)}" for key, value in first.items() if key not in self.varied and key != "model"]
        return f"the same: {' · '.join(common)}" if common and len(self.settings) > 1 else ""

    def setting(self, name, key):
        """A run's setting in few letters; a model's code is told by a number."""
        if key == "model":
            return f"model {1 + self._models.index(str(self.settings[name].get('model')))}"
        return brief(self.settings[name].get(key))

    # ---- as text

    def __str__(self):
        rows = [["run", *self.varied, "state", *self.results]]
        for name, found in self.found.items():
            settings = [self.setting(name, key) for key in self.varied]
            rows.append([name, *settings, found["state"], *(brief(found.get(key)) for key in self.results)])
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    # ---- for a page, which may be narrow

    @property
    def page(self):
        """As HTML: of few runs each has a column; of many each has a row, and below it its settings."""
        rows = self._columns() if len(self.found) <= FEW else self._rows()
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
        return f'<table style="display: table; max-width: 100%; border-collapse: collapse">{body}</table>'

    def _columns(self):
        """A row for each setting and result."""
        names = list(self.found)
        yield [_cell("", tag="th"), *(_cell(escape(name), tag="th") for name in names)]
        for key in self.varied:
            yield [_head(key), *(_cell(escape(self.setting(name, key))) for name in names)]
        yield [_head("state"), *(_cell(escape(self.found[name]["state"])) for name in names)]
        for key in self.results:
            yield [_head(key), *(self._result(name, key) for name in names)]

    def _rows(self):
        """A row for each run, and one below it for what is its own: settings, and its state if it isn't done."""
        yield [_cell("run", tag="th"), *map(_head, self.results)]
        for name in self.found:
            yield [_cell(escape(name)), *(self._result(name, key) for key in self.results)]
            told = [f"{key} {self.setting(name, key)}" for key in self.varied]
            told += [self.found[name]["state"]] * (self.found[name]["state"] != "done")
            if told:
                small = f'<span style="opacity: 0.8; font-size: 0.92em">{escape(" · ".join(told))}</span>'
                yield [_cell(small, f"{WORDS}; padding: 0 10px 6px 12px", f'td colspan="{1 + len(self.results)}"')]

    def _result(self, name, key):
        text = escape(brief(self.found[name].get(key)))
        return _cell(f"<b>{text}</b>" if (name, key) in self.best else text, NUMBER)


def _cell(text, style=WORDS, tag="td"):
    return f'<{tag} style="{style}">{text}</{tag.split()[0]}>'


def _head(name):
    """The name of a setting or a result, which may go on in a next line."""
    return _cell(escape(name).replace("_", "_<wbr>"), CELL, "th")
