"""How a run goes as a whole: it begins, waits, ends."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Start:
    """A run begins: what is trained, on how many ranks, with which settings (plain values only).

    >>> Start(time=0.0, ranks=2, settings={"epochs": 10}).settings["epochs"]
    10
    """

    time: float
    ranks: int
    settings: dict = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rank works: `machine` is the description that `machine.describe` gives.

    >>> from dtnn.machine import describe
    >>> Place(rank=1, machine=describe()).machine["cores"] >= 1
    True
    """

    rank: int
    machine: dict = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """What a rank is doing when there is nothing to see yet ("compiling conv_product, first time on this machine").

    >>> Note(rank=0, time=0.0, text="compiling").text
    'compiling'
    """

    rank: int
    time: float
    text: str


@dataclass(frozen=True, slots=True)
class Paused:
    """All ranks wait, after `step`, until they are told to go on; `text` says why.

    With a `phase` ("forward", "backward" or "reduce") they wait within that step, which has done this phase.

    >>> Paused(step=7, time=0.0, text="paused by the user").step
    7
    """

    step: int
    time: float
    text: str = ""
    phase: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A pause after `step`, or within it, is over that took so many `seconds`.

    >>> Resumed(step=7, seconds=2.5, time=2.5).seconds
    2.5
    """

    step: int
    seconds: float
    time: float


@dataclass(frozen=True, slots=True)
class Refused:
    """A training can't tell what it was asked for: the gradients of `layer`; `text` says why.

    >>> Refused(layer="linear_1", text="Mine() lets ranks be at different steps", time=0.0).layer
    'linear_1'
    """

    layer: str
    text: str
    time: float


@dataclass(frozen=True, slots=True)
class Finish:
    """A run ends: `reason` is "done", "stopped", "interrupted" or "failed".

    >>> Finish("stopped", 0.0, "99 % reached").reason
    'stopped'
    """

    reason: str
    time: float
    text: str = ""
