"""The table of compared runs: what it says, and that it fits."""

import re

import pytest

from dtnn.comparison.table import FEW, Table
from tests.notebooks.blank_page import blank_page
from tests.notebooks.watched import CHROMIUM, marks

PAGE = 548  # pixels that JupyterLab leaves in a window of 1,000
LIKE_JUPYTER = """<style>body { width: 548px; margin: 0; font: 13px/1.5 sans-serif; }
table { border-collapse: collapse; font-size: 12px; } td, th { padding: 0.5em; white-space: normal; }</style>"""


def table_of(count):
    names = [f"resnet20_with_a_rather_long_name-{number}" if number % 2 else f"run {number}" for number in range(1, count + 1)]
    settings = {
        name: {
            "ranks": 2,
            "optimizer": f"SGD(lr=0.0{place}, momentum=0.9, weight_decay=0.0001)",
            "strategy": f"AllReduce(algorithm='ring', bucket_bytes={place}, overlap=False)",
            "model": "Model()" if place else "Model(Linear(3))",
        }
        for place, name in enumerate(names)
    }
    shared = {"epochs done": 100, "val_loss": 1.2345678, "val_accuracy": 0.98765, "seconds": 1234.5, "samples/s": 123456.0}
    results = {
        name: {"state": "done" if place else "interrupted", "loss": 0.1 * place, "accuracy": 0.9 - 0.01 * place, **shared}
        for place, name in enumerate(names)
    }
    return Table(settings, results)


def rows(page):
    cells = re.compile(r"<t[dh].*?>(.*?)</t[dh]>")
    return [[re.sub("<.*?>", "", cell) for cell in cells.findall(row)] for row in re.findall(r"<tr>(.*?)</tr>", page)]


def test_few_runs_have_a_column_each():
    found = rows(table_of(2).page)
    assert found[0] == ["", "resnet20_with_a_rather_long_name-1", "run 2"]
    assert {row[0]: row[1:] for row in found}["model"] == ["model 1", "model 2"]
    assert {row[0]: row[1:] for row in found}["state"] == ["interrupted", "done"]
    assert {row[0]: row[1:] for row in found}["accuracy"] == ["0.9", "0.89"]
    assert "ranks" not in {row[0] for row in found}, "that is the same"


def test_many_runs_have_a_row_each_and_their_settings_below():
    found = rows(table_of(FEW + 1).page)
    assert found[0] == ["run", "epochs done", "loss", "accuracy", "val_loss", "val_accuracy", "seconds", "samples/s"]
    assert len(found) == 1 + 2 * (FEW + 1)
    assert found[3][0] == "run 2"
    assert found[2][0].startswith(
        "optimizer SGD(lr=0.00, momentum=0.9, weight_decay=0.0001) · strategy AllReduce(algorithm=&#x27;ring"
    )
    assert found[2][0].endswith("model 1 · interrupted")
    assert found[4][0].endswith("model 2")


def test_the_best_is_the_least_of_losses_and_seconds_and_the_most_of_anything_else():
    settings = {"a": {}, "b": {}}
    results = {
        "a": {"state": "done", "loss": 1.0, "perplexity": 9.0, "seconds": 3.0, "f1": 0.5, "samples/s": float("nan")},
        "b": {"state": "done", "loss": 2.0, "perplexity": 8.0, "seconds": 2.0, "f1": 0.6, "samples/s": 5.0},
    }
    assert Table(settings, results).best == {("a", "loss"), ("b", "perplexity"), ("b", "seconds"), ("b", "f1")}


@pytest.fixture(scope="module")
def page():
    with blank_page(CHROMIUM) as page:
        yield page


class TestInABrowser:
    pytestmark = marks(limit=120)

    @pytest.mark.parametrize("runs", [1, 2, FEW, 6, 12])
    def test_no_column_is_cut_off(self, page, runs):
        page.set_content(LIKE_JUPYTER + table_of(runs).page)
        assert page.evaluate("document.querySelector('table').scrollWidth") <= PAGE
        assert page.evaluate("[...document.querySelectorAll('td, th')].every(cell => cell.scrollWidth <= cell.clientWidth + 1)")
