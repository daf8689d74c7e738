"""A double click counts once, by the clock of the page."""

import datetime
import itertools
from types import SimpleNamespace

import pytest

from dtnn.lab import once as module
from dtnn.lab.looks import button
from dtnn.lab.once import OTHER, REPEAT, once


@pytest.fixture
def page(monkeypatch):
    """Clicks on a button at some moments; how many of them count."""

    def clicked(moments, **options):
        done = []
        made = button("Step", lambda: done.append(now[0]), **options)
        for moment in moments:
            now[0] = moment
            made.click()
        return done

    now = [0.0]
    monkeypatch.setattr(module, "moment", lambda: now[0])
    return clicked


@pytest.mark.parametrize("between", [0.0, 0.05, 0.12, 0.2, 0.29])
def test_a_double_click_is_one_click(page, between):
    assert page([10.0, 10.0 + between]) == [10.0]


def test_a_slow_double_click_does_not_undo_itself_where_the_button_stands_for_something_else(page):
    assert page([10.0, 10.45], within=OTHER) == [10.0]
    assert page([10.0, 10.55], within=OTHER) == [10.0, 10.55]


def test_quick_clicks_that_are_meant_count(page):
    moments = [0.35 * number for number in range(10)]
    assert page(moments) == moments


def test_hammering_is_slowed_down_and_not_shut_out(page):
    """Ten clicks a second for three seconds."""
    counted = page([0.1 * number for number in range(30)])
    assert 8 <= len(counted) <= 10
    assert min(b - a for a, b in itertools.pairwise(counted)) >= REPEAT - 1e-9


def test_each_button_has_its_own_clock(page):
    assert page([1.0]) == page([1.1 - 0.1]) == [1.0]
    first, second = [], []
    one, other = button("a", lambda: first.append(1)), button("b", lambda: second.append(1))
    one.click()
    other.click()
    assert first == second == [1]


def test_a_clock_that_was_set_back_shuts_nobody_out(page):
    assert page([100.0, 50.0, 51.0]) == [100.0, 50.0, 51.0]


def test_a_click_that_no_page_sent_always_counts():
    done = []
    made = button("Step", lambda: done.append(1))
    for _ in range(3):
        made.click()
    assert done == [1, 1, 1]


def message(kind, second):
    date = datetime.datetime(2026, 1, 1, 12, 0, second, 500_000, tzinfo=datetime.timezone.utc)
    return {"header": {"msg_type": kind, "date": date}}


def test_the_moment_is_the_page_s_however_late_the_kernel_gets_to_it(monkeypatch):
    parents = [message("comm_msg", 3), message("comm_msg", 4), message("execute_request", 4), {}, None, {"header": {}}]
    shell = SimpleNamespace(get_parent=lambda: parents.pop(0))
    monkeypatch.setattr(module, "in_kernel", lambda: shell)
    first, second = module.moment(), module.moment()
    assert second - first == pytest.approx(1.0)
    assert [module.moment() for _ in range(4)] == [None] * 4, "a cell that clicks, and what is no message"


def test_an_error_of_the_first_click_does_not_let_the_second_through(monkeypatch):
    monkeypatch.setattr(module, "moment", lambda: 5.0)
    calls = []

    def fails():
        calls.append(1)
        raise ValueError("no")

    act = once(fails)
    with pytest.raises(ValueError, match="no"):
        act()
    act()
    assert calls == [1]


def test_a_date_that_was_left_as_text_counts_too(monkeypatch):
    """As in a kernel in which ipyparallel has been imported."""
    dates = ["2026-11-30T19:36:45.035Z", "2026-11-30T19:36:45.137+00:00", "yesterday"]
    shell = SimpleNamespace(get_parent=lambda: {"header": {"msg_type": "comm_msg", "date": dates.pop(0)}})
    monkeypatch.setattr(module, "in_kernel", lambda: shell)
    first, second = module.moment(), module.moment()
    assert second - first == pytest.approx(0.102)
    assert module.moment() is None
