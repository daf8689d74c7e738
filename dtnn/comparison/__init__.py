"""Several runs side by side."""

from .comparison import Comparison

__all__ = ["Comparison"]
