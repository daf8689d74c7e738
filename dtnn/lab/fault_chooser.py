"""`FaultChooser`: what is to be injected into a run: a slow rank, a slow link."""

import contextlib

from .. import inject
from . import calls
from .chooser import Chooser

FAULTS = {"straggler": inject.straggler, "link": inject.link}
SEEN = {"link": {"latency": "0.001", "bandwidth": "125e6"}}  # 1 ms and 1 Gbit/s: a fault that can be seen
NOTHING = "This injects nothing: give a latency above 0 s, a bandwidth (125e6 bytes a second are 1 Gbit/s), or a factor above 1."


class FaultChooser(Chooser):
    """A choice of the faults that `dtnn.inject` has, or of none.

    Parameters
    ----------
    changed : callable
        Called without arguments after every change.
    """

    def __init__(self, changed=None):
        super().__init__("injected", {"nothing": None, **FAULTS}, SEEN, changed=changed)

    def injected(self):
        """The fault, while a run is begun, as a context."""
        return calls.read(self.source, FAULTS) if self.source else contextlib.nullcontext()

    def check(self, ranks):
        """Say below the form what is wrong with it on so many ranks."""
        if self.check_form() and self.source:
            self.wrong.say(_wrong_fault(calls.read(self.source, FAULTS), ranks))


def _wrong_fault(injection, ranks):
    """What is wrong with a fault on so many ranks: that it does nothing, or that there is no such rank; "" if nothing."""
    slow = injection.settings.get("slow") or {}
    if injection.text == "nothing" or (slow and set(slow.values()) == {1}):
        return NOTHING
    try:
        with injection:
            inject.affected(len, ranks)
    except ValueError as error:
        return error
    return ""
