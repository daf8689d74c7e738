"""Networks by name: each a function without obligatory arguments that returns a `Model` of ordinary layers."""

from .lenet import lenet5
from .mlp import mlp
from .simplecnn import simplecnn

__all__ = ["lenet5", "mlp", "simplecnn"]
