"""What an engine keeps of its run for a client that comes later: all it has told, bounded, and how the run ended.

Only clusters that may outlive their client keep it.  What is told travels to the client alone that asked for the run, so another
one asks each engine for what it has kept, again and again.
"""

import pickle

KEPT = 20_000_000  # bytes of batches that an engine keeps
PORTION = 1_000_000  # bytes of batches in one answer
LARGE = 10_000  # bytes of a record that is given up first
THINNED = ("Step", "Ledger", "Note")  # of these every second one may go
WHOLE = ("Start", "Place", "Epoch", "Finish")  # these stay, however large


class Kept:
    """The batches of records and text that a run has told here, in order.

    Parameters
    ----------
    number : int
        Of the run; 0 for none.
    about : list
        Its name, and whether it takes commands.
    limit : int
        Bytes; when they are reached the older half is thinned. 0 keeps nothing.

    Attributes
    ----------
    outcome : tuple or None
        What the engine answered when the run had ended.

    Examples
    --------
    >>> kept = Kept(1, ["train", True], 1000)
    >>> kept.put(b"first"), kept.put(b"second")
    (None, None)
    >>> kept.since(1)
    [b'second']
    """

    def __init__(self, number=0, about=(), limit=0):
        self.number, self.about, self.limit, self.outcome = number, list(about), limit, None
        self._batches, self._bytes = [], 0

    def put(self, batch):
        """Keep one more batch; makes room where there is too little of it."""
        if self.limit:
            self._batches.append(batch)
            self._bytes += len(batch)
            if self._bytes > self.limit:
                self._thin()

    def end(self, outcome):
        """The run has ended with this answer."""
        self.outcome = outcome if self.limit else None

    def since(self, first):
        """Batches from the `first` on, as many as one answer takes."""
        taken, size = [], 0
        for batch in self._batches[first:]:
            taken.append(batch)
            size += len(batch)
            if size > PORTION:
                break
        return taken

    def _thin(self):
        """Give up what is large, and every second of the steps: of the older half, of all, and at last whole batches.

        Each batch keeps its place.
        """
        count, enough = len(self._batches), 0.8 * self.limit
        for part, thinned in ((count // 2, _thinned), (count, _thinned), (count, _emptied)):
            for place in range(part):
                if self._bytes > enough or thinned is _thinned:
                    before, after = len(self._batches[place]), thinned(self._batches[place])
                    self._batches[place] = after
                    self._bytes += len(after) - before
            if self._bytes <= enough:
                break


def _emptied(batch):
    return pickle.dumps([])


def _thinned(batch):
    """
    >>> from dtnn.records import Note
    >>> batch = [("record", pickle.dumps(Note(0, 0.0, str(number)))) for number in range(4)]
    >>> len(pickle.loads(_thinned(pickle.dumps(batch))))
    2
    """
    left, count = [], 0
    for kind, data in pickle.loads(batch):
        if kind == "record":
            count, name = count + 1, _name(data)
            if (len(data) > LARGE and name not in WHOLE) or (count % 2 == 0 and name in THINNED):
                continue
        left.append((kind, data))
    return pickle.dumps(left)


def _name(data):
    try:
        return type(pickle.loads(data)).__name__
    except Exception:
        return ""
