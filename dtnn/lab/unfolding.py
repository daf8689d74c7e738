"""`Unfolding`: which layer of a list is opened, of which the inside is seen, and where these are after an edit."""

from .nested import after

KEPT = 500  # states that are remembered


class Unfolding:
    """What the user has opened in a list of layers. Paths as in `dtnn.lab.nested`.

    Attributes
    ----------
    opened : tuple or None
        Path of the layer whose controls are seen.
    unfolded : frozenset of tuple
        Paths of the layers whose inside is seen.

    Examples
    --------
    >>> seen = Unfolding()
    >>> seen.click((2,), holds=True)
    >>> seen.edited(put=(0,))
    >>> seen.opened, sorted(seen.unfolded)
    ((3,), [(3,)])
    """

    def __init__(self):
        self.opened, self.unfolded, self._kept = None, frozenset(), {}

    def click(self, path, holds):
        """Open a layer, or close it; one with layers inside is unfolded first, and folded when it is closed."""
        opened = self.opened == path
        self.opened = None if opened else path
        if holds:
            self.unfolded = self.unfolded - {path} if opened else self.unfolded | {path}

    def reveal(self, path):
        """Unfold all that a place is in."""
        self.unfolded |= {path[:length] for length in range(1, len(path), 2)}

    def edited(self, taken=None, put=None):
        """What was at one place was taken out, then something put in at another: what is open is somewhere else."""
        self.opened = self.opened and after(self.opened, taken, put)
        self.unfolded = frozenset(filter(None, (after(path, taken, put) for path in self.unfolded)))

    def keep(self, state):
        """Remember what is open now, for when the network is in this state again."""
        self._kept[state] = self.opened, self.unfolded
        if len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]

    def recall(self, state):
        """What was open in this state; nothing in a new one."""
        self.opened, self.unfolded = self._kept.get(state, (None, frozenset()))

    def only(self, holding, layers):
        """Forget what is not there, or holds no layers, any more."""
        self.unfolded &= frozenset(holding)
        self.opened = self.opened if self.opened in layers else None
