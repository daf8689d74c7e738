"""Tables of models and studies on a page of 1,000 pixels, of which a notebook leaves its outputs 568."""

import pytest

from dtnn import zoo
from dtnn.plots.palette import COMMUNICATION, OWN
from dtnn.scaling.measure import Measurement
from dtnn.scaling.result import Study
from tests.notebooks.blank_page import blank_page
from tests.notebooks.watched import CHROMIUM, marks

pytestmark = marks(limit=120)
LIKE_JUPYTER = """<style>
body { width: 568px; margin: 0; font: 14px/1.5 sans-serif; } table { border-collapse: collapse; font-size: 13px; }
td, th { padding: 0.5em; white-space: normal; }
</style>"""
TABLES = "[...document.querySelectorAll('table')].map(table => table.scrollWidth)"


def study():
    time = {rank: {"steps": 40, **dict.fromkeys((*OWN, *COMMUNICATION), 0.1)} for rank in range(2)}
    measured = [Measurement(ranks, number, 1024, 40, 40_960, 0.3 / ranks, time, 0.0) for ranks in (1, 2, 16) for number in (1, 2)]
    return Study("m", "mnist5k", "strong", 1024, "SGD(lr=0.01)", {"cores": 2}, 1, measured)


@pytest.fixture(scope="module")
def page():
    with blank_page(CHROMIUM) as page:
        yield page


@pytest.mark.parametrize("make", [lambda: zoo.resnet20(), lambda: zoo.lenet5(), study])
def test_no_column_is_cut_off(page, make):
    page.set_content(LIKE_JUPYTER + make()._repr_html_())
    assert max(page.evaluate(TABLES)) <= 568
