"""A run in one line of words: for the top of the picture, the text below it and the terminal's bar."""

import time

from ..phrases import counted, ranks, seconds

STATES = ("waiting", "running", "paused", "done", "stopped", "interrupted", "failed")
WORDS = {"running": "training"}
STALE = 1.0  # seconds without a step after which the line says what the run is doing


def state(story, told=None):
    """The run's state: what its owner tells, else what its records tell.

    >>> from dtnn.plots.story import Story
    >>> state(Story())
    'waiting'
    """
    if told is not None and not (told == "running" and story.step is None):
        return told
    if story.finish:
        return story.finish.reason
    return "paused" if story.pause else "running" if story.step else "waiting"


def headline(story, told=None, waiting_for="", now=None):
    """What to know of a run, in the order of its importance.

    Parameters
    ----------
    story : Story
    told : str, optional
        The state as the run's owner knows it.
    waiting_for : str, optional
        What the owner is waiting for.
    now : float, optional
        The present moment (seconds since 1970).

    Returns
    -------
    (str, list of str)
        The state in a word, and the rest of the line in parts.

    Examples
    --------
    >>> from dtnn.plots.story import Story
    >>> headline(Story(), "waiting", "2 engines")
    ('waiting', ['for 2 engines'])
    """
    now, word = time.time() if now is None else now, state(story, told)
    if word == "waiting":
        return word, _waited_for(story, waiting_for, now)
    parts = [_epochs(story, word), *_numbers(story)]
    if word == "paused":
        parts.append("run.resume() goes on")
    if word == "running" and now - story.newest > STALE:
        parts.append(_busy_with(story, waiting_for, now))
    return WORDS.get(word, word), [part for part in parts if part]


def _waited_for(story, waiting_for, now):
    what = (waiting_for or (story.note.text if story.note else "") or "the first step").removeprefix("waiting ")
    parts = ["for the first step", what] if what.startswith("injected: ") else [what if _is_doing(what) else f"for {what}"]
    since = story.note.time if story.note and not waiting_for else story.start.time if story.start else now
    return parts + ([seconds(now - since)] if now - since >= STALE else [])


def _is_doing(what):
    """Whether the words already say what happens ("compiling ..."), and need no "for"."""
    return what.startswith("for ") or what.split()[0].endswith("ing")


def _busy_with(story, waiting_for, now):
    told = story.note and story.step and story.note.time >= story.step.time
    what = waiting_for or (story.note.text if told else "no news")
    return f"{what} for {seconds(now - story.newest)}"


def _epochs(story, word):
    of = f" of {story.settings['epochs']:,}" if story.settings.get("epochs") else ""
    ended = len(story.epochs) and story.epochs[-1].epoch
    if word == "running":
        return f"epoch {story.step.epoch:,}{of}"
    if word == "done" and ended:
        return f"{ended} epoch{'s' * (ended != 1)}{_took(story)}"
    if word == "paused" and story.pause and story.pause.phase:
        return f"in step {story.pause.step:,}, after {story.pause.phase}"
    if story.step is None:
        return "before the first step"
    return f"at step {story.step.step:,}, epoch {story.step.epoch:,}{of}"


def _took(story):
    return f" in {seconds(story.newest - story.start.time)}" if story.start else ""


def _numbers(story):
    if story.step:
        loss = story.latest("loss")
        yield f"loss {number(story.step.loss if loss is None or story.finish is None else loss)}"
    if story.metric:
        checked = story.latest(f"val_{story.metric}")
        value = story.latest(story.metric) if checked is None else checked
        name = f"validation {story.metric}" if checked is not None else story.metric
        yield f"{name} {share(value) if is_share(story.metric) else number(value)}"
    if story.rate:
        yield f"{story.rate:,.0f} samples/s"
    if story.ranks:
        yield ranks(story.ranks)
    if before := story.settings.get("goes_on_after_steps"):
        yield f"after {counted(before, 'earlier step')}"


def is_share(metric):
    """Whether a metric lies between 0 and 1 and is best read in per cent."""
    return metric.removeprefix("val_") in ("accuracy", "precision", "recall", "f1", "top5_accuracy")


def number(value):
    """Three digits that matter.

    >>> number(0.02345), number(12.345), number(float("nan")), number(2.0)
    ('0.0234', '12.3', 'nan', '2.00')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return str(float(value))
    text = f"{value:#.3g}"
    return text.rstrip(".")


def share(value):
    """Per cent with one decimal.

    >>> share(0.9615)
    '96.2 %'
    """
    return f"{100 * value:.1f} %"
