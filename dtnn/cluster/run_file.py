"""A run as one JSON file, there and back."""

import dataclasses
import json

from .. import allowed
from ..records import TYPES, Recorder, from_dict, to_dict
from ..whole_file import whole_file

FORMAT, VERSION = "dtnn run", 1
STATES = ("done", "stopped", "interrupted", "failed", "running", "paused", "waiting")


def write(run, path):
    """Write a run, whole or not at all.

    Records of other types than those of `dtnn.records`, such as a user's own, are left out.
    """
    text = json.dumps(describe(run), allow_nan=False, default=str)
    with whole_file(path) as file:
        file.write(text.encode())


def describe(run):
    """The run as plain values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": run.name,
        "ranks": run.size,
        "state": run.state,
        "story": run.story,
        "rows": run.rows,
        "records": [to_dict(record) for record in list(run.records) if type(record) in TYPES.values()],
    }


def read(path):
    """What `write` wrote, checked.

    Raises
    ------
    ValueError
        It is no run of dtnn, or damaged; the text names the file and the place.
    """
    path = allowed.file("path", path)
    try:
        with open(path, encoding="utf-8") as file:
            values = json.load(file)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no run of dtnn: it isn't JSON ({error})") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError(f"{path} is no run of dtnn: it doesn't say so; save one with run.save(path)")
    if values.get("version") != VERSION:
        raise ValueError(f"{path} has version {values.get('version')!r} of the format, this dtnn reads {VERSION}; update dtnn")
    _check(path, values)
    return {**values, "records": _records(path, values["records"])}


def _check(path, values):
    for name, kind in (("name", str), ("ranks", int), ("state", str), ("story", str), ("rows", list), ("records", list)):
        if not isinstance(values.get(name), kind) or isinstance(values[name], bool):
            raise ValueError(f"{path} is damaged: {name} is {values.get(name)!r:.40}, not a {kind.__name__}")
    if not 1 <= values["ranks"] <= 10**6:
        raise ValueError(f"{path} is damaged: ranks is {values['ranks']!r:.40}")
    if values["state"] not in STATES:
        raise ValueError(f"{path} is damaged: state is {values['state']!r:.40}, not one of {', '.join(STATES)}")
    if not all(isinstance(row, dict) for row in values["rows"]):
        raise ValueError(f"{path} is damaged: a row of its ranks is no description")


def _records(path, listed):
    records = Recorder()
    for number, values in enumerate(listed):
        try:
            records.append(_typed(from_dict(values)))
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is damaged at record {number}: {error}") from None
    return records


def _typed(record):
    """The record, if its fields have the types they should: what reads records relies on that."""
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        wanted = (int, float) if field.type is float else field.type
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise TypeError(f"its {field.name} is {value!r:.40}, not a {field.type.__name__}")
    return record
