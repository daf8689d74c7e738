"""How the replicas of a network stay together: one file a strategy."""

from ..absent import absent
from .accumulate import Accumulate
from .allreduce import AllReduce
from .broadcast import broadcast
from .compressed import Compressed
from .gossip import Gossip
from .in_sync import OutOfSync, in_sync
from .local_sgd import LocalSGD
from .out_of_step import check_in_step, out_of_step
from .parameter_server import ParameterServer
from .repeatable import check_repeatable
from .sharded import Sharded
from .strategy import Exchange, Strategy

STRATEGIES = ("AllReduce", "Sharded", "Accumulate", "LocalSGD", "Gossip", "Compressed", "ParameterServer")

__all__ = [

    "Accumulate", "AllReduce", "Compressed", "Exchange", "Gossip", "LocalSGD", "OutOfSync", "ParameterServer", "Sharded",
    "Strategy", "broadcast", "check_in_step", "check_repeatable", "in_sync", "out_of_step",
]  # fmt: skip


def __getattr__(name):
    raise absent(__name__, name, __all__)
