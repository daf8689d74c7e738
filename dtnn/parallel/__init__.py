"""How the replicas of a network stay together: one file a strategy."""

from .allreduce import AllReduce
from .broadcast import broadcast
from .in_sync import OutOfSync, in_sync
from .strategy import Exchange, Strategy

__all__ = ["AllReduce", "Exchange", "OutOfSync", "Strategy", "broadcast", "in_sync"]
