"""The schedule that looks at how well the training does."""

import pytest

from dtnn.optim import Progress, plateau


def at(epoch, past=()):
    return Progress(step=1, epoch=epoch, epochs=10, past=past)


def rate(of, epoch, past=()):
    return of(at(epoch, past))


def losses(*values, name="val_loss"):
    return tuple({name: value} for value in values)


def test_plateau_falls_after_patience_and_only_then():
    falls = plateau(1.0, factor=0.5, patience=1)
    assert rate(falls, 0) == 1.0
    assert rate(falls, 3, past=losses(3, 2, 1)) == 1.0
    assert rate(falls, 3, past=losses(3, 2, 2)) == 1.0  # one epoch without progress is within the patience
    assert rate(falls, 4, past=losses(3, 2, 2, 2)) == 0.5
    assert rate(falls, 5, past=losses(3, 2, 2, 2, 2)) == 0.5  # counted anew
    assert rate(falls, 6, past=losses(3, 2, 2, 2, 2, 2)) == 0.25
    assert rate(falls, 4, past=losses(3, 2, 2, 1.9)) == 1.0
    assert rate(plateau(1.0, factor=0.1, patience=0, least=0.05), 4, past=losses(1, 1, 1, 1)) == 0.05


def test_plateau_of_an_accuracy():
    """Which way is better is read off the name, as `EarlyStopping` does."""
    for settings in ({}, {"larger_is_better": True}):
        falls = plateau(1.0, "val_accuracy", factor=0.5, patience=0, **settings)
        assert rate(falls, 2, past=losses(0.5, 0.6, name="val_accuracy")) == 1.0
        assert rate(falls, 2, past=losses(0.6, 0.5, name="val_accuracy")) == 0.5
    for name, settings in (("val_mse", {}), ("points", {"larger_is_better": False})):
        falls = plateau(1.0, name, factor=0.5, patience=0, **settings)
        assert rate(falls, 2, past=losses(0.5, 0.6, name=name)) == 0.5
        assert rate(falls, 2, past=losses(0.6, 0.5, name=name)) == 1.0
    with pytest.raises(TypeError, match=r"plateau: larger_is_better='no': give True or False"):
        plateau(1.0, larger_is_better="no")


def test_a_rising_accuracy_keeps_the_rate_of_a_training():
    falls = plateau(0.5, "val_accuracy", factor=0.1, patience=3)
    assert rate(falls, 12, past=losses(*(0.5 + 0.04 * n for n in range(12)), name="val_accuracy")) == 0.5


def test_plateau_of_something_that_is_not_measured():
    with pytest.raises(ValueError, match=r"plateau: metric='val_loss' is not measured; there are loss.*validation_data"):
        plateau(1.0)(at(1, past=losses(1, name="loss")))
