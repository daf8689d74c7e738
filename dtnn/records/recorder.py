"""A list of records."""

import collections
import json

from ..allowed import shown
from .as_dict import from_dict, to_dict

FEW = 20  # records; of more there is said how many of each kind


class Recorder(list):
    """A list of records that answers questions about them.

    >>> from dtnn.records import Note
    >>> kept = Recorder([Note(0, 1.0, "a"), Note(1, 2.0, "b")])
    >>> kept.column(Note, "text")
    ['a', 'b']
    >>> kept.last(Note).text
    'b'
    >>> Recorder(kept * 50)
    <Recorder of 100 records: 100 Note>
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

    def __repr__(self):
        if len(self) <= FEW:
            return super().__repr__()
        kinds = collections.Counter(type(record).__name__ for record in self)
        return f"<Recorder of {len(self):,} records: {', '.join(f'{count:,} {kind}' for kind, count in kinds.items())}>"

    @classmethod
    def from_json(cls, text):
        """The records that `to_json` wrote."""
        try:
            listed = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            listed = None
        if not isinstance(listed, list):
            raise ValueError(f"text={shown(text)}: give a JSON list of records, as Recorder.to_json writes it")
        return cls(from_dict(values) for values in listed)
