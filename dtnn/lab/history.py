"""`History`: the present state of something that is edited, and the way back."""

KEPT = 500  # steps back


class History:
    """A state, those before it, and those that were undone.

    Examples
    --------
    >>> history = History("a")
    >>> history.to("b")
    >>> history.undo()
    >>> history.state, history.can_undo, history.can_redo
    ('a', False, True)
    """

    def __init__(self, state):
        self.state, self._past, self._future = state, [], []

    can_undo = property(lambda self: bool(self._past))
    can_redo = property(lambda self: bool(self._future))

    def to(self, state):
        """Another state; nothing can be redone then. The same one is none."""
        if state != self.state:
            self._past, self._future = [*self._past[-KEPT:], self.state], []
            self.state = state

    def undo(self):
        """Back before the last edit."""
        if self._past:
            self._future.append(self.state)
            self.state = self._past.pop()

    def redo(self):
        """Undo the undo."""
        if self._future:
            self._past.append(self.state)
            self.state = self._future.pop()
