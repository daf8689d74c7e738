"""What a training can be told while it runs: small frozen settings, each an answer to a record, as `Stop` is.

A `Run` sends them (`run.pause()`, `run.set_lr(0.01)` ...), a callback may return them, and who loops over `train` sends them into
the generator.  Told to one rank, they act on all ranks after the same step.
"""

import json
import math
from dataclasses import asdict, dataclass

from .allowed import number, whole
from .records import Stop, check_text


@dataclass(frozen=True, slots=True)
class Pause:
    """Make no further step until told to go on; `text` says why.

    >>> Pause("let me look")
    Pause(text='let me look')
    """

    text: str = "paused by the user"

    def __post_init__(self):
        check_text(self, "text", "paused by the user")


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on after a pause.

    >>> Resume()
    Resume()
    """


@dataclass(frozen=True, slots=True)
class Advance:
    """Make so many further steps, then pause; or so many phases of one: forward, backward, reduce, update.

    Where a training waits within a step, the rest of it is a step, too. With gradient accumulation forward and backward come once
    for each piece.

    Raises
    ------
    ValueError, TypeError
        `steps` or `phases` is no whole number of at least 1, or both are given.

    Examples
    --------
    >>> Advance(3).steps
    3
    """

    steps: int = 1
    phases: int | None = None

    def __post_init__(self):
        if self.phases is not None and self.steps != 1:
            raise ValueError(f"steps={self.steps!r} and phases={self.phases!r}: give one of them")
        name = "steps" if self.phases is None else "phases"
        object.__setattr__(self, name, whole(name, getattr(self, name), 1))


@dataclass(frozen=True, slots=True)
class Rate:
    """Train on with another learning rate, until told otherwise.

    Parameters
    ----------
    lr : float, optional
        The rate, constant from now on, whatever the optimizer's schedule says.
    factor : float
        Without `lr`: what the optimizer's own rate, or its schedule's, is multiplied by. ``Rate()`` goes back to it.

    Raises
    ------
    ValueError, TypeError
        `lr` is negative or no finite number, `factor` is not above 0, or both are given.

    Examples
    --------
    >>> def careful(record):
    ...     if getattr(record, "metrics", {}).get("val_accuracy", 0) > 0.9:
    ...         return Rate(0.001)
    """

    lr: float | None = None
    factor: float = 1.0

    def __post_init__(self):
        if self.lr is not None:
            lr = number("lr", self.lr, "a learning rate of at least 0, such as 0.01", lambda lr: 0 <= lr < math.inf)
            object.__setattr__(self, "lr", lr)
        factor = number("factor", self.factor, "a number above 0, such as 0.1 for a tenth", lambda factor: 0 < factor < math.inf)
        object.__setattr__(self, "factor", factor)
        if self.lr is not None and self.factor != 1:
            raise ValueError(f"lr={self.lr!r} and factor={self.factor!r}: give one of them, the rate or what to multiply it by")


@dataclass(frozen=True, slots=True)
class Show:
    """Tell, of the next step, the gradients of a layer (or of one parameter, "conv2d_1.weight") on all ranks.

    >>> Show("conv2d_1")
    Show(layer='conv2d_1')
    """

    layer: str

    def __post_init__(self):
        check_text(self, "layer", "conv2d_1")


@dataclass(frozen=True, slots=True)
class ShowWeights:
    """Tell the weights that a rank has after the step that is under way, of a training that waits those of now.

    Parameters
    ----------
    layer : str
        Of which layer, or which parameter ("conv2d_1.weight"); "": all, with the running statistics.
    rank : int
        Whose. Others know more only where replicas differ (`dtnn.parallel.LocalSGD`, say).

    Examples
    --------
    >>> ShowWeights("conv2d_1", rank=1)
    ShowWeights(layer='conv2d_1', rank=1)
    """

    layer: str = ""
    rank: int = 0

    def __post_init__(self):
        check_text(self, "layer", "conv2d_1")
        object.__setattr__(self, "rank", whole("rank", self.rank))


COMMANDS = {cls.__name__.lower(): cls for cls in (Stop, Pause, Resume, Advance, Rate, Show, ShowWeights)}


def listed(answer):
    """The commands in an answer to a record: none, one, or several in a list.

    Raises
    ------
    TypeError
        There is something else in it; says what may be.

    Examples
    --------
    >>> listed(None), listed(Pause("let me look"))
    ([], [Pause(text='let me look')])
    """
    found = [command for command in (answer if isinstance(answer, list | tuple) else [answer]) if command is not None]
    for command in found:
        if type(command) not in COMMANDS.values():
            raise TypeError(
                f"a training was answered {command!r}; the answer to a record is dtnn.Stop(...), one of dtnn.commands "
                f"({', '.join(cls.__name__ for cls in COMMANDS.values())}), or None"
            )
    return found


def to_text(commands):
    """Commands as text, for other ranks.

    >>> from_text(to_text([Stop("enough"), Rate(0.5)]))
    [Stop(text='enough'), Rate(lr=0.5, factor=1.0)]
    """
    return json.dumps([[type(command).__name__.lower(), asdict(command)] for command in commands])


def from_text(text):
    """The commands that `to_text` described.

    >>> from_text('[["pause", {"text": "let me look"}]]')
    [Pause(text='let me look')]
    """
    return [COMMANDS[name](**values) for name, values in json.loads(text)]
