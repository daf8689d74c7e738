"""A name that a module doesn't have is answered with the one that was probably meant."""

import pytest

import dtnn


@pytest.mark.parametrize(
    ("room", "name", "meant"),
    [
        ("nn", "Dense", "Linear"),
        ("nn", "Conv2D", "Conv2d"),
        ("nn", "Relu", "ReLU"),
        ("nn", "MaxPooling2D", "MaxPool2d"),
        ("nn", "BatchNormalization", "BatchNorm2d"),
        ("optim", "Adm", "Adam"),
        ("optim", "cosin", "cosine"),
        ("data", "mnist5", "mnist5k"),
        ("zoo", "lenet", "lenet5"),
        ("zoo", "resnet", "resnet20"),
        ("parallel", "Allreduce", "AllReduce"),
    ],
)
def test_what_was_meant_is_said(room, name, meant):
    with pytest.raises(AttributeError, match=f"dtnn.{room} has no '{name}': did you mean {meant}[?]"):
        getattr(getattr(dtnn, room), name)


def test_where_nothing_is_near_all_are_listed():
    with pytest.raises(AttributeError, match="has no 'transmogrify': it has alexnet, lenet5"):
        dtnn.zoo.transmogrify  # noqa: B018


@pytest.mark.parametrize("layer", [lambda: dtnn.nn.Conv2d(1, 6, 5), lambda: dtnn.nn.Linear(784, 10)])
def test_layers_are_told_what_comes_out_only(layer):
    with pytest.raises(TypeError, match="what goes in is found when the network is built"):
        layer()
