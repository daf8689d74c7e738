"""Training, evaluation and prediction, on any number of ranks."""

from ..records import Stop
from .callbacks import with_callbacks
from .checkpoint import Checkpoint
from .evaluate import evaluate, predict
from .listeners import EarlyStopping, Save, StopAt
from .not_finite import NotFinite
from .train import train

__all__ = [
    "Checkpoint", "EarlyStopping", "NotFinite", "Save", "Stop", "StopAt", "evaluate", "predict", "train", "with_callbacks",
]  # fmt: skip
