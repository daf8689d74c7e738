"""How the end of a run is told: whose fault first, then what the others were waiting for."""

REMEDY = (
    "Remedy: run again; new ranks are started for that, as by cluster.restart(). "
    "A training goes on from its last checkpoint (dtnn.Save): dtnn.load(path).fit(..., resume=True)."
)


class RankDied(RuntimeError):
    """The process of a rank went away (killed, out of memory, MPI abort) while the cluster needed it."""


class RunFailed(RuntimeError):
    """A run failed in a way that can't be raised as it was: the exception didn't survive the journey, or asked for exit.

    >>> import dtnn
    >>> def leave(comm):
    ...     raise SystemExit(3)
    >>> with dtnn.Cluster(1, "threads") as cluster:
    ...     cluster.run(leave).result()
    Traceback (most recent call last):
    dtnn.cluster.failure.RunFailed: rank 0 ended with SystemExit: 3
    """


class RunInterrupted(RuntimeError):
    """The run was interrupted before it had a result; its records so far are kept."""


class RemoteTraceback(Exception):
    """Carries the traceback of a rank as the cause of what is raised here, so it is shown first."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text

    def __str__(self):
        return "\n" + self.text


def explain(outcomes):
    """The story of a failure, the failing rank's traceback first.

    Parameters
    ----------
    outcomes : list of Outcome

    Examples
    --------
    >>> from dtnn.cluster.rank import Outcome
    >>> waiting = Outcome(0, "abandoned", waited="Allreduce (job.py, line 3, in job)")
    >>> print(explain([waiting, Outcome(1, "failed", trace="Boom\\n")]))
    Rank 1 failed:
    Boom
    <BLANKLINE>
    Meanwhile rank 0 waited in Allreduce (job.py, line 3, in job).
    """
    guilty = [outcome for outcome in guilty_first(outcomes) if outcome.state in ("failed", "dead")]
    told = [f"Rank {outcome.rank} {'failed' if outcome.state == 'failed' else 'died'}:\n{outcome.trace}" for outcome in guilty]
    waited = [f"Meanwhile rank {outcome.rank} waited in {outcome.waited}." for outcome in outcomes if outcome.waited]
    return "\n".join(told + waited)


def guilty_first(outcomes):
    """Dead ranks first, among them the one that died by itself; then those that failed; then the rest."""
    return sorted(
        outcomes,
        key=lambda outcome: (outcome.state != "dead", "ended by the launcher" in outcome.trace, outcome.state != "failed"),
    )


def exception(outcomes):
    """What `Run.result` raises for these outcomes: the guilty rank's own exception where possible, else one of ours."""
    guilty = next((outcome for outcome in guilty_first(outcomes) if outcome.state in ("failed", "dead")), None)
    if guilty is None:
        return None
    error, story = guilty.error, explain(outcomes)
    if guilty.state == "dead":
        error = RankDied(f"{guilty.trace.strip()}\n{REMEDY}")
    elif not isinstance(error, Exception):  # SystemExit would end the notebook's kernel, not the rank
        error = RunFailed(f"rank {guilty.rank} ended with {guilty.trace.strip().splitlines()[-1]}")
    error.__cause__, error.__suppress_context__ = RemoteTraceback(story), True
    error.rank = guilty.rank
    error.__traceback__ = None  # the frames of the rank are told in the story
    return error
