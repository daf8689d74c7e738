"""The records of a long run that never was."""

import math
import time

from dtnn.records import Epoch, Ledger, Start, Step

RANKS, EPOCHS, STEPS = 16, 200, 60  # of the long run; steps are those of an epoch


def steps_of(ranks, epoch, steps=STEPS, epochs=EPOCHS):
    """The records of an epoch of a run that never was; its loss falls by more than a factor of ten."""
    told, seconds = [], 0.012
    for number in range((epoch - 1) * steps + 1, epoch * steps + 1):
        loss, now = 0.02 + 2.3 * math.exp(-5 * number / steps / epochs) * (1 + 0.2 * math.sin(number**2)), time.time()
        told.append(Step(number, epoch, loss, 64, 0.01, seconds, now))
        if number % 20 == 0:
            told += [ledger(rank, number, 20, 20 * seconds, loss) for rank in range(ranks)]
    close = 1 - 0.9 * math.exp(-epoch / 40)
    metrics = {"loss": loss, "accuracy": close, "val_loss": 1.2 * loss + 0.05, "val_accuracy": 0.97 * close}
    return [*told, Epoch(epoch, number, 64 * steps, steps * seconds, 0.01, metrics, now)]


def ledger(rank, number, steps, seconds, loss):
    """A rank's, of which the higher ones are a little slower."""
    parts = {"data": 0.04, "forward": 0.2 + 0.002 * rank, "backward": 0.4 + 0.004 * rank, "update": 0.03, "transfer": 0.08}
    shared = {name: part * seconds for name, part in {**parts, "wait": 0.99 - sum(parts.values())}.items()}
    return Ledger(rank, number, steps, 4 * steps, 246_824 * steps, seconds=seconds, time=number * 0.012, loss=loss, **shared)


def long_run(ranks=RANKS, epochs=EPOCHS):
    """All its records."""
    told = [Start(0.0, ranks, {"epochs": epochs, "batch_size": 64, "samples": 64 * STEPS})]
    return told + [record for epoch in range(1, epochs + 1) for record in steps_of(ranks, epoch)]
