"""Data sets: arrays with a meaning, their mini-batches, and who gets which."""

from .batches import batches, global_batch, permutation, shares
from .dataset import Dataset
from .inputs import inputs
from .labels import labels
from .mnist5k import mnist5k
from .samples import Samples, batch_last, check_inputs, samples

__all__ = [
    "Dataset",
    "Samples",
    "batch_last",
    "batches",
    "check_inputs",
    "global_batch",
    "inputs",
    "labels",
    "mnist5k",
    "permutation",
    "samples",
    "shares",
]
