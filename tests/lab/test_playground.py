"""The playground without a browser."""

import asyncio
import io
import itertools
import threading
import time

import numpy as np
import pytest
from PIL import Image

from dtnn.lab import Playground
from dtnn.lab import playground as module
from dtnn.plots.descent import Descent
from dtnn.plots.plane import Arrows


@pytest.fixture
def playground():
    made = Playground("circle", ranks=3)
    yield made
    made.close()


@pytest.fixture
def in_a_notebook(monkeypatch):
    """The function that runs a coroutine as a notebook's kernel would, pictures following each other at once."""
    monkeypatch.setattr(module, "FRAME", 0.01)
    return lambda coroutine: asyncio.run(asyncio.wait_for(coroutine, 40))


def labelled(playground, text):
    """The texts of the picture that hold this one."""
    figures = playground.sheet.figure, playground.loss_sheet.figure
    found = [label.get_text() for figure in figures for ax in figure.axes for label in ax.texts]
    return [label for label in found if text in label]


def test_a_step_changes_the_picture(playground):
    before = playground.png()
    playground.forward()
    assert playground.play.step == 1
    assert playground.png() != before
    assert playground.sheet.image.value == playground.sheet.png
    assert Image.open(io.BytesIO(playground.png())).size == (940, 370), "points and loss are one picture where no widgets are"
    assert playground.words().startswith("step 1 · loss ")


def test_before_the_first_step_it_says_what_to_do(playground):
    assert labelled(playground, "▶ run trains on")
    assert labelled(playground, "each rank's gradient is shown")
    owners = playground.columns("points")["rank"]
    assert np.bincount(owners).tolist() == [69, 69, 62], "each point has the colour of the rank that will train on it"
    assert f"loss {playground.play.loss_at(playground.play.first[None])[0]:.3f}" in playground.words()
    playground.forward()
    assert not labelled(playground, "▶ run trains on")
    assert not labelled(playground, "each rank's gradient is shown")


def test_it_runs_until_a_second_click_and_the_loop_stays_free(playground, in_a_notebook):
    async def notebook():
        playground.run_button.click()
        while playground.play.step < 10:
            await asyncio.sleep(0.01)
        playground.forward()  # a click on "step" meanwhile does nothing
        playground.run_button.click()
        while playground._stepping.locked():
            await asyncio.sleep(0.01)
        stopped_at = playground.play.step
        await asyncio.sleep(0.2)
        assert playground.play.step == stopped_at
        assert playground.run_button.description == "▶ run"

    in_a_notebook(notebook())
    assert playground.message.text == ""


