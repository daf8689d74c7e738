"""Waits of over a second have words; shorter ones, and quiet places, have none."""

import io
import sys
import time

import pytest

from dtnn.cluster import waiting


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(waiting, "FIRST", 0.1)
    monkeypatch.setattr(waiting, "PERIOD", 0.05)


def test_a_long_wait_is_told_and_taken_back():
    told = []
    with waiting.waiting(told.append) as waits:
        waits("the controller")
        time.sleep(0.2)
        waits("engines (1 of 2 are there)")
        time.sleep(0.2)
    assert told[0] == "waiting for the controller (0 s)"
    assert told[-2] == "waiting for engines (1 of 2 are there) (0 s)"
    assert told[-1] == ""


def test_a_short_wait_is_not_told():
    told = []
    with waiting.waiting(told.append) as waits:
        waits("something quick")
    assert told == []


def test_an_error_takes_the_line_back_too():
    told = []

    def fail():
        with waiting.waiting(told.append) as waits:
            waits("a thing")
            time.sleep(0.2)
            raise OSError("no")

    with pytest.raises(OSError, match="no"):
        fail()
    assert told[-1] == ""


def test_nothing_is_printed_where_nobody_looks(capsys):
    with waiting.waiting() as waits:
        waits("a thing")
        time.sleep(0.2)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_one_line(monkeypatch):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    with waiting.waiting() as waits:
        waits("a thing")
        time.sleep(0.2)
    text = screen.getvalue()
    assert "\n" not in text
    assert text.startswith("\r\x1b[Kwaiting for a thing")
    assert text.endswith("\r\x1b[K")
