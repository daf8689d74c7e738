"""`obey`: what ranks have been told is done, by all of them at once."""

import time

from ..records import Note
from .snapshot import snapshot
from .with_rate import with_rate


def obey(replica):
    """All ranks hear what one of them was told, and do it."""
    replica.orders.agree()
    heed(replica)


def heed(replica):
    """Do what has been agreed on, and can be done at once."""
    take_rate(replica)
    for asked in replica.orders.weights:
        if asked.rank == replica.comm.rank:
            replica.outbox.append(snapshot(replica.parameters, asked.rank, replica.updated, asked.layer))
    replica.orders.weights.clear()
    if replica.orders.by_phase and not replica.exchange.lockstep:
        replica.orders.make(1)
        text = f"{replica.exchange.strategy!r} lets ranks be at different steps, so a whole step is made instead of a phase"
        replica.outbox += [Note(0, time.time(), text)] * (replica.comm.rank == 0)


def take_rate(replica):
    """Train with the rate that was asked for last."""
    if replica.orders.rate == replica.rate:
        return
    replica.rate = replica.orders.rate
    optimizers = with_rate(replica.given, replica.rate), with_rate(replica.given_to_exchange, replica.rate)
    if None not in optimizers:
        replica.optimizer, replica.exchange.optimizer = optimizers
    elif replica.comm.rank == 0:
        text = f"{replica.given!r} has no lr, so its learning rate can't be changed"
        replica.outbox.append(Note(0, time.time(), text))
