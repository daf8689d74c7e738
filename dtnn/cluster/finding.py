"""`Finding`: one thing that `diagnose` has looked at; and how another process is asked about it."""

import subprocess
from dataclasses import dataclass

SECONDS = 30  # for each question that another process answers
PIP = "python -m pip install"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    topic : str
    state : str
        "ok"; "warn": works, but; "error": what needs it will not work.
    text : str
        What was found.
    remedy : str
        What to do, if anything.

    Examples
    --------
    >>> print(Finding("Jupyter", "warn", "no jupyterlab", "python -m pip install jupyterlab"))
    warn   Jupyter        no jupyterlab -> python -m pip install jupyterlab
    """

    topic: str
    state: str
    text: str
    remedy: str = ""

    @property
    def ok(self):
        """Whether nothing that needs it will fail."""
        return self.state != "error"

    def __str__(self):
        return f"{self.state:6} {self.topic:14} {self.text}" + (f" -> {self.remedy}" if self.remedy else "")


def ask(command, environment=None):
    """Exit code, output and error output of a command; one that takes too long has code -1."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, env=environment, stdin=subprocess.DEVNULL, check=False
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        return -1, "", str(error)
    return done.returncode, done.stdout, done.stderr
