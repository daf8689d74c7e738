"""What a callback raises says which callback it was, wherever the error is read."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

import dtnn
from dtnn.commands import Stop
from dtnn.plots.live import Live
from dtnn.records import Epoch, Finish
from dtnn.sentence import noted
from dtnn.training import with_callbacks
from dtnn.training.callbacks import called


def records():
    yield Epoch(1, 1, 1, 1.0, 0.1, {"accuracy": 0.5}, 0.0)


def tell(record):
    return record.metrics["acuracy"]


def tell_of_the_model(record, model):
    return record.metrics["acuracy"]


class Watcher:
    def look(self, record):
        return record.metrics["acuracy"]

    def __call__(self, record):
        return self.look(record)

    def __repr__(self):
        return "Watcher()"


RAISES = {
    "tell": tell,
    "tell_of_the_model": tell_of_the_model,
    "Watcher.look": Watcher().look,
    "Watcher()": Watcher(),
    "functools.partial(": functools.partial(tell),
}


@pytest.mark.parametrize("name", RAISES)
def test_it_is_named(name):
    with pytest.raises(KeyError) as caught:
        list(with_callbacks(records(), [print, RAISES[name]], None))
    assert noted(caught.value).startswith(f" (raised by the callback {name}")
    assert noted(caught.value).endswith(", which was given an Epoch)")


def test_a_lambda_is_named_by_its_line():
    callback = lambda record: record.metrics["acuracy"]  # noqa: E731
    assert called(callback) == f"lambda of line {callback.__code__.co_firstlineno}"


def test_what_returns_nonsense_is_named():
    def nonsense(record):
        return 3

    with pytest.raises(TypeError, match=r"callback nonsense returned 3; return dtnn\.Stop"):
        list(with_callbacks(records(), [nonsense], None))


def test_one_that_stops_is_not_blamed():
    assert len(list(with_callbacks(records(), [lambda record: Stop("enough")], None))) == 1


def test_the_live_view_and_the_last_record_of_a_training_here_name_it():
    model = dtnn.Model(dtnn.nn.Linear(2), input_shape=(3,))
    with pytest.raises(AttributeError):
        model.fit(np.ones((4, 3), np.float32), [0, 1] * 2, callbacks=[lambda record: record.nothing], show=False)
    finish = model.history.records.last(Finish)
    assert "raised by the callback lambda of line" in finish.text
    shown = Live(SimpleNamespace(records=model.history.records, state="failed", error=None, done=True))
    shown.story.read(shown.records)
    assert shown.error == finish.text
