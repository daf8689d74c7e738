"""`same_run`: whether two runs are one."""

import json

from .records import Epoch, Finish, Recorder, Start


def same_run(one, other):
    """Whether one of them is the other, or a copy of it that was saved.

    Parameters
    ----------
    one, other : Run, History or records

    Examples
    --------
    >>> told = [Start(1.0, 2, {"epochs": 1}), Epoch(1, 9, 640, 2.0, 0.1, {"loss": 0.5}, 2.0), Finish("done", 2.5)]
    >>> same_run(told, list(told)), same_run(told, [*told[:2], Finish("done", 3.0)]), same_run(told, told[:1])
    (True, False, False)
    """
    one, other = (getattr(run, "records", run) for run in (one, other))
    return one is other or (_mark(one) is not None and _mark(one) == _mark(other))


def _mark(records):
    """What two runs have in common only if they are one: when they began, with what, their epochs and their end; None without."""
    records = Recorder(records)
    start, finish = records.last(Start), records.last(Finish)
    if start is None or finish is None:
        return None
    settings = json.dumps(start.settings, sort_keys=True, default=str)  # a file has lists for tuples
    return start.time, start.ranks, settings, [(each.step, each.metrics) for each in records.of(Epoch)], finish.time
