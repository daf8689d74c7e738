"""How training scales with the number of ranks: measured by `study`."""

from .study import Study, study

__all__ = ["Study", "study"]
