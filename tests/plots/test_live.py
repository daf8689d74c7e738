"""The live view against a run that never was, on each kind of screen."""

import asyncio
import base64
import io
import os
import subprocess
import sys

import pytest
from PIL import Image

from dtnn.plots.live import Live
from dtnn.plots.screens import Display, Terminal, Widgets, _form, screen_for


class FakeRun:
    """A run whose records come when the test says so."""

    def __init__(self, records=()):
        self.records, self.state, self.waiting_for, self.error, self.story, self.done = (
            list(records),
            "waiting",
            "2 engines",
            None,
            "",
            False,
        )

    def end(self, records=(), state="done"):
        self.records += list(records)
        self.state, self.done, self.waiting_for = state, True, ""


class Noted:
    """A screen that only remembers."""

    interval = 0.0

    def __init__(self):
        self.shown, self.closed = [], 0

    def show(self, live):
        self.shown.append((len(live.records), live.png()))

    def close(self, live):
        self.closed += 1
        self.last = live.last_png()


@pytest.fixture
def outputs(monkeypatch):
    """What a notebook would be sent, instead of sending it."""
    import IPython.display

    sent = []

    def display(bundle, raw, metadata, display_id, update):
        assert raw
        sent.append({"bundle": bundle, "metadata": metadata, "id": display_id, "update": update})

    monkeypatch.setattr(IPython.display, "display", display)
    return sent


def _size(png):
    return Image.open(io.BytesIO(png)).size


def test_nothing_is_shown_before_it_is_asked_for_and_once_at_the_end(run_of):
    run, screen = FakeRun(), Noted()
    live = Live(run, screen=screen)
    assert screen.shown == []
    live.update()
    run.end(run_of())
    live.close()
    live.close()
    live.update(force=True)
    assert [count for count, _ in screen.shown] == [0, len(run_of())]
    assert screen.closed == 1


def test_update_is_cheap_between_two_pictures(run_of):
    run, screen = FakeRun(run_of()), Noted()
    screen.interval = 3600.0
    live = Live(run, screen=screen)
    for _ in range(1000):
        live.update()
    assert len(screen.shown) == 1


def test_the_same_picture_is_not_sent_twice(run_of):
    run, screen = FakeRun(run_of()), Noted()
    run.state = "done"
    live = Live(run, screen=screen)
    for _ in range(5):
        live._next = 0.0
        live.update()
    assert len(screen.shown) == 1


def test_started_in_a_loop_it_follows_the_run_to_its_end(run_of, monkeypatch):
    monkeypatch.setattr("dtnn.plots.pace.Pace.wait", lambda pace, cost, least: 0.02)
    run, screen, records = FakeRun(), Noted(), run_of()

    async def notebook():
        live = Live(run, screen=screen).start()
        assert live.start().task is live.task, "a second start changes nothing"
        for end in range(20, len(records), 60):
            run.records, run.state, run.waiting_for = records[:end], "running", ""
            while screen.shown[-1][0] < end:
                await asyncio.sleep(0.01)
        run.end(records[len(run.records) :])
        await live.task

    asyncio.run(asyncio.wait_for(notebook(), 20))
    counts = [count for count, _ in screen.shown]
    assert counts == sorted(counts)
    assert set(counts) == {0, *range(20, len(records), 60), len(records)}
    assert len({png for _, png in screen.shown}) >= len(set(counts))
    assert screen.closed == 1


def test_a_run_that_knows_its_views_is_told_of_it_once(run_of):
    run = FakeRun(run_of())
    run.views = []

    async def notebook():
        live = Live(run, screen=Noted())
        live.start()
        live.start()
        assert run.views == [live]
        run.end()
        await live.task

    asyncio.run(notebook())


def test_a_plain_list_of_records_will_do(run_of):
    screen = Noted()

    async def notebook():
        await Live(run_of(), screen=screen).start().task

    asyncio.run(notebook())
    assert screen.closed == 1


def test_one_display_and_only_updates_of_it(run_of, outputs):
    """Case 85: nothing is cleared, nothing is added."""
    run = FakeRun()
    live = Live(run, screen=Display())
    for end in (0, 50, 120):
        run.records = run_of()[:end]
        live._next = 0.0
        live.update()
    run.end(run_of()[120:])
    live.close()
    assert [sent["update"] for sent in outputs] == [False, *[True] * (len(outputs) - 1)]
    assert len({sent["id"] for sent in outputs}) == 1
    assert len({(sent["metadata"]["image/png"]["width"], sent["metadata"]["image/png"]["height"]) for sent in outputs}) == 1
    assert outputs[0]["bundle"]["text/plain"].startswith("waiting · for 2 engines")
    assert outputs[-1]["bundle"]["text/plain"].startswith("done · 5 epochs")


