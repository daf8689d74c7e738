"""`results_of`: what a run has come to."""

from ..history import History
from ..records import Finish, Recorder, Resumed, Start, Step

RESULTS = "epochs done", "loss", "accuracy", "val_loss", "val_accuracy", "seconds", "samples/s"


def results_of(run):
    """What is known of a run, or of its records: "state", and of `RESULTS` and other metrics the newest values.

    Examples
    --------
    >>> from dtnn.records import Epoch
    >>> results_of([Start(0.0, 1), Epoch(1, 9, 640, 2.0, 0.1, {"loss": 0.5}, 2.0), Finish("done", 2.5)])
    {'state': 'done', 'epochs done': 1, 'loss': 0.5, 'seconds': 2.5, 'samples/s': 320.0}
    """
    records = Recorder(getattr(run, "records", run))
    history, found = History(records), {"state": getattr(run, "state", None) or _state(records)}
    found["epochs done"] = len([samples for samples in history.history["samples"] if samples])
    metrics = [key for key in history.history if key not in ("lr", "seconds", "samples")]
    found |= {key: next((v for v in reversed(history.history[key]) if v is not None), None) for key in metrics}
    if "loss" not in found and (step := records.last(Step)):
        found["loss"] = step.loss
    found["seconds"] = _seconds(records)
    seconds = sum(history.history["seconds"])
    found["samples/s"] = sum(history.history["samples"]) / seconds if seconds else None
    return found


def told(rows):
    """Which results some of the runs have: the usual ones first, then other metrics."""
    known = [*RESULTS, *dict.fromkeys(key for row in rows for key in row if key != "state" and key not in RESULTS)]
    return [key for key in known if any(row.get(key) is not None for row in rows)]


def _state(records):
    """How a run ended, by its records; one that tells no end goes on."""
    last = records.last(Finish)
    return last.reason if last else "running"


def _seconds(records):
    """How long a run took, or has taken, without its pauses."""
    begin = records.last(Start)
    times = [record.time for record in records if hasattr(record, "time")]
    if begin is None or not times:
        return None
    return max(times) - begin.time - sum(record.seconds for record in records if isinstance(record, Resumed))
