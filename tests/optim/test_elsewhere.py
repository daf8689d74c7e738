"""Settings under the names of other libraries are answered with dtnn's."""

import copy
import dataclasses
import pickle

import pytest

from dtnn import nn, optim


@pytest.mark.parametrize("name", optim.__all__)
def test_of_an_optimizer(name):
    kind = getattr(optim, name)
    with pytest.raises(TypeError, match=f"{name} has no setting 'learning_rate'; it is called lr here"):
        kind(learning_rate=0.1)
    with pytest.raises(TypeError, match=f"{name} has no setting 'qqq'; there are lr, "):
        kind(qqq=0.1)
    with pytest.raises(TypeError, match="did you mean clip_norm"):
        kind(clipnorms=0.1)
    made = kind(lr=0.25)
    for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made)), dataclasses.replace(made)):
        assert again == made


def test_one_of_the_users_own_may_have_it():
    @dataclasses.dataclass(frozen=True, repr=False)
    class Own(optim.SGD):
        learning_rate: float = 0.5

    assert Own(learning_rate=0.25).learning_rate == 0.25


def test_a_schedule_that_was_not_made():
    with pytest.raises(ValueError, match=r"SGD: lr=<function cosine .* must be .* a schedule such as optim.cosine\(0.1\)"):
        optim.SGD(optim.cosine)
    optim.SGD(optim.cosine(0.1))
    optim.SGD(lambda progress: 0.1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: nn.Conv2d(8, 3, activation="relu"),
            r"Conv2d has no setting 'activation': put a layer behind it, such as ReLU\(\)",
        ),
        (lambda: nn.Conv2d(8, 3, strides=2), "Conv2d has no setting 'strides': it is called stride here"),
        (lambda: nn.Linear(in_features=3, features=2), "Linear has no setting 'in_features': what goes in is found when"),
        (lambda: nn.Linear(units=3), r"Linear has no setting 'units': give it by position, Linear\(128\)"),
        (lambda: nn.Linear(3, nonsense=1), "nonsense"),
        (lambda: nn.Sequential([nn.Linear(3)]), r"but got \[Linear\(3\)\]; write them one after the other, or \*layers"),
    ],
)
def test_of_a_layer(make, text):
    with pytest.raises(TypeError, match=text):
        make()
