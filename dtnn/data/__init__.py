"""Data sets: arrays with a meaning, their mini-batches, and who gets which."""

from ..absent import absent
from . import toy2d
from .augment import Cutout, Flip, Shift
from .batches import batches, global_batch, permutation, shares
from .cifar10 import cifar10
from .dataset import Dataset
from .inputs import check_inputs, inputs
from .labels import labels
from .mnist import mnist
from .mnist5k import mnist5k
from .samples import Samples, batch_last
from .synthetic import synthetic
from .taken import plain, samples

__all__ = [
    "Cutout",
    "Dataset",
    "Flip",
    "Samples",
    "Shift",
    "batch_last",
    "batches",
    "check_inputs",
    "cifar10",
    "global_batch",
    "inputs",
    "labels",
    "mnist",
    "mnist5k",
    "permutation",
    "plain",
    "samples",
    "shares",
    "synthetic",
    "toy2d",
]


def __getattr__(name):
    raise absent(__name__, name, __all__)
