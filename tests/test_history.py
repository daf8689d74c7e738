"""What a history is asked for, and doesn't have."""

import copy
import pickle

import pytest

from dtnn.history import History
from dtnn.records import Epoch

RECORDS = [Epoch(epoch=1, step=5, samples=40, seconds=2.0, lr=0.1, metrics={"loss": 0.5, "accuracy": 0.75}, time=0.0)]


def test_a_metric_that_there_is_not():
    with pytest.raises(KeyError, match="there is no 'acc'; there are loss, accuracy, lr, seconds, samples"):
        History(RECORDS).history["acc"]
    assert History(RECORDS).history.get("acc") is None


def test_other_attributes():
    with pytest.raises(AttributeError, match=r"a History has no 'loss': history.history\['loss'\] has one value an epoch"):
        History(RECORDS).loss  # noqa: B018
    with pytest.raises(AttributeError, match=r"a History has no 'plot': dtnn.plots.curves\(history\) draws it"):
        History(RECORDS).plot()
    assert not hasattr(History(RECORDS), "nothing")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_it_can_be_copied(copied):
    again = copied(History(RECORDS))
    assert again.history == History(RECORDS).history == {
        "loss": [0.5], "accuracy": [0.75], "lr": [0.1], "seconds": [2.0], "samples": [40]
    }  # fmt: skip
    assert again.epoch == [1]
