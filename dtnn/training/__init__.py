"""Training, evaluation and prediction, on any number of ranks."""

from ..records import Stop
from .callbacks import with_callbacks
from .checkpoint import Checkpoint
from .evaluate import evaluate
from .listeners import EarlyStopping, Save, StopAt
from .not_finite import NotFinite
from .predict import Inference, predict
from .train import train

__all__ = [
    "Checkpoint", "EarlyStopping", "Inference", "NotFinite", "Save", "Stop", "StopAt", "evaluate", "predict", "train",
    "with_callbacks",
]  # fmt: skip
