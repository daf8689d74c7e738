"""Layers, losses and metrics, in PyTorch's words; no communication, no data."""

from ..absent import absent
from .activations import Arctanh, Log, Sigmoid, Tanh
from .attention import MultiHeadAttention, TransformerEncoderBlock
from .average_pooling import AdaptiveAvgPool2d, AvgPool2d, GlobalAvgPool2d
from .batch_norm import BatchNorm1d, BatchNorm2d
from .combine import Concatenate, Residual
from .conv2d import Conv2d
from .dropout import Dropout
from .embedding import Embedding, Positions
from .flatten import Flatten
from .init import (
    Constant,
    glorot_normal,
    glorot_uniform,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
    ones,
    orthogonal,
    zeros,
)
from .layer import Layer, Parameter
from .layer_norm import LayerNorm
from .linear import Linear
from .losses import CrossEntropy, binary_cross_entropy, cross_entropy, hinge, huber, mae, mse
from .metrics import accuracy
from .parameters import Parameters
from .passes import Pass
from .pooling import MaxPool2d
from .rectifiers import ELU, GELU, LeakyReLU, ReLU, SiLU
from .regression_losses import Huber
from .reshape import Reshape
from .sequential import Sequential
from .softmax import LogSoftmax, Softmax
from .summary import summary

__all__ = [
    "ELU", "GELU", "AdaptiveAvgPool2d", "Arctanh", "AvgPool2d", "BatchNorm1d", "BatchNorm2d", "Concatenate", "Constant", "Conv2d",
    "CrossEntropy", "Dropout", "Embedding", "Flatten", "GlobalAvgPool2d", "Huber", "Layer", "LayerNorm", "LeakyReLU", "Linear",
    "Log", "LogSoftmax", "MaxPool2d", "MultiHeadAttention", "Parameter", "Parameters", "Pass", "Positions", "ReLU", "Reshape",
    "Residual", "Sequential", "SiLU", "Sigmoid", "Softmax", "Tanh", "TransformerEncoderBlock", "accuracy",
    "binary_cross_entropy", "cross_entropy", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "hinge", "huber",
    "lecun_normal", "lecun_uniform", "mae", "mse", "ones", "orthogonal", "summary", "zeros",
]  # fmt: skip


def __getattr__(name):
    raise absent(__name__, name, __all__)
