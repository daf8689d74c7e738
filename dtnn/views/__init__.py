"""A model, looked into: what it confuses, what it gets worst, its weights, and what it makes of an image.

Each is a function of a model and data that returns matplotlib Axes (`ax=` is accepted), and has beside it the function that gives
the numbers: `confusion_counts`, `worst_samples`, `layer_weights`, `layer_outputs`. What only draws is in `dtnn.plots`.
"""

from .inner import layer_outputs
from .judged import confusion, confusion_counts, worst, worst_samples
from .maps import feature_maps, filters
from .numbers import activations, layer_weights, weights

__all__ = [
    "activations",
    "confusion",
    "confusion_counts",
    "feature_maps",
    "filters",
    "layer_outputs",
    "layer_weights",
    "weights",
    "worst",
    "worst_samples",
]
