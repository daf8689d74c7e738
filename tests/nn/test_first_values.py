"""What parameters begin with: by name, from an initialiser of one's own, or not at all."""

import numpy as np
import pytest

from dtnn.nn import Constant, Conv2d, Linear


def test_an_initialiser_of_ones_own_is_told_the_groups_if_it_takes_them():
    told = []

    def first(rng, shape, groups=1):
        told.append((shape, groups))
        return np.ones(shape)

    Conv2d(4, 3, groups=2, init=first).build((4, 5, 5), None)
    Conv2d(4, 3, groups=2, init=lambda rng, shape: np.ones(shape)).build((4, 5, 5), None)
    assert told == [((4, 2, 3, 3), 2)]
    with pytest.raises(ValueError, match=r"Linear: its initialiser <.*> gave an array of shape \(3,\); it must be \(3, 2\)"):
        Linear(3, init=lambda rng, shape: np.ones(3)).build((2,), None)


def test_settings_that_make_no_sense():
    for wrong, error, text in (
        ("Linear(3, init=0.1)", ValueError, r"no initialiser 0\.1; did you mean .*Constant\(0\.1\)"),
        ("Linear(3, init=Constant)", ValueError, r"did you mean .*Constant\(0\.1\)"),
        ("Linear(3, bias_init='zero')", ValueError, r"Linear: bias_init: there is no initialiser 'zero'; did you mean 'zeros'"),
        ("Linear(3, bias_init='he_normal').build((2,), rng)", ValueError, r"\(3,\), such as a bias, has no fans; give it zeros"),
        ("Linear(3, bias_init='orthogonal').build((2,), rng)", ValueError, r"\(3,\), such as a bias, has no fans; give it zeros"),
        ("Constant('a')", TypeError, r"Constant: value='a': give a finite number"),
        ("Constant(np.nan)", ValueError, r"Constant: value=nan: give a finite number"),
        ("Linear(3, bias_initializer='zeros')", TypeError, "it is called bias_init here"),
    ):
        with pytest.raises(error, match=text):
            eval(wrong, {"Linear": Linear, "Constant": Constant, "np": np, "rng": np.random.default_rng(0)})
