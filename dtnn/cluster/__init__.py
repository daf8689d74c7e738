"""Clusters of ranks, started from a notebook or a script, and the runs on them."""

from .cluster import Cluster
from .doctor import diagnose
from .failure import RankDied, RunFailed, RunInterrupted
from .run import Run

__all__ = ["Cluster", "RankDied", "Run", "RunFailed", "RunInterrupted", "diagnose"]
