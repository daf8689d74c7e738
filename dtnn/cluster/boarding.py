"""`boarding`: the first phase of a run on engines, after which all ranks are there or nobody begins."""

from . import engine
from .ending import finish
from .flight import TICK


def boarding(engines, run, number, parcel):
    """Have all ranks unpack a job, and wait for them; whether all are ready for the second phase, a `Flight`.

    Where one is not, none begins: what kept it from that is the run's outcome.
    """
    run._waits("the ranks to unpack the job")
    answers = engines.ask(run, engine.prepare, number, parcel, (run.name, run.takes_commands))
    while not all(answer.ready() or engines.silent(rank) for rank, answer in enumerate(answers)):
        run._wake.wait(TICK)
        run._wake.clear()
        if run._given_up():
            run._interrupting()
            finish(run)  # the next run's turn comes when all have answered
    for rank, answer in enumerate(answers):
        outcome = engines.outcome(rank, answer)[0]
        if outcome is not None:
            run._end(outcome)
    return not (run.done or run.outcomes)
