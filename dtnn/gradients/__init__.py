"""The gradients of all ranks, as `Run.gradients` and ``keep_gradients_every`` give them."""

from .gradient_view import GradientView
from .noise_scale import noise_scale, signal_and_noise

__all__ = ["GradientView", "noise_scale", "signal_and_noise"]
