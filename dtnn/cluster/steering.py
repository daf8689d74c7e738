"""How a run is steered: the methods of `Run` with which a training pauses, makes steps, goes on, changes its rate, and ends."""

import time

from ..allowed import number
from ..commands import Advance, Pause, Rate, Resume, Show, ShowWeights
from ..records import Start, Stop

QUICK = 1.2  # seconds that ranks have to end when they have not stopped as they were asked to
NAMES = {Advance: "step", Rate: "set_lr", Show: "gradients", ShowWeights: "weights"}  # where a user calls a command otherwise


def pause(run, text="paused by the user"):
    """Have a training wait: all ranks after the same step, within some hundredths of a second and two steps.

    Meanwhile the ranks use next to no time of their cores. `resume` goes on, `step` makes a step or a phase of it, and it can be
    stopped.

    Raises
    ------
    RuntimeError
        The run has ended.

    Examples
    --------
    >>> import dtnn
    >>> with dtnn.Cluster(2, launcher="threads") as cluster:
    ...     run = dtnn.zoo.mlp().start(dtnn.data.mnist5k(), cluster=cluster, epochs=1000)
    ...     run.pause()
    ...     run.set_lr(0.001)
    ...     run.step(2)
    ...     run.resume()
    ...     run.stop()
    ...     result = run.result(timeout=30)
    >>> run.state
    'stopped'
    """
    tell(run, Pause(text))


def step(run, steps=1, *, phases=None):
    """Make so many steps, one unless said otherwise, and pause again; also of a run that doesn't pause now.

    With ``phases=1`` only one phase of a step: forward, backward, reduce or update, after which all ranks wait within the step.
    A `Phase` record tells what each rank has made of it. From there ``step()`` makes the rest of the step, and `resume`, `stop`,
    `set_lr`, `gradients` do what they always do: a stop finishes the step, another rate is that of its update.

    Parameters
    ----------
    steps : int
    phases : int, optional
        Phases to make, instead of steps.

    Raises
    ------
    RuntimeError
        The run has ended.
    ValueError, TypeError
        `steps` or `phases` is no whole number of at least 1, or with phases the ranks don't take their steps together.

    Examples
    --------
    >>> import dtnn
    >>> from dtnn.records import Phase
    >>> with dtnn.Cluster(2, launcher="threads") as cluster:
    ...     run = dtnn.zoo.mlp().start(dtnn.data.mnist5k(), cluster=cluster, epochs=1000)
    ...     run.step(phases=3)
    ...     while run.state != "paused":
    ...         ended = run.wait(0.1)
    ...     run.end()
    >>> run.records.column(Phase, "name")
    ['forward', 'backward', 'reduce', 'update']
    """
    start = run.records.last(Start) if phases is not None else None
    if start is not None and start.settings.get("out_of_step"):
        raise ValueError(f"step(phases={phases!r}): {start.settings['out_of_step']}. There is no phase that all ranks are in")
    tell(run, Advance(steps, phases))


def resume(run):
    """Go on after a pause; nothing happens to a run that doesn't pause.

    Raises
    ------
    RuntimeError
        The run has ended.
    """
    tell(run, Resume())


def set_lr(run, lr=None, *, factor=1.0):
    """Change the learning rate of a training that runs or pauses, on all ranks from the same step on.

    ``set_lr(0.001)`` is the rate from then on, whatever the optimizer's schedule says; ``set_lr(factor=0.1)`` is a tenth of
    what the optimizer, or its schedule, would have; ``set_lr()`` goes back to that.  `Step.lr` shows what was used.  It is
    kept in checkpoints: ``fit(resume=True)`` goes on with it, unless its optimizer has other settings than before.

    Parameters
    ----------
    lr : float, optional
    factor : float

    Raises
    ------
    RuntimeError
        The run has ended.
    ValueError, TypeError
        `lr` is negative, `factor` is not above 0, or both are given.
    """
    tell(run, Rate(lr, factor))


def stop(run, text="stopped by the user"):
    """End a generator job cleanly: all ranks after the same step. A job that is a plain function is interrupted."""
    run._stop_asked = run._stop_asked or time.monotonic()
    run.send(Stop(text))


def interrupt(run):
    """End it now, wherever the ranks are; what they did since the last record is lost, the records are kept."""
    run._interrupt_asked = True
    run._request("interrupt", None)


def end(run, text="stopped by the user", patience=1.5):
    """End it cleanly, or after `patience` seconds now; returns when it has ended. For who was interrupted while waiting.

    Whatever the ranks do, that takes little over a second more. One that can't be interrupted where it is goes on without
    the run, and is named in `stuck`; the next run waits for it.
    """
    patience = number("patience", patience, "seconds, such as 1.5", None)
    run.stop(text)
    if not run.wait(patience):
        run._grace = QUICK
        run.interrupt()
        run.wait(2 * QUICK)


def tell(run, command):
    """Send a command to a run that can still hear it."""
    if run.done:
        name = NAMES.get(type(command), type(command).__name__.lower())
        raise RuntimeError(
            f"{name}: this run has ended ({run.state}), nothing can be asked of it any more; "
            "begin another, for example with model.start(...)"
        )
    run.send(command)
