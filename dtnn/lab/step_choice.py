"""`StepChoice`: which of the steps that were looked at closely is shown."""

import ipywidgets as widgets

LAST, MIDDLE = "the last one", "one of middle length"
STEPS = 200  # that can be chosen


class StepChoice:
    """A list of steps, the last one first; before the first, the last one and one of middle length can be chosen.

    Parameters
    ----------
    changed : callable
        Called without arguments when somebody chooses; not when the list is changed from here.
    """

    def __init__(self, changed):
        tip = "which of the steps that were looked at closely"
        self.control = widgets.Dropdown(options=[LAST, MIDDLE], layout={"width": "200px"}, tooltip=tip).add_class("dtnn-of-step")
        self._quiet = False
        self.control.observe(lambda _: self._quiet or changed(), "value")

    def forget(self):
        """It is another run now, in which a step of that number is another one."""
        if self.control.value not in (LAST, MIDDLE):
            self.offer([], LAST)

    def of(self, timeline):
        """The chosen step of a `Timeline` that has some."""
        chosen = {LAST: timeline.steps[-1], MIDDLE: timeline.typical}.get(self.control.value)
        return timeline.step(self.control.value) if chosen is None else chosen

    def offer(self, steps, chosen=None):
        """The steps that can be chosen; what is chosen stays, if nothing else is said."""
        options = [(LAST, LAST), (MIDDLE, MIDDLE)]
        options += [(f"step {step.step:,}: {1e3 * step.seconds:.3g} ms", step.step) for step in steps[: -STEPS - 1 : -1]]
        chosen = chosen or self.control.value
        if chosen not in [value for _, value in options]:  # older than those that are offered
            options.append((f"step {chosen:,}", chosen))
        self._quiet = True
        try:
            self.control.options = options
            self.control.value = chosen
        finally:
            self._quiet = False
