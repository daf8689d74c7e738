"""The picture of a step on all ranks, checked on the Axes' data; the object around it."""

import io
import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from dtnn.plots import Timeline, gantt
from dtnn.plots.axes import WIDTH
from dtnn.plots.palette import INK, PHASES, STATES
from dtnn.records import Trace
from dtnn.tracing import traced_steps
from tests.plots.test_picture import _outside
from tests.tracing.made import MS, run_of


def drawn(**made):
    return gantt(traced_steps(run_of(steps=(10,), **made))[0], Figure(figsize=(10, 4)).add_subplot())


def bars(ax, phase):
    """(begin, width, rank's place) of the bars of a phase, in milliseconds."""
    [drawn] = [found for found in ax.collections if found.get_label() == phase]
    assert to_hex(drawn.get_facecolor()[0]) == PHASES[phase].lower()
    places = [path.get_extents() for path in drawn.get_paths()]
    return sorted((round(place.x0, 6), round(place.width, 6), round(place.y0 + 0.3)) for place in places)


def arrows_of(ax):
    """Those of the messages, or None."""
    return next((found for found in ax.collections if found.get_label() == "messages"), None)


def whiskers_of(ax):
    return [found for found in ax.collections if found.get_label() == "uncertainty of clocks"]


def path_of(ax):
    return next(line for line in ax.lines if line.get_label() == "critical path")


def test_phases_are_bars_of_their_seconds():
    ax = drawn(ranks=2, late={1: MS})
    assert [(begin, width) for begin, width, place in bars(ax, "forward") if place == 0] == [(0.06, 0.44)]
    assert [(width, place) for _, width, place in bars(ax, "backward")] == [(0.8, 0), (1.8, 1)]
    assert [(begin, width, place) for begin, width, place in bars(ax, "wait")] == [(1.3, 1.0, 0)]


def test_a_wait_says_for_whom_and_the_title_who_came_last():
    ax = drawn(ranks=2, late={1: MS})
    assert "waits 1 ms for rank 1" in [text.get_text() for text in ax.texts]
    assert ax.get_title(loc="left") == "Step 10: 2.53 ms  ·  rank 1 came last; rank 0 waited 1 ms for it"


def test_the_critical_path_lies_on_the_bars_of_the_rank_that_came_last():
    ax = drawn(ranks=3, late={2: MS})
    x, y = path_of(ax).get_data()
    assert list(np.diff(x) >= -1e-9) == [True] * (len(x) - 1)
    assert (x[0], round(x[-1], 6)) == (0.0, 2.53)
    assert {round(value) for value in y} == {2}
    assert to_hex(path_of(ax).get_color()) == INK.lower()


def test_layers_are_named_where_there_is_room():
    ax = drawn(ranks=1)
    names = [text.get_text() for text in ax.texts]
    assert names.count("conv2d_2") == 2
    assert "maxpool2d_2" not in names


def test_messages_have_arrows_from_sender_to_receiver():
    ax = drawn(ranks=3, messages=True)
    arrows = arrows_of(ax)
    assert arrows.N == 3 * 4
    assert all(round(begin) != round(begin + along) for begin, along in zip(arrows.Y, arrows.V))
    assert all(along > 0 for along in arrows.U), "it is received after it was sent"


def test_so_many_messages_that_nobody_could_follow_have_no_arrows():
    ax = drawn(ranks=8, messages=True)
    assert arrows_of(ax) is None


def test_the_uncertainty_of_clocks_is_drawn_and_written():
    """Case 93."""
    ax = drawn(ranks=2, offsets={1: -11.56}, uncertainties={1: 3e-5})
    assert ax.get_yticklabels()[1].get_text() == "rank 1\n± 30 µs"
    [whiskers] = whiskers_of(ax)
    [[(left, _), (right, _)]] = whiskers.get_segments()
    assert (left, right) == pytest.approx((-0.03, 0.03))
    assert "uncertainty of clocks" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert ax.get_xlim()[1] == pytest.approx(1.53, abs=0.01), "11.56 s are gone"


