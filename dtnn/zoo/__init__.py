"""Networks by name: each a function without obligatory arguments that returns a `Model` of ordinary layers."""

from ..absent import absent
from .alexnet import alexnet
from .lenet5 import lenet5
from .mlp import mlp
from .resnet20 import resnet20
from .simplecnn import simplecnn
from .vgg11 import vgg11

__all__ = ["alexnet", "lenet5", "mlp", "resnet20", "simplecnn", "vgg11"]


def __getattr__(name):
    raise absent(__name__, name, __all__)
