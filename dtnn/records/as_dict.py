"""Records as plain values and back."""

import dataclasses
import math

from .course import Finish, Note, Paused, Place, Refused, Resumed, Start
from .gradients import Gradients, GradientValues
from .progress import Epoch, Ledger, Phase, Share, Step
from .trace import Clock, Message, Span, Trace
from .weights import Weights

NAMES_OF_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
KINDS = (
    *(Start, Place, Note, Step, Ledger, Message, Span, Clock, Trace, Epoch),
    *(Share, Phase, Paused, Resumed, Gradients, GradientValues, Weights, Refused, Finish),
)
TYPES = {cls.__name__.lower(): cls for cls in KINDS}


def to_dict(record):
    """The record as plain values; numbers that JSON doesn't know become their names.

    >>> to_dict(Note(rank=0, time=1.5, text="compiling"))
    {'type': 'note', 'rank': 0, 'time': 1.5, 'text': 'compiling'}
    """
    if not dataclasses.is_dataclass(record) or isinstance(record, type):
        raise TypeError(f"{record!r:.60} is no record; records are {', '.join(kind.__name__ for kind in KINDS)}")
    values = {field.name: _named(getattr(record, field.name)) for field in dataclasses.fields(record)}
    return {"type": type(record).__name__.lower(), **values}


def from_dict(values):
    """The record that `to_dict` described; a `ValueError` says which type or field is not known.

    >>> from_dict({"type": "note", "rank": 0, "time": 1.5, "text": "compiling"})
    Note(rank=0, time=1.5, text='compiling')
    """
    if not isinstance(values, dict):
        raise TypeError(f"a record is described by a dict, as to_dict gives it, not by {values!r:.60}")
    values = dict(values)
    kind = values.pop("type", None)
    if kind not in list(TYPES):
        raise ValueError(f"a record of type {kind!r:.60} is not known; known are {', '.join(TYPES)}")
    _check_fields(kind, values)
    return TYPES[kind](**{name: _unnamed(value) for name, value in values.items()})


def _check_fields(kind, values):
    fields = dataclasses.fields(TYPES[kind])
    strange = values.keys() - {field.name for field in fields}
    if strange:
        raise ValueError(f"a record of type {kind!r} has no field {min(map(str, strange))!r}; was it saved by a newer dtnn?")
    for field in fields:
        if field.default is field.default_factory is dataclasses.MISSING and field.name not in values:
            raise ValueError(f"a record of type {kind!r} needs the field {field.name!r}, which this one lacks")


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
