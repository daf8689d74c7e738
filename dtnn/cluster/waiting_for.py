"""`waiting_for`: what a run waits for, in words."""

import time

from ..records import Note, Paused

PATIENCE = 3.0  # seconds after which a job that was asked to stop is said to take its time


def waiting_for(run):
    """What a run waits for at the moment; "" while records flow and when it has ended."""
    if run.done:
        return ""
    if run.state == "waiting":
        return run._waiting_for
    if run._stop_asked and time.monotonic() - run._stop_asked > PATIENCE:
        return "the job to stop as it was asked to; run.interrupt() ends it at once"
    if run.state == "paused":
        return _paused(run.records.last(Paused))
    last = run.records[-1] if run.records else None
    return run._stalled or (last.text if isinstance(last, Note) else "" if last else "the first record")


def _paused(last):
    """What a run waits for after its last `Paused`."""
    where = f"{last.phase} of step {last.step}" if last.phase else f"step {last.step}"
    goes_on = "run.step(phases=1) makes the next phase, run.step() the rest" if last.phase else "run.step() makes one step"
    return f"you: {last.text} after {where}; run.resume() goes on, {goes_on}"
