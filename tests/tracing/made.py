"""The records of traced steps that never were: LeNet-5 on several ranks, some of which come late."""

import math

from dtnn.records import Clock, Message, Place, Recorder, Span, Start, Trace

MS = 1e-3
LAYERS = {"conv2d_1": 0.11, "maxpool2d_1": 0.03, "conv2d_2": 0.15, "maxpool2d_2": 0.02, "linear_1": 0.06, "linear_2": 0.03}
DATA, TRANSFER, UPDATE = 0.06 * MS, 0.18 * MS, 0.05 * MS
BYTES = 246_824


def run_of(ranks=2, steps=(10, 20), late=None, offsets=None, uncertainties=None, messages=False, begin=100.0):
    """The records of all ranks.

    Parameters
    ----------
    late : dict of int to float
        Seconds that the backward of a rank takes longer.
    offsets, uncertainties : dict of int to float
        Of the ranks' clocks; their traces are told on these clocks. An uncertainty of None: no Clock is told.
    messages : bool
        A ring's messages instead of one Allreduce.
    """
    late, offsets, uncertainties = late or {}, offsets or {}, uncertainties or {}
    records = Recorder([Start(0.0, ranks, {"batch_size": 64 * ranks, "strategy": "AllReduce()"})])
    records += [Place(rank, {"host": "desk", "cores": 8}) for rank in range(ranks)]
    for rank in range(ranks):
        if uncertainties.get(rank, 0.0) is not None:
            shown = begin - 0.1 - offsets.get(rank, 0.0)
            records.append(Clock(rank, offsets.get(rank, 0.0), uncertainties.get(rank, 0.0), shown, 0.0))
    for number in steps:
        arrivals = {rank: arrival(late.get(rank, 0.0)) for rank in range(ranks)}
        for rank in range(ranks):
            moment = begin + number * 0.01 - offsets.get(rank, 0.0)
            records.append(trace_of(rank, ranks, number, moment, arrivals, late.get(rank, 0.0), messages))
    return records


def arrival(late):
    """Seconds from the step's begin to a rank's arrival at the reduction."""
    return DATA + 3 * math.fsum(LAYERS.values()) * MS + 0.04 * MS + late


def trace_of(rank, ranks, number, moment, arrivals, late, messages):
    """One rank's trace."""
    spans, now = [Span(rank, "data", 0, 0.0, DATA, "data")], DATA
    for phase, factor in (("forward", 1), ("backward", 2)):
        start, layers = now, list(LAYERS.items())
        for name, cost in layers if phase == "forward" else layers[::-1]:
            took = factor * cost * MS + (late if (phase, name) == ("backward", "conv2d_2") else 0.0)
            spans.append(Span(rank, name, 0, now, took, phase))
            now += took
        if phase == "forward":
            spans.append(Span(rank, "loss", 0, now, 0.04 * MS, phase))
            now += 0.04 * MS
        spans.append(Span(rank, phase, 0, start, now - start, phase))
    last, sent = max(arrivals.values()), []
    if last > now:
        spans.append(Span(rank, "wait", 0, now, last - now, "wait"))
    spans.append(Span(rank, "transfer", 0, last, TRANSFER, "transfer"))
    spans.append(Span(rank, "update", 0, last + TRANSFER, UPDATE, "update"))
    if messages:
        count = 2 * (ranks - 1)
        for part in range(count):
            begin = now if part == 0 else last + TRANSFER * part / count
            seconds = last + TRANSFER * (part + 1) / count - begin
            sent.append(Message(rank, (rank + 1) % ranks, 0, BYTES // ranks, begin, seconds))
            spans.append(Span(rank, f"Recv from {(rank - 1) % ranks}", BYTES // ranks, begin, seconds))
    elif ranks > 1:
        spans.append(Span(rank, "Allreduce", BYTES, now, last + TRANSFER - now))
    return Trace(rank, number, moment, last + TRANSFER + UPDATE, spans, sent, 0.0)
