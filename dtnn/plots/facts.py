"""`facts`: what a live picture has no room for, for the line below it."""

from .headline import number
from .phase_words import phase_words


def facts(story):
    """Step, learning rate and bytes, as far as they are known.

    Parameters
    ----------
    story : Story

    Returns
    -------
    list of str

    Examples
    --------
    >>> from dtnn.plots.story import Story
    >>> from dtnn.records import Step
    >>> facts(Story([Step(1200, 1, 2.3, 64, 0.01, 0.5, 10.0)]))
    ['step 1,200', 'learning rate 0.0100']
    """
    step, first = story.step, next(iter(story.time.values()), None)
    parts = [f"step {step.step:,}", f"learning rate {number(step.lr)}"] if step else []
    if first and first["steps"] and first["bytes"]:
        parts.append(f"{first['bytes'] / first['steps'] / 1000:,.0f} kB reduced a step by each rank")
    return parts


def with_phase(story):
    """The same in a line of text, with the phase of a step that is led through its phases."""
    return " · ".join([*facts(story), *([phase_words(story.phase)] if story.phase is not None else [])])
