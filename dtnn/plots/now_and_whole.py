"""`NowAndWhole`: where each rank's time goes at present, and beside it since the run began."""

from .breakdown import Bars
from .story import NOW

ALL = 9  # columns of the legend: one line for everything there may be


class NowAndWhole:
    """The bars of two Axes side by side, with the ranks' names at the left of both and one legend below.

    Parameters
    ----------
    left, right : matplotlib Axes
        For the last seconds, and for the whole run.
    """

    def __init__(self, left, right):
        self.now = Bars(left, title=f"Each rank's time, the last {NOW:g} s", now=True, columns=ALL)
        self.whole = Bars(right, title="Each rank's time since the start", named=False, columns=0)
        self.axes = left, right

    @property
    def moving(self):
        """What changes from picture to picture while the frame stays."""
        return [*self.now.moving, *self.whole.moving]

    @property
    def shown(self):
        """What is seen, to be compared with what was."""
        return self.now.shown, self.whole.shown

    def show(self, story):
        """Move the bars to what the story tells; returns whether a frame has changed."""
        changed = [bars.show(story) for bars in (self.now, self.whole)]
        return any(changed)
