"""Colours told apart by all eyes, and text that can be read on them."""

import itertools

import pytest

from dtnn.plots import palette

# Machado, Oliveira, Fernandes, "A physiologically-based model for simulation of color vision deficiency", 2009; severity 1
BLIND = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
LAB = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
LAB_2 = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


def _times(matrix, vector):
    return tuple(sum(a * b for a, b in zip(row, vector)) for row in matrix)


def _seen(colour, matrix=None):
    """A colour in Ottosson's OKLab, in which distances are about as large as they look."""
    light = palette.linear(colour)
    light = tuple(min(1.0, max(0.0, part)) for part in (_times(matrix, light) if matrix else light))
    return _times(LAB_2, tuple(part ** (1 / 3) for part in _times(LAB, light)))


def _distance(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other)) ** 0.5


@pytest.mark.parametrize("matrix", [None, *BLIND.values()], ids=["all colours", *BLIND])
def test_phases_that_touch_are_told_apart_by_all_eyes(matrix):
    order = [palette.PHASES[phase] for phase in (*palette.OWN, *palette.COMMUNICATION)]
    for one, other in itertools.pairwise(order):
        assert _distance(_seen(one, matrix), _seen(other, matrix)) > 0.12, (one, other)


@pytest.mark.parametrize("matrix", [None, *BLIND.values()], ids=["all colours", *BLIND])
def test_training_and_validation_are_told_apart_by_all_eyes(matrix):
    assert _distance(_seen(palette.TRAINING, matrix), _seen(palette.VALIDATION, matrix)) > 0.12


def test_text_is_readable_on_every_ground():
    for colour in palette.PHASES.values():
        assert palette.contrast(palette.on(colour), colour) >= 3.0
    for colour in (palette.INK, palette.FAINT, *palette.STATES.values()):
        assert palette.contrast(colour, palette.PAPER) >= 4.5, colour
