"""What ranks do within a step, in detail."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """One array on its way from rank `source` to rank `dest`; `time` is when the sender began, in seconds of its clock.

    >>> Message(source=0, dest=1, tag=0, bytes=4000, time=0.0, seconds=0.001).bytes
    4000
    """

    source: int
    dest: int
    tag: int
    bytes: int
    time: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Span:
    """What a rank did ("Recv from 1", "Allreduce", "conv2d_1") from `time` on, in seconds of its clock, for so many `seconds`.

    `bytes` are those of the array that was handed to a communicator. `phase` is the phase of the step that the span is part of
    ("forward"), or is ("wait", of the same name); "" for what a communicator did, in whichever phase.

    >>> Span(rank=0, name="conv2d_1", bytes=0, time=0.0, seconds=0.001, phase="forward").phase
    'forward'
    """

    rank: int
    name: str
    bytes: int
    time: float
    seconds: float
    phase: str = ""


@dataclass(frozen=True, slots=True)
class Clock:
    """How one rank's clock goes: rank 0's shows `offset` seconds more, to within `uncertainty` (0 on one host, inf: not known).

    `moment` is what the rank's own clock showed then. It holds for what the rank tells from here on, until its next one.

    >>> Clock(rank=1, offset=-0.25, uncertainty=1e-5, moment=0.0, time=0.0).offset
    -0.25
    """

    rank: int
    offset: float
    uncertainty: float
    moment: float
    time: float


@dataclass(frozen=True, slots=True)
class Trace:
    """All that one rank did in one step, of which only a few are looked at so closely.

    `begin` is the moment on the rank's own clock (see `Clock`), the times of `spans` (`Span`) and `messages` (`Message`, those
    that it sent) are seconds since then.

    >>> spans = [Span(0, "forward", 0, 0.0, 0.001, "forward")]
    >>> Trace(rank=0, step=7, begin=20.0, seconds=0.002, spans=spans, messages=[], time=0.0).spans[0].name
    'forward'
    """

    rank: int
    step: int
    begin: float
    seconds: float
    spans: list
    messages: list
    time: float

    def __post_init__(self):
        if not all(type(span) is Span for span in self.spans) or not all(type(sent) is Message for sent in self.messages):
            raise TypeError(f"the trace of rank {self.rank} in step {self.step} holds something else than spans and messages")