def test_ranks_of_one_host_have_no_uncertainty_to_draw():
    ax = drawn(ranks=2)
    assert whiskers_of(ax) == []
    assert "uncertainty of clocks" not in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_rank_whose_clock_is_not_known_stands_apart_and_says_so():
    """Case 93."""
    ax = drawn(ranks=3, late={0: MS}, uncertainties={0: None})
    labels = ax.get_yticklabels()
    assert [label.get_text() for label in labels] == ["rank 1", "rank 2", "rank 0\nnot aligned"]
    assert to_hex(labels[2].get_color()) == STATES["failed"].lower()
    assert any("clock not known" in text.get_text() for text in ax.texts)
    assert {round(value) for value in path_of(ax).get_ydata()} <= {0, 1}


def test_of_many_ranks_those_are_drawn_that_matter():
    ax = drawn(ranks=40, late={37: MS, 11: 0.5 * MS})
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(labels) == 12
    assert "rank 37" in labels
    assert "12 of 40 ranks" in ax.get_title(loc="left")


@pytest.mark.parametrize("made", [{"ranks": 1}, {"ranks": 2, "late": {1: MS}}, {"ranks": 16, "uncertainties": {3: 0.5, 4: None}}])
def test_no_text_is_cut_off(made):
    figure = Timeline(run_of(**made)).figure()
    figure.canvas.draw()
    assert _outside(figure) == []


@pytest.mark.parametrize("width", [1000, 500, 2000])
def test_a_picture_is_as_wide_as_it_is_asked_to_be(width):
    png = Timeline(run_of(ranks=2)).picture(width=width)
    assert Image.open(io.BytesIO(png)).size[0] == width


def test_the_typical_step_is_shown():
    records = run_of(ranks=2, steps=(10, 20, 40)) + run_of(ranks=2, steps=(50,), late={0: 1.0}).of(Trace)
    assert Timeline(records).typical.seconds == pytest.approx(1.53 * MS)
    only = run_of(ranks=2, steps=(10,)) + run_of(ranks=1, steps=(20,), late={0: 1.0}).of(Trace)
    assert Timeline(only).typical.step == 10, "a step that one rank only told of is not whole"


def test_a_step_is_found_by_its_number_or_the_nearest():
    timeline = Timeline(run_of(ranks=2, steps=(10, 20)))
    assert timeline.step(20).step == 20
    assert timeline.step(1000).step == 20
    assert "Step 10:" in timeline.figure(step=11).axes[0].get_title(loc="left")


def test_columns_are_of_one_length_and_have_all_spans():
    records = run_of(ranks=2, late={1: MS})
    columns = Timeline(records).columns()
    assert {len(column) for column in columns.values()} == {sum(len(trace.spans) for trace in records.of(Trace))}
    assert columns["step"][0] == 10
    assert set(columns["rank"]) == {0, 1}


def test_files_by_their_names(tmp_path):
    timeline = Timeline(run_of(ranks=2))
    timeline.save(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    timeline.save(tmp_path / "step.png")
    with Image.open(tmp_path / "step.png") as image:
        assert image.size[0] == WIDTH
    timeline.save(tmp_path / "step.svg")
    assert "<svg" in (tmp_path / "step.svg").read_text()


def test_nothing_traced_is_said():
    timeline = Timeline([])
    assert repr(timeline) == "Timeline(no step was traced)"
    assert len(timeline) == 0
    assert timeline._repr_png_()[1:4] == b"PNG"
    assert any("no step was traced" in text.get_text() for text in timeline.figure().axes[0].texts)
    with pytest.raises(ValueError, match=r"no step .* traced; fit\(trace=True\)"):
        timeline.step(3)


def test_a_dark_style_of_the_users_changes_nothing():
    with plt.style.context("dark_background"):
        dark = Timeline(run_of(ranks=2)).picture()
    assert dark == Timeline(run_of(ranks=2)).picture()
