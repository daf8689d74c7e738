"""The losses that a notebook's cell defines stand beside dtnn's."""

import numpy as np
import pytest

import dtnn
from dtnn.lab.loss_chooser import LOSSES, LossChooser
from dtnn.lab.settings_panel import SettingsPanel

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ipywidgets' own


def twice(outputs, targets, weight):
    """Twice the cross-entropy."""
    loss, gradient = dtnn.nn.losses.cross_entropy(outputs, targets, weight)
    return 2 * loss, 2 * gradient


class Scaled:
    """The cross-entropy times a factor."""

    def __init__(self, factor=3.0):
        self.factor = factor

    def __call__(self, outputs, targets, weight):
        loss, gradient = dtnn.nn.losses.cross_entropy(outputs, targets, weight)
        return self.factor * loss, self.factor * gradient


def test_what_has_the_signature_of_a_loss_is_offered_and_nothing_else():
    names = {"twice": twice, "Scaled": Scaled, "five": Scaled(5.0), "mse": dtnn.nn.mse, "np": np, "other": lambda x, y: x, "n": 3}
    chooser = LossChooser(names=names)
    assert list(chooser.known) == [*LOSSES, "twice", "Scaled", "five"]
    assert ("twice (yours)", "twice") in chooser.choice.options
    chooser.choice.value = "twice"
    assert (chooser.source, chooser.names["twice"]) == ("twice", twice)
    chooser.choice.value = "Scaled"
    assert chooser.source.startswith("Scaled(")
    assert chooser.calls["Scaled"] is Scaled


def test_a_cell_that_is_run_later_adds_changes_and_takes_away():
    names, told = {}, []
    chooser = LossChooser(lambda: told.append("changed"), names)
    told.clear()
    names["mine"] = twice
    chooser.refresh()
    chooser.choice.value = "mine"
    assert told == ["changed"]
    chooser.refresh()
    assert told == ["changed"], "nothing is new"
    names["mine"] = lambda outputs, targets, weight: (0.0, outputs)
    chooser.refresh()
    assert chooser.names["mine"] is names["mine"]
    del names["mine"]
    chooser.refresh()
    assert chooser.choice.value == "cross_entropy"
    assert "mine" not in chooser.known


def test_the_panel_hands_them_to_fit():
    names = {"twice": twice, "Scaled": Scaled}
    panel = SettingsPanel(names=names)
    panel.loss.choice.value = "twice"
    assert panel.settings()["loss"] is twice
    assert "loss=twice" in panel.python.value
    panel.loss.choice.value = "Scaled"
    panel.loss.form.controls["factor"].value = 4.0
    loss = panel.settings()["loss"]
    assert (type(loss), loss.factor) == (Scaled, 4.0)
    names["late"] = twice
    panel.refresh()
    assert "late" in panel.loss.known


def test_a_training_makes_it_small():
    panel = SettingsPanel(names={"twice": twice})
    panel.loss.choice.value = "twice"
    panel.epochs.value = 1
    data = dtnn.data.mnist5k()
    once, double = (
        dtnn.zoo.mlp(hidden=(8,)).fit(data, show=False, **{**panel.settings(), **other})
        for other in ({"loss": "cross_entropy", "optimizer": "adam"}, {"optimizer": "adam"})
    )
    ratio = double.history["loss"][0] / once.history["loss"][0]
    assert ratio == pytest.approx(2.0, rel=0.02), "Adam makes the same steps for twice the loss"
