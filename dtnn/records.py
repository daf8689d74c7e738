"""What a run tells about itself: small frozen records, each one JSON object.

Training yields them, clusters carry them, plots draw them; nobody needs anything else.  A record with a
`rank` is told by that rank; one without is the same on all ranks, and rank 0 tells it.  Seconds are wall-clock
seconds, `time` is the moment of the record (seconds since 1970, on the clock of the host that made it).
"""

import dataclasses
import json
import math
from dataclasses import dataclass, field

NAMES_OF_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@dataclass(frozen=True, slots=True)
class Start:
    """A run begins: what is trained, on how many ranks, with which settings (plain values only)."""

    time: float
    ranks: int
    settings: dict = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a rank works: `machine` is the description that `machine.describe` gives."""

    rank: int
    machine: dict = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """What a rank is doing when there is nothing to see yet ("compiling conv_product, first time on this machine")."""

    rank: int
    time: float
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """One update of the weights, counted from 1; `loss` is the mean over the `samples` of the global batch, before the update."""

    step: int
    epoch: int
    loss: float
    samples: int
    lr: float
    seconds: float
    time: float


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where one rank's time went in the last `steps` steps, up to and with `step`.

    `wait` is the time from this rank's arrival at the reduction to the last rank's arrival, `pack` what went into
    packing and unpacking (compression), `transfer` the rest of the reduction; `samples` and `bytes` (handed to the reduction)
    are this rank's own; `loss` is the mean over these samples, each before its update (NaN: not told). `hidden` counts no time
    of its own: so many seconds of communication went on behind backward.
    """

    rank: int
    step: int
    steps: int
    samples: int
    bytes: int
    data: float
    forward: float
    backward: float
    wait: float
    transfer: float
    update: float
    seconds: float
    time: float
    pack: float = 0.0
    hidden: float = 0.0
    loss: float = math.nan


@dataclass(frozen=True, slots=True)
class Message:
    """One array on its way from rank `source` to rank `dest`; `time` is when the sender began, in seconds of its clock."""

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


@dataclass(frozen=True, slots=True)
class Epoch:
    """One pass over the data, counted from 1: `metrics` such as loss, accuracy, val_loss, val_accuracy.

    One of 0 samples in 0 seconds is none: it tells the metrics before the first step, and has the number of the epochs done.
    """

    epoch: int
    step: int
    samples: int
    seconds: float
    lr: float
    metrics: dict
    time: float


@dataclass(frozen=True, slots=True)
class Finish:
    """A run ends: `reason` is "done", "stopped", "interrupted" or "failed"."""

    reason: str
    time: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Paused:
    """All ranks wait, after `step`, until they are told to go on; `text` says why."""

    step: int
    time: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """A pause after `step` is over that took so many `seconds`."""

    step: int
    seconds: float
    time: float


@dataclass(frozen=True, slots=True)
class Gradients:
    """The gradients of all ranks in one step, as norms and angles; `gradients` (the module) reads them for people.

    A rank's gradient is its part of the mean over the global batch, so that the sum over the ranks is the whole. Of each of
    the `layers`: the 2-norm of each rank's own gradient (`before`), of what each rank holds after the reduction (`after`; one
    number where all hold it together), of the true sum (`total`), and of the difference between these two (`off`); and the
    `cosines` between the ranks' own gradients, a row for each rank. `samples` are each rank's; `local` is the sum over the
    ranks of the squared norm of a rank's mean gradient over its own samples, which rode in the tail of the reduction.
    `asked` is the layer that somebody asked for, "" if none.
    """

    step: int
    asked: str
    samples: list
    local: float
    layers: list
    before: list
    after: list
    total: list
    off: list
    cosines: list
    time: float


@dataclass(frozen=True, slots=True)
class GradientValues:
    """The numbers themselves, of some parameters in one step: by name "shape", "dtype", "every", "before" and "after".

    The last two are base64 texts, one for each rank (one alone where all ranks hold the same). Of a large parameter only
    each `every`-th number is told.
    """

    step: int
    parameters: dict
    time: float


@dataclass(frozen=True, slots=True)
class Stop:
    """Not a record but an answer to one: end the training, on all ranks after the same step.

    Returned by a callback, or sent into the generator of a job; `text` says why and is kept in the `Finish` record.

    Examples
    --------
    >>> def good_enough(record):
    ...     if getattr(record, "metrics", {}).get("val_accuracy", 0) > 0.99:
    ...         return Stop("99 % reached")
    """

    text: str = "stopped"

    def __post_init__(self):
        check_text(self, "text", "99 % reached")


def check_text(command, name, example):
    """Raise a `TypeError` unless a command's field is text: it travels, and on its way nobody could be told."""
    value = getattr(command, name)
    if not isinstance(value, str):
        raise TypeError(f"{type(command).__name__}({name}={value!r}): give text, such as {example!r}")


KINDS = (
    *(Start, Place, Note, Step, Ledger, Message, Span, Clock, Trace, Epoch),
    *(Paused, Resumed, Gradients, GradientValues, Finish),
)
TYPES = {cls.__name__.lower(): cls for cls in KINDS}


def to_dict(record):
    """The record as plain values; numbers that JSON doesn't know become their names.

    >>> to_dict(Note(rank=0, time=1.5, text="compiling"))
    {'type': 'note', 'rank': 0, 'time': 1.5, 'text': 'compiling'}
    """
    values = {field.name: _named(getattr(record, field.name)) for field in dataclasses.fields(record)}
    return {"type": type(record).__name__.lower(), **values}


def from_dict(values):
    """The record that `to_dict` described; a `ValueError` says which type or field is not known.

    >>> from_dict({"type": "note", "rank": 0, "time": 1.5, "text": "compiling"})
    Note(rank=0, time=1.5, text='compiling')
    """
    values = dict(values)
    kind = values.pop("type", None)
    if kind not in TYPES:
        raise ValueError(f"a record of type {kind!r} is not known; known are {', '.join(TYPES)}")
    known = {f.name for f in dataclasses.fields(TYPES[kind])}
    strange = values.keys() - known
    if strange:
        raise ValueError(f"a record of type {kind!r} has no field {sorted(strange)[0]!r}; was it saved by a newer dtnn?")
    return TYPES[kind](**{name: _unnamed(value) for name, value in values.items()})


class Recorder(list):
    """A list of records that answers questions about them.

    >>> kept = Recorder([Note(0, 1.0, "a"), Note(1, 2.0, "b")])
    >>> kept.column(Note, "text")
    ['a', 'b']
    >>> kept.last(Note).text
    'b'
    """

    def of(self, kind):
        """All records of one type, in order."""
        return [record for record in self if isinstance(record, kind)]

    def column(self, kind, name):
        """One field of all records of one type, in order."""
        return [getattr(record, name) for record in self if isinstance(record, kind)]

    def last(self, kind):
        """The newest record of one type, or None."""
        return next((record for record in reversed(self) if isinstance(record, kind)), None)

    def to_json(self):
        """All records as one JSON list."""
        return json.dumps([to_dict(record) for record in self], allow_nan=False)

    @classmethod
    def from_json(cls, text):
        """The records that `to_json` wrote."""
        return cls(from_dict(values) for values in json.loads(text))


def _named(value):
    if dataclasses.is_dataclass(value):
        return to_dict(value)
    if isinstance(value, dict):
        return {key: _named(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_named(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _unnamed(value):
    if isinstance(value, dict):
        return {key: _unnamed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_dict(item) if isinstance(item, dict) and item.get("type") in TYPES else _unnamed(item) for item in value]
    return NAMES_OF_NUMBERS.get(value, value) if isinstance(value, str) else value
