"""`Keeping`: when a panel puts its present picture into what was displayed, so that a saved notebook has the last one."""

import asyncio

from .panel import begin

KEPT = 1.5  # seconds after the last change until a notebook that is saved has the picture


class Keeping:
    """Has a `Panel` keep its picture a while after the last change, since what is shown is shown anew then.

    Parameters
    ----------
    panel : Panel
        One that was never displayed keeps nothing.
    busy : callable, optional
        While ``busy()`` is true the picture is not yet the last one.
    """

    def __init__(self, panel, busy=lambda: False):
        self.panel, self.busy, self._task = panel, busy, None

    def soon(self):
        """There was a change; of several that follow each other only the last counts."""
        self.not_yet()
        self._task = begin(self._keep()) if self.panel.displayed else None

    def not_yet(self):
        """It is changing; `soon` will be called."""
        if self._task is not None:
            self._task.cancel()

    async def _keep(self):
        await asyncio.sleep(KEPT)
        while self.busy():
            await asyncio.sleep(KEPT)
        self.panel.keep_picture()
