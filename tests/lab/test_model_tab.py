"""The tab that looks into the model, without a browser."""

import asyncio
import threading
import time

import numpy as np
import pytest

import dtnn
from dtnn.cluster.weights import Snapshot
from dtnn.lab.model_tab import VIEWS, ModelTab
from dtnn.lab.present import EARLIER, Present
from dtnn.plots.pace import SHARE

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ipywidgets' own


@pytest.fixture(scope="module")
def digits():
    return dtnn.data.mnist5k()


def tab_of(model, data):
    return ModelTab(lambda: model, lambda: data)


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_is_drawn(view, digits):
    tab = tab_of(dtnn.zoo.lenet5(), digits)
    tab.view.value = view
    tab.look()
    assert tab.answer.message.text == ""
    assert tab.answer.picture.value[1:4] == b"PNG"
    assert tab.answer.picture.layout.display == ""
    assert "not trained yet" in tab.answer.page.value


def test_layer_and_sample_are_chosen_where_that_says_something(digits):
    tab = tab_of(dtnn.zoo.lenet5(), digits)
    assert (tab.layer.layout.display, tab.number.layout.display) == ("none", "none")
    tab.view.value = "filters"
    assert (tab.layer.layout.display, tab.number.layout.display) == ("", "none")
    assert list(tab.layer.options) == ["conv2d_1", "conv2d_2"]
    tab.layer.value = "conv2d_2"
    tab.view.value = "feature maps"
    assert "maxpool2d_1" in tab.layer.options
    assert tab.layer.value == "conv2d_2", "the choice stays where it can"
    before = bytes(tab.answer.picture.value)
    tab.number.value = 7
    assert bytes(tab.answer.picture.value) != before
    tab.number.value = 1000
    assert tab.answer.message.text == "there is no sample 1000; the data have 1,000 to test on, 0 to 999"


@pytest.mark.parametrize(
    ("view", "words"), [("filters", "no convolution"), ("feature maps", "no layer of this model gives maps")]
)
def test_what_a_model_does_not_have_is_said(view, words, digits):
    tab = tab_of(dtnn.zoo.mlp(hidden=(8,)), digits)
    tab.view.value = view
    assert words in tab.answer.message.text
    assert tab.answer.picture.layout.display == "none"
    tab.view.value = "weights"
    assert tab.answer.message.text == ""


def test_a_model_that_can_not_be_made_is_said(digits):
    def broken():
        raise ValueError("layer 4 does not fit")

    tab = ModelTab(broken, lambda: digits)
    tab.look()
    assert tab.answer.message.text == "layer 4 does not fit"


class Going:
    """A run that goes on, or doesn't, and says which weights it has."""

    def __init__(self, weights=None, done=False):
        self.done, self.records, self.rows, self.asked = done, [1], [], 0
        self.given = weights

    def weights(self, timeout):
        self.asked += 1
        if self.given is None:
            raise TimeoutError("no step ended")
        return self.given


def snapshot(model, step):
    """The weights of a model, all of them a little larger."""
    return Snapshot({name: array + np.float32(0.5) for name, array in model.state_dict().items()}, step, 0)


def test_while_a_run_goes_on_its_weights_of_now_are_shown(digits):
    model = dtnn.zoo.mlp(hidden=(8,))
    tab, before = tab_of(model, digits), model.parameters.value.copy()
    tab.view.value = "weights"
    first = bytes(tab.answer.picture.value)
    tab.follow(Going(snapshot(model, 1234)))
    tab.look()
    assert "after 1,234 steps of the run that goes on" in tab.answer.page.value
    assert bytes(tab.answer.picture.value) != first
    np.testing.assert_array_equal(model.parameters.value, before, "the model itself gets them when the run has ended")


def test_before_its_first_step_the_weights_are_those_from_before(digits):
    tab = tab_of(dtnn.zoo.mlp(hidden=(8,)), digits)
    tab.follow(Going())
    tab.look()
    assert EARLIER in tab.answer.page.value


def test_layers_that_were_changed_meanwhile_are_not_the_runs(digits):
    models = [dtnn.zoo.mlp(hidden=(8,)), dtnn.zoo.mlp(hidden=(9,))]
    tab = ModelTab(lambda: models[0], lambda: digits)
    run = Going(snapshot(models[0], 7))
    tab.follow(run)
    models.reverse()
    tab.look()
    assert "The run goes on with other layers than these; not trained yet" in tab.answer.page.value
    assert run.asked == 0


def test_it_looks_again_by_itself_where_something_is_new_and_not_too_often(digits, monkeypatch):
    model = dtnn.zoo.mlp(hidden=(8,))
    tab, run, now = tab_of(model, digits), Going(snapshot(model, 7)), [1000.0]
    monkeypatch.setattr("dtnn.lab.present.time.monotonic", lambda: now[0])
    tab.view.value = "weights"
    tab.follow(run)
    tab.tick()
    assert run.asked == 1
    for passed, told, asked in [(1.0, 2, 1), (3600.0, 0, 2), (3600.0, 0, 2), (0.0, 1, 3), (0.5, 1, 3)]:
        now[0] += passed
        run.records += [1] * told
        tab.tick()
        assert run.asked == asked
    tab.follows.value = False
    now[0] += 3600
    tab.tick()
    assert run.asked == 3
    tab.follows.value, run.done = True, True
    tab.tick()
    assert "not trained yet" in tab.answer.page.value, "what the run has left"
    assert not tab.present.due


@pytest.mark.parametrize(("cost", "least"), [(0.001, 3.0), (0.5, 0.5 / SHARE)])
def test_what_it_costs_the_training_is_at_most_two_per_cent(cost, least, monkeypatch):
    """Where no core idles; a picture costs half as much again by what it leaves in the caches, which the share allows for."""
    model, present = dtnn.zoo.mlp(hidden=(8,)), Present()
    present.follow(Going(), model)
    monkeypatch.setattr("dtnn.plots.pace.idle_seconds", lambda: 0.0)
    for _ in range(4):
        began = present.begin()
        present.ended(began - cost)
    wait = present._due - time.monotonic()
    assert least - 0.1 < wait < 1.2 * least + 0.1


def test_the_loop_stays_free_and_of_many_clicks_the_last_counts(digits):
    """What is drawn meanwhile is drawn in another thread, one at a time."""
    tab, let_go, drawn = tab_of(dtnn.zoo.mlp(hidden=(8,)), digits), threading.Event(), []

    async def notebook():
        tab.answer.ask(lambda answer: let_go.wait(20))
        await asyncio.sleep(0)  # it begins
        for number in range(5):
            tab.answer.ask(lambda answer, number=number: drawn.append(number))
        await asyncio.sleep(0.05)
        assert drawn == []
        let_go.set()
        while tab.answer._asking:
            await asyncio.sleep(0.01)

    asyncio.run(notebook())
    assert drawn == [4]
