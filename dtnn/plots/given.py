"""What a picture of a run may be drawn from."""

from dataclasses import is_dataclass

from ..allowed import shown


def records_of(given):
    """A run's records: what has them as `records` (`Run`, `History`), or a list of them.

    Raises
    ------
    TypeError
        It is neither.

    Examples
    --------
    >>> records_of("run.json")
    Traceback (most recent call last):
        ...
    TypeError: 'run.json': give a run, or its records, as run.records; a saved one by dtnn.cluster.Run.load(path)
    """
    records = getattr(given, "records", given)
    if not isinstance(records, list | tuple) or not all(map(is_dataclass, records[:1])):
        raise TypeError(f"{shown(given)}: give a run, or its records, as run.records; a saved one by dtnn.cluster.Run.load(path)")
    return records