def test_what_runs_goes_on_with_another_choice_whenever_it_is_made(playground, in_a_notebook):
    controls = playground.controls
    ends = itertools.cycle([(controls.ranks, (1, 8, 4)), (controls.hidden, ("two weights", "4")), (controls.lr, (0.1, 1.0))])

    async def notebook():
        playground.run_button.click()
        for number, (control, values) in zip(range(18), ends):
            control.value = values[number // 3 % len(values)]
            await asyncio.sleep(0.005 * (number % 5))
        while playground.play.step < 3:
            await asyncio.sleep(0.01)
        assert playground.run_button.description == "■ stop"
        playground.run_button.click()
        while playground._stepping.locked():
            await asyncio.sleep(0.01)

    in_a_notebook(notebook())
    assert playground.message.text == ""
    end = time.monotonic() + 5
    while len(ours()) > playground.play.ranks and time.monotonic() < end:
        time.sleep(0.01)
    assert len(ours()) == playground.play.ranks, "the former ranks have ended"


def ours():
    return [thread for thread in threading.enumerate() if thread.name.endswith("of a playground")]


def test_every_choice_begins_anew(playground):
    playground.forward()
    playground.controls.ranks.value = 5
    assert playground.play.step == 0
    assert playground.play.ranks == 5
    playground.controls.set.value = "spiral"
    assert playground.play.data.name == "spiral"
    playground.controls.every.value = 8
    playground.forward()
    colours = {tuple(colour) for colour in playground.view.plane.borders.get_colors()}
    assert len(colours) == 6, "the mean's border and each rank's"
    assert "LocalSGD(every=8" in playground.words()


def test_what_can_not_be_chosen_together_is_said_and_clicks_do_no_harm(playground):
    controls = playground.controls
    controls.every.value = 4
    controls.compression.value = "int8"
    assert playground.message.text == "local steps and compression are different strategies; choose one of them"
    began = time.monotonic()
    playground.forward()
    playground.run()
    assert time.monotonic() - began < 5, "nobody waits for ranks that have ended"
    assert playground.message.text.startswith("local steps and compression")
    assert playground.run_button.description == "▶ run"
    controls.every.value = 1
    assert playground.message.text == ""
    playground.forward()
    assert "Compressed(kind='int8'" in playground.words()
    controls.compression.value = "none"
    controls.ranks.value = 1
    controls.stale.value = 2
    assert playground.message.text.startswith("staleness is that of workers behind a server")
    controls.ranks.value = 2
    assert playground.message.text == ""


def test_a_server_has_no_points_and_no_arrow(playground):
    playground.controls.stale.value = 2
    assert 0 not in playground.columns("points")["rank"]
    playground.play.forward(4)
    playground.forward()
    assert playground.message.text == ""
    arrows = playground.view.gradients.each
    assert (arrows.U[0], arrows.V[0]) == (0, 0)
    assert np.hypot(arrows.U[1:], arrows.V[1:]).min() > 0
    assert "rank 0 is the server" in playground.words()


def test_two_weights_have_a_plane_of_their_own(playground):
    assert isinstance(playground.view.gradients, Arrows)
    playground.controls.hidden.value = "two weights"
    drawn = playground.view.gradients
    assert isinstance(drawn, Descent)
    assert (drawn.ax.get_xlabel(), drawn.ax.get_ylabel()) == ("a, weight of x² + y²", "b, weight of 1")
    assert drawn.now.get_xydata() == pytest.approx(playground.play.first[None]), "they are there before the first step"
    assert labelled(playground, "black dot: the first weights")
    playground.play.forward(19)
    playground.forward()
    assert len(drawn.way.get_xdata()) == 22, "the first weights, those after each step, the present ones"
    play = playground.play
    own = play.gradients / play.shares[:, None]
    assert np.stack([drawn.each.U, drawn.each.V], axis=1) == pytest.approx(-drawn.scale * own, rel=1e-5)
    assert np.hstack([drawn.mean.U, drawn.mean.V]) == pytest.approx(-drawn.scale * play.gradients.sum(0), rel=1e-5)
    a, b = play.mean_weights()
    assert f"class 1 is where {a:.2f} (x² + y²)".replace("-", "−") in playground.words()
    told = playground.columns("steps")
    assert told["rank 2: b, weight of 1"][-1] == pytest.approx(b)
    assert {len(column) for column in told.values()} == {20}


def test_columns(playground):
    playground.play.forward(3)
    points, gradients = playground.columns("points"), playground.columns("gradients")
    assert {len(column) for column in points.values()} == {200}
    assert sum(points["in batch"]) == 32
    assert all(0 <= p <= 1 for p in points["probability"])
    assert {len(column) for column in gradients.values()} == {3 * 114}
    assert gradients["gradient"][114:116] == playground.play.gradients[1, :2].tolist()
    with pytest.raises(ValueError, match="of='step' is not known; did you mean 'steps'"):
        playground.columns("step")
    playground.close()
    with pytest.raises(ValueError, match="nothing is played: it is closed"):
        playground.columns()


def test_a_long_training_is_drawn_as_fast_as_a_short_one(playground):
    losses = playground.play.losses
    for number in range(200_000):
        losses.append(1 / (1 + number))
    began = time.process_time()
    playground.forward()
    assert time.process_time() - began < 1
    assert len(playground.view.each.get_xdata()) <= 1000


def test_what_the_ranks_do_before_the_first_step_is_said(playground, in_a_notebook, monkeypatch):
    seen = []
    playground.words_line.observe(lambda change: seen.append(change.new), "value")
    forward = playground.play.forward

    def slowly(steps):
        playground.play.doing = "preparing a step: compiling kernel 1 (a < b), the first time on this machine"
        time.sleep(0.2)
        forward(steps)

    monkeypatch.setattr(playground.play, "forward", slowly)

    async def notebook():
        playground._step_clicked()
        while playground.play.step < 1:
            await asyncio.sleep(0.01)
        while playground._stepping.locked():
            await asyncio.sleep(0.01)

    in_a_notebook(notebook())
    assert any("compiling kernel 1 (a &lt; b), the first time on this machine …" in line for line in seen)
    assert "step 1 · loss" in playground.words_line.value


def test_the_last_picture_is_kept_a_while_after_the_last_click(playground, in_a_notebook, monkeypatch):
    monkeypatch.setattr("dtnn.lab.keeping.KEPT", 0.5)
    sent = []
    playground._display = "somewhere"
    monkeypatch.setattr(playground, "_keep", lambda update: sent.append((update, playground.play.step)))

    async def notebook():
        for _ in range(3):
            playground._step_clicked()
        while not sent:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.6)

    in_a_notebook(notebook())
    assert sent == [(True, 3)]


def test_all_points_are_in_the_picture_however_far_noise_takes_them(playground):
    for noise in (0.0, 1.0):
        playground.controls.noise.value = noise
        ax = playground.view.plane.ax
        assert ax.get_xlim()[1] > np.abs(playground.play.data.x_train).max()
        assert playground.view.plane.ground.get_extent() == [*ax.get_xlim(), *ax.get_ylim()]
    line = np.concatenate([path.vertices for path in playground.view.plane.borders.get_paths()])
    assert playground.play.outputs(line) == pytest.approx(0.5, abs=0.02), "the border is where it is said"


def test_large_letters_are_sharp():
    big = Playground("gauss", ranks=2, big=True)
    big.forward()
    assert Image.open(io.BytesIO(big.sheet.png)).size == (945, 555)
    assert big.message.text == ""
    big.close()


def test_without_widgets_there_is_a_picture_and_words(playground):
    bundle = playground._repr_mimebundle_()
    assert {"image/png", "text/plain"} <= set(bundle)
    assert bundle["text/plain"].startswith("step 0 · no step yet")
    assert np.frombuffer(playground.png()[:4], np.uint8).tolist() == [137, 80, 78, 71]