def test_with_widgets_the_picture_changes_inside_and_the_last_one_stays_outside(run_of, outputs):
    """Case 88: pages without widgets show the static picture of the same output."""
    run = FakeRun()
    live = Live(run, screen=Widgets())
    live.update()
    before = live.screen.image.value
    run.records, run.state = run_of()[:100], "running"
    live._next = 0.0
    live.update()
    assert len(outputs) == 1, "a new picture is no new output"
    assert live.screen.image.value != before
    assert _size(live.screen.image.value) == _size(before)
    assert "dtnn-live" in live.screen.image._dom_classes
    run.end(run_of()[100:])
    live.close()
    assert [sent["update"] for sent in outputs] == [False, True]
    begun, ended = (sent["bundle"] for sent in outputs)
    assert set(begun) == {"text/plain", "image/png", "application/vnd.jupyter.widget-view+json"}
    assert set(ended) == {"text/plain", "image/png", "text/html"}, "a page that is saved may not be able to draw widgets"
    assert all("VBox" not in bundle["text/plain"] for bundle in (begun, ended))
    assert f'src="data:image/png;base64,{ended["image/png"]}"' in ended["text/html"]
    assert "step 315" in ended["text/html"], "what stood below the picture stays, too"
    assert _size(base64.b64decode(outputs[-1]["bundle"]["image/png"]))[0] == 1.5 * live.width
    live.screen.box.close()


def test_a_page_that_refuses_widgets_gets_plain_pictures(run_of, outputs):
    run = FakeRun(run_of()[:50])
    live = Live(run, screen=Widgets())
    live.update()
    live.screen._closed_by_page.append("comm_close")
    run.records = run_of()[:90]
    live._next = 0.0
    live.update()
    assert outputs[-1]["update"]
    assert "application/vnd.jupyter.widget-view+json" not in outputs[-1]["bundle"]
    live.screen.box.close()


def test_what_went_wrong_is_told_in_words(run_of, outputs):
    run = FakeRun(run_of(finish="")[:100])
    error = ValueError("layer 3 does not <fit>")
    error.rank = 1
    live = Live(run, screen=Widgets())
    live.update()
    run.error, run.story = error, "Rank 1 failed:\nTraceback ...\nValueError: layer 3 does not <fit>"
    run.end(state="failed")
    live.close()
    assert outputs[-1]["bundle"]["text/plain"].startswith("failed · at step")
    assert "rank 1: ValueError: layer 3 does not <fit>" in outputs[-1]["bundle"]["text/plain"]
    assert "Traceback" in live.screen.line.value
    assert "Traceback" in outputs[-1]["bundle"]["text/html"]
    assert "&lt;fit&gt;" in live.screen.line.value
    live.screen.box.close()


def test_in_a_terminal_it_is_a_bar(run_of, capsys):
    run, records = FakeRun(), run_of()
    live = Live(run, screen=Terminal())
    for end in (0, 100, 200):
        run.records, run.state = records[:end], "running" if end else "waiting"
        live._next = 0.0
        live.update()
    run.end(records[200:])
    live.close()
    written = capsys.readouterr().err
    assert "waiting" in written
    assert "training" in written
    assert written.split("\r")[-1].startswith("done |")
    assert "100%" in written.split("\r")[-1]
    assert written.count("\n") == 1, "one bar, one line"


def test_the_terminal_is_chosen_where_there_is_no_kernel():
    assert isinstance(screen_for(), Terminal)


@pytest.mark.processes
def test_the_bar_needs_no_ipywidgets(tmp_path):
    """Case 89: with ipywidgets and IPython out of reach the bar is plain text."""
    code = (
        "import sys; sys.modules.update(ipywidgets=None, IPython=None)\n"
        "from dtnn.plots.live import Live\nfrom dtnn.records import *\n"
        "run = [Start(0.0, 1, {'epochs': 1}), Step(1, 1, 2.0, 10, 0.1, 0.1, 1.0), Finish('done', 2.0)]\n"
        "live = Live(run); live.update(); live.close()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ, "COLUMNS": "100"}
    )
    assert ran.returncode == 0, ran.stderr
    assert "done" in ran.stderr
    assert ran.stdout == ""


def test_a_terminal_of_80_columns_has_room_for_the_accuracy():
    parts = ["10 epochs in 45.7 s", "loss 0.00230", "validation accuracy 97.1 %", "1,633 samples/s", "2 ranks"]
    narrow, wide = _form("training", parts, 80), _form("training", parts, 200)
    assert narrow.endswith("loss 0.00230 · val. accuracy 97.1 %")
    assert len(narrow.replace("{percentage:3.0f}", "100").replace("{bar:5}", "=====")) <= 80
    assert wide == "training |{bar:20}| {percentage:3.0f}%  " + " · ".join(parts)
    assert _form("waiting", ["preparing a {step}"], 20).endswith("%  preparing a (step)")
