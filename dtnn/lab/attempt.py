"""`Attempt`: a button for work that takes a while, which a second click ends."""

import asyncio
import threading

from .looks import button
from .once import OTHER
from .panel import begin
from .trial import Ended


class Attempt:
    """A button whose work goes on in a thread; meanwhile it says "stop", afterwards what it said before.

    Parameters
    ----------
    word, tip : str
        What the button says.
    work : callable
        ``work(ending)``, which returns, or raises `Ended`, when the event `ending` is set.
    failed : callable
        ``failed(error)``: what went wrong, None where it was ended.
    """

    def __init__(self, word, tip, work, failed):
        self.word, self._work, self._failed, self._ending = word, work, failed, None
        self.button = button(word, self.click, tip, within=OTHER)

    @property
    def busy(self):
        """Whether the work goes on."""
        return self._ending is not None

    def click(self):
        """Begin the work, or end it; without an event loop it is done when this returns."""
        if self.busy:
            self.end()
            return None
        self._ending, self.button.description = threading.Event(), "■ stop"
        return begin(self._attend())

    def end(self):
        """Ask it to end."""
        if self.busy:
            self._ending.set()

    async def _attend(self):
        try:
            await asyncio.to_thread(self._work, self._ending)
        except Ended:
            self._failed(None)
        except Exception as error:
            self._failed(error)
        finally:
            self._ending, self.button.description = None, self.word
