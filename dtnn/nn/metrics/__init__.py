"""Metrics: a fixed-length float64 vector of sums over samples, and a function of it.

So they add up over batches and ranks; a mean of means is never taken.  One's own needs `name`, `sums` and `value`.
"""

from .confusion import F1, ConfusionMatrix, Precision, Recall, f1, precision, recall  # noqa: F401  the classes are imported
from .errors import MAE, MSE, R2, Hinge, hinge, mae, mse, r2  # noqa: F401
from .right import Accuracy, TopK, accuracy, top5  # noqa: F401

# what a name as text may mean
__all__ = ["accuracy", "f1", "hinge", "mae", "mse", "precision", "r2", "recall", "top5"]
