"""Layers, losses and metrics, in PyTorch's words; no communication, no data."""

from .layer import Layer, Parameter
from .parameters import Parameters
from .passes import Pass

__all__ = ["Layer", "Parameter", "Parameters", "Pass"]
