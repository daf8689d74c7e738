"""Proofs that a training is right."""

from .serial_equivalent import Equivalence, serial_equivalent

__all__ = ["Equivalence", "serial_equivalent"]
