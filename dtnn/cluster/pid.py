"""`Pid`: a process of this host, looked after."""

import time

from . import signature

PERIOD = 0.05  # seconds between two looks at whether a process has ended


class Pid:
    """A process of this host by number and birth, so that it is not taken for a later one."""

    def __init__(self, pid, born):
        self.pid, self.born = pid, born
        self._ended, self._looked = False, 0.0

    @classmethod
    def of(cls, pid):
        """That process, which runs now."""
        return cls(pid, signature.born(pid))

    def plain(self):
        """For a file: `Processes` makes it again."""
        return {"pid": self.pid, "born": self.born}

    def has_ended(self):
        """Whether it has; looked at now and then, for it is asked very often."""
        if not self._ended and time.monotonic() - self._looked > PERIOD:
            self._ended, self._looked = not signature.lives(self.pid, self.born), time.monotonic()
        return self._ended

    def waits_for(self):
        """Nothing: it was started at once."""
        return ""
