"""`pause`: a training waits, and goes on when it is told to."""

import dataclasses
import time

from ..machine import resident
from ..records import Paused, Resumed
from .obey import heed


def pause(replica, phase=""):
    """Wait, if that was asked for, until there is something to do again; within a step after one of its phases.

    Returns the seconds it took.
    """
    if not replica.orders.pauses:
        return 0.0
    begin, hear = time.perf_counter(), replica.orders.hear
    if replica.watch.steps:
        hear((yield account(replica, replica.updated)))
    hear((yield Paused(replica.step, time.time(), replica.orders.text, phase)))
    while replica.orders.pauses:
        yield from replica.orders.wait()
        heed(replica)
        yield from tell_outbox(replica)
    seconds = time.perf_counter() - begin
    hear((yield Resumed(replica.step, seconds, time.time())))
    replica.watch.skip()
    return seconds


def account(replica, step):
    """The `Ledger` since the last one, with what this process has in memory now."""
    return dataclasses.replace(replica.watch.record(step), memory=resident())


def tell_outbox(replica):
    """What there is to tell besides the steps."""
    while replica.outbox:
        replica.orders.hear((yield replica.outbox.pop(0)))
