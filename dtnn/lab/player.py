"""`Player`: a slider over rounds, with buttons that go on by one, back by one, or from one to the next."""

import asyncio

import ipywidgets as widgets

from .looks import button
from .once import OTHER
from .panel import begin

SECONDS = 0.8  # a round, when played


class Player:
    """How many rounds are done, and what changes that.

    Parameters
    ----------
    show : callable
        Called when another round is to be seen.
    stopped : callable
        Called when playing has ended.

    Attributes
    ----------
    round : ipywidgets.IntSlider
        The number of rounds that are done.
    row : list of Widget

    Examples
    --------
    >>> player = Player(lambda: print("round", player.round.value), lambda: None)
    >>> player.begin(3)
    >>> player.forward()
    round 1
    """

    def __init__(self, show, stopped):
        self._ended, self._playing, self._ready = stopped, None, False
        self.round = widgets.IntSlider(0, 0, 1, description="done", layout={"width": "300px"})
        self.button = button("▶ play", self.play, "one round after the other", within=OTHER).add_class("dtnn-play")
        back = button("◀", self.back, "one round back").add_class("dtnn-back")
        forward = button("step ▶", self.forward, "one round on").add_class("dtnn-forward")
        self.row = [self.button, back, forward, self.round]
        self.round.observe(lambda _: show(), "value")

    @property
    def playing(self):
        """Whether it goes on by itself."""
        return self._playing is not None

    def begin(self, rounds):
        """There are so many rounds, and none is done."""
        self._ready, self.round.max, self.round.value = True, rounds, 0

    def forward(self):
        """One round on."""
        self.round.value = min(self.round.max, self.round.value + 1)

    def back(self):
        """One round back."""
        self.round.value = max(0, self.round.value - 1)

    def play(self):
        """Show one round after the other, from the first if the last is shown; a second click stops that."""
        if self.playing:
            self.cancel()
            self._stopped()
        elif self._ready:
            self.round.value = 0 if self.round.value == self.round.max else self.round.value
            self.button.description = "■ stop"
            self._playing = begin(self._play())

    def cancel(self):
        """End what goes on by itself, and tell nobody."""
        if self.playing:
            self._playing.cancel()

    async def _play(self):
        while self.round.value < self.round.max:
            await asyncio.sleep(SECONDS)
            self.forward()
        self._stopped()

    def _stopped(self):
        self._playing, self.button.description = None, "▶ play"
        self._ended()
