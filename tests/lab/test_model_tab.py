"""The tab that looks into the model, without a browser."""

import asyncio
import threading

import pytest

import dtnn
from dtnn.lab.model_tab import EARLIER, VIEWS, ModelTab

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


def test_while_a_run_goes_on_it_says_whose_weights_these_are(digits):
    tab = tab_of(dtnn.zoo.mlp(hidden=(8,)), digits)
    tab.run = type("Going", (), {"done": False})()
    tab.look()
    assert EARLIER in tab.answer.page.value


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
