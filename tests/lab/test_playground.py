"""The playground without a browser."""

import asyncio

import numpy as np
import pytest

from dtnn.lab import Playground
from dtnn.lab import playground as module


@pytest.fixture
def playground():
    made = Playground("circle", ranks=3)
    yield made
    made.close()


def test_a_step_changes_the_picture(playground):
    before = playground.png()
    playground.forward()
    assert playground.play.step == 1
    assert playground.png() != before
    assert playground.sheet.image.value == playground.png()
    assert playground.words().startswith("step 1 · loss ")


def test_it_runs_until_a_second_click_and_the_loop_stays_free(playground, monkeypatch):
    monkeypatch.setattr(module, "FRAME", 0.01)

    async def notebook():
        playground.run_button.click()
        while playground.play.step < 10:
            await asyncio.sleep(0.01)
        playground.forward()  # a click on "step" meanwhile does nothing
        playground.run_button.click()
        while playground._busy:
            await asyncio.sleep(0.01)
        stopped_at = playground.play.step
        await asyncio.sleep(0.2)
        assert playground.play.step == stopped_at
        assert playground.run_button.description == "▶ run"

    asyncio.run(asyncio.wait_for(notebook(), 40))
    assert playground.message.text == ""


def test_every_choice_begins_anew(playground):
    playground.forward()
    playground.ranks.value = 5
    assert playground.play.step == 0
    assert playground.play.ranks == 5
    playground.set.value = "spiral"
    assert playground.play.data.name == "spiral"
    playground.every.value = 8
    playground.forward()
    assert len(playground.view.plane.lines) == 6, "the mean's border and each rank's"
    assert "LocalSGD(every=8" in playground.words()


def test_what_can_not_be_chosen_together_is_said(playground):
    playground.every.value = 4
    playground.compression.value = "int8"
    assert playground.message.text == "local steps and compression are different strategies; choose one of them"
    playground.every.value = 1
    assert playground.message.text == ""
    playground.forward()
    assert "Compressed(kind='int8'" in playground.words()
    playground.compression.value = "none"
    playground.ranks.value = 1
    playground.stale.value = 2
    playground.forward()
    assert "ParameterServer on 1 rank" in playground.message.text


def test_without_widgets_there_is_a_picture_and_words(playground):
    bundle = playground._repr_mimebundle_()
    assert {"image/png", "text/plain"} <= set(bundle)
    assert bundle["text/plain"].startswith("step 0 · no step yet")
    assert np.frombuffer(playground.png()[:4], np.uint8).tolist() == [137, 80, 78, 71]
