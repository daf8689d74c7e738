"""Layers, losses and metrics, in PyTorch's words; no communication, no data."""

from .activations import ReLU
from .average_pooling import AdaptiveAvgPool2d, AvgPool2d, GlobalAvgPool2d
from .batch_norm import BatchNorm1d, BatchNorm2d
from .combine import Concatenate, Residual
from .conv2d import Conv2d
from .dropout import Dropout
from .flatten import Flatten
from .init import glorot_normal, glorot_uniform, he_normal, he_uniform, ones, zeros
from .layer import Layer, Parameter
from .linear import Linear
from .losses import cross_entropy
from .metrics import accuracy
from .parameters import Parameters
from .passes import Pass
from .pooling import MaxPool2d
from .sequential import Sequential
from .summary import summary

__all__ = [
    "AdaptiveAvgPool2d", "AvgPool2d", "BatchNorm1d", "BatchNorm2d", "Concatenate", "Conv2d", "Dropout", "Flatten",
    "GlobalAvgPool2d", "Layer", "Linear", "MaxPool2d", "Parameter", "Parameters", "Pass", "ReLU", "Residual", "Sequential",
    "accuracy", "cross_entropy", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "ones", "summary", "zeros",
]  # fmt: skip
