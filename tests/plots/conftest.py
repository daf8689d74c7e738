"""A run as dtnn tells it: two ranks, five epochs, the second rank a little slower."""

import math
import random

import pytest

from dtnn.records import Epoch, Finish, Ledger, Note, Place, Recorder, Start, Step


def synthetic(ranks=2, epochs=5, steps=63, finish="done", validation=True, begin=1_000_000.0, step_seconds=0.012):
    """The records of a run that never was, in the order of their time."""
    dice, told, now = random.Random(7), Recorder(), begin
    told.append(Start(now, ranks, {"epochs": epochs, "batch_size": 64, "samples": 64 * steps}))
    told += [Place(rank, {"host": "desk", "cores": 2}) for rank in range(ranks)]
    told.append(Note(0, now + 0.1, "compiling 2 of 9 kernels, first time on this machine"))
    for number in range(1, epochs * steps + 1):
        now += step_seconds
        loss = 2.3 * math.exp(-number / 60) + 0.08 + 0.05 * dice.random()
        told.append(Step(number, (number - 1) // steps + 1, loss, 64, 0.01, step_seconds, now))
        if number % 9 == 0:
            told += [_ledger(rank, ranks, number, 9, 9 * step_seconds, now) for rank in range(ranks)]
        if number % steps == 0:
            told.append(_epoch(number // steps, number, steps, loss, step_seconds, validation, now))
    if finish:
        told.append(Finish(finish, now + 0.01))
    return told


def _ledger(rank, ranks, step, steps, seconds, now):
    work = 0.62 + 0.2 * rank / max(1, ranks - 1)
    parts = {"data": 0.04, "forward": 0.32 * work, "backward": 0.6 * work, "update": 0.03, "transfer": 0.08}
    parts["wait"] = 0.99 - sum(parts.values())
    shared = {name: part * seconds for name, part in parts.items()}
    return Ledger(rank, step, steps, 64 * steps // ranks, 246_824 * steps, seconds=seconds, time=now, **shared)


def _epoch(epoch, step, steps, loss, step_seconds, validation, now):
    metrics = {"loss": loss + 0.02, "accuracy": 1 - 0.5 * math.exp(-epoch)}
    if validation:
        metrics |= {"val_loss": loss + 0.06, "val_accuracy": 0.98 - 0.5 * math.exp(-epoch)}
    return Epoch(epoch, step, 64 * steps, steps * step_seconds, 0.01, metrics, now)


@pytest.fixture
def run_of():
    """The function that makes a run's records."""
    return synthetic
