"""What ranks did in the steps that were looked at closely: brought onto one clock, explained by a path, written for other tools.

Functions of records; what draws them is `dtnn.plots.timeline`.
"""

from .costs import layer_costs
from .path import Leg, critical_path, waits
from .steps import TracedStep, traced_steps
from .trace_file import TraceFile, follow, save

__all__ = ["Leg", "TraceFile", "TracedStep", "critical_path", "follow", "layer_costs", "save", "traced_steps", "waits"]
