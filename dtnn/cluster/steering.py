"""How a run is steered: the methods of `Run` with which a training pauses, makes steps, goes on, and changes its rate."""

from ..commands import Advance, Pause, Rate, Resume


def pause(run, text="paused by the user"):
    """Have a training wait: all ranks after the same step, within some hundredths of a second and two steps.

    Meanwhile the ranks use next to no time of their cores. `resume` goes on, `step` makes a step, and it can be stopped.

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


def step(run, steps=1):
    """Make so many steps, one unless said otherwise, and pause again; also of a run that doesn't pause now.

    Raises
    ------
    RuntimeError
        The run has ended.
    ValueError
        `steps` is no whole number of at least 1.
    """
    tell(run, Advance(steps))


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
    ValueError
        `lr` is negative, `factor` is not above 0, or both are given.
    """
    tell(run, Rate(lr, factor))


def tell(run, command):
    """Send a command to a run that can still hear it."""
    if run.done:
        raise RuntimeError(
            f"{type(command).__name__.lower()}: this run has ended ({run.state}), nothing can be asked of it any more; "
            "begin another, for example with model.start(...)"
        )
    run.send(command)
