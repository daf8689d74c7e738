"""How a run ends: in which state, with which error, and who is told."""

import time

from ..records import Finish
from ..sentence import noted
from . import failure


def finish(run):
    """End a run, once: from the outcomes of its ranks to its state, its error, its last record and its callbacks."""
    if run.done:
        return
    outcomes = [run.outcomes[rank] for rank in sorted(run.outcomes)]
    state = final_state(run, {outcome.state for outcome in outcomes})
    if state == "failed":
        run.error = run.error or failure.exception(outcomes)
        run.story = failure.explain(outcomes) or str(run.error)
    elif state == "interrupted" and run.results[0] is None:
        run.error = failure.RunInterrupted(_interrupted(run))
    _add_finish(run, state)
    while not run.done:
        _call_back(run, state)
        with run._changed:
            if not run._callbacks:  # else one was added meanwhile
                run.state = "failed" if run.error and state != "interrupted" else state
                run._ended.set()
                run._changed.notify_all()


def final_state(run, states):
    """ "failed", "interrupted", "stopped" or "done", from the states in which the ranks ended."""
    if run.error or states & {"failed", "dead"}:
        return "failed"
    if states & {"interrupted", "abandoned"} or (run._interrupt_asked and len(run.outcomes) < run.size):
        return "interrupted"
    told = run.records.last(Finish)
    return told.reason if told else "stopped" if run._stop_asked else "done"


def _interrupted(run):
    stuck = f"; rank {', '.join(map(str, run.stuck))} can't be, cluster.restart() goes on without it" if run.stuck else ""
    return f"the run was interrupted after {len(run.records)} records, they are in run.records{stuck}"


def _add_finish(run, state):
    """A run that was cut off could not tell its end itself."""
    if state in ("failed", "interrupted") and not (run.records and isinstance(run.records[-1], Finish)):
        run._tell([Finish(state, time.time(), _last_line(run.error) if run.error else "")])


def _last_line(error):
    words = str(error).strip() or type(error).__name__
    return f"{words}{noted(error)}".splitlines()[-1]


def _call_back(run, state):
    with run._changed:
        functions, run._callbacks = run._callbacks, []
    try:
        for function in functions if state != "failed" and not run.error else ():
            function(run.results[0])
    except BaseException as error:
        run.error = error
