"""Networks by name: each a function without obligatory arguments that returns a `Model` of ordinary layers."""

from .alexnet import alexnet
from .lenet import lenet5
from .mlp import mlp
from .resnet import resnet20
from .simplecnn import simplecnn
from .vgg import vgg11

__all__ = ["alexnet", "lenet5", "mlp", "resnet20", "simplecnn", "vgg11"]
