"""How the replicas of a network stay together: one file a strategy."""

from .allreduce import AllReduce
from .broadcast import broadcast
from .in_sync import OutOfSync, in_sync

__all__ = ["AllReduce", "OutOfSync", "broadcast", "in_sync"]
