"""The answer to a record that ends a training."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stop:
    """Not a record but an answer to one: end the training, on all ranks after the same step.

    Returned by a callback, or sent into the generator of a job; `text` says why and is kept in the `Finish` record.

    Examples
    --------
    >>> def good_enough(record):
    ...     if getattr(record, "metrics", {}).get("val_accuracy", 0) > 0.99:
    ...         return Stop("99 % reached")
    """

    text: str = "stopped"

    def __post_init__(self):
        check_text(self, "text", "99 % reached")


def check_text(command, name, example):
    """Raise a `TypeError` unless a command's field is text: it travels, and on its way nobody could be told.

    >>> check_text(Stop("enough"), "text", "99 % reached")
    """
    value = getattr(command, name)
    if not isinstance(value, str):
        raise TypeError(f"{type(command).__name__}({name}={value!r}): give text, such as {example!r}")
