"""Training, evaluation and prediction, on any number of ranks."""

from ..records import Stop
from .callbacks import with_callbacks
from .evaluate import evaluate, predict
from .not_finite import NotFinite
from .train import train

__all__ = ["NotFinite", "Stop", "evaluate", "predict", "train", "with_callbacks"]
