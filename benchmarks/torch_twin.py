"""The PyTorch network that is a dtnn model's twin: the same layers with the same weights, made layer by layer."""

import torch
from torch import nn as t

from dtnn import nn


class Sum(t.Module):
    """body(x) + shortcut(x)"""

    def __init__(self, body, shortcut):
        super().__init__()
        self.body, self.shortcut = body, shortcut

    def forward(self, x):
        return self.body(x) + self.shortcut(x)


def twin(model):
    """A `torch.nn.Sequential` with the weights of a dtnn model."""
    return sequence(model.net)


def sequence(net):
    """All layers of a built Sequential."""
    shapes = [None, *net.shapes]
    return t.Sequential(*(layer_twin(layer, shape) for layer, shape in zip(net.layers, shapes)))


def layer_twin(layer, shape):
    """One layer; the number of inputs is in its weights."""
    simple = {nn.ReLU: t.ReLU, nn.Flatten: t.Flatten, nn.GELU: t.GELU}
    if type(layer) in simple:
        return simple[type(layer)]()
    if isinstance(layer, nn.Sequential):
        return sequence(layer)
    if isinstance(layer, nn.Residual):
        return Sum(sequence(layer.body), sequence(layer.shortcut) if layer.shortcut else t.Identity())
    if isinstance(layer, nn.Dropout):
        return t.Dropout(layer.rate)
    if isinstance(layer, nn.MaxPool2d):
        return t.MaxPool2d(layer._size, layer._stride, layer._padding, ceil_mode=layer.ceil_mode)
    if isinstance(layer, nn.GlobalAvgPool2d):
        return t.Sequential(t.AdaptiveAvgPool2d(1), t.Flatten())
    return with_weights(layer)


def with_weights(layer):
    """Conv2d, Linear or BatchNorm2d, and copies of their weights."""
    weight = layer.weight.value
    if isinstance(layer, nn.Conv2d):
        padding = tuple(margin[0] for margin in layer._margins)
        inputs = weight.shape[1] * layer.groups
        made = t.Conv2d(
            inputs, len(weight), layer._size, layer._stride, padding, layer._dilation, layer.groups, layer.bias is not None
        )
    elif isinstance(layer, nn.Linear):
        made = t.Linear(weight.shape[1], len(weight), layer.bias is not None)
    elif isinstance(layer, nn.BatchNorm2d):
        made = t.BatchNorm2d(len(weight), layer.eps, layer.momentum)
    else:
        raise TypeError(f"no twin is known for {layer!r}")
    with torch.no_grad():
        made.weight.copy_(torch.from_numpy(weight.copy()))
        if layer.bias is not None:
            made.bias.copy_(torch.from_numpy(layer.bias.value.copy()))
    return made
