"""Plain functions that watch a training and may end it."""

import inspect

from ..records import Stop


def with_callbacks(generator, callbacks, model):
    """The same generator of records; each record is also shown to the callbacks, whose answers go back into it.

    Parameters
    ----------
    generator : generator of records
        As `train` makes it.
    callbacks : sequence of functions
        Called as ``callback(record)``, or ``callback(record, model)`` if they take two arguments; what one
        returns that isn't None (a `Stop`) is sent into the generator.
    model : Model
        Given to the callbacks that want it.

    Returns
    -------
    object
        What the generator returns.

    Examples
    --------
    >>> def numbers():
    ...     while not (yield 1):
    ...         pass
    >>> list(with_callbacks(numbers(), [lambda record: Stop("enough")], None))
    [1]
    """
    callbacks = [_one_or_two_arguments(callback, model) for callback in callbacks]
    command = None
    while True:
        try:
            record = generator.send(command)
        except StopIteration as end:
            return end.value
        command = yield record
        for callback in callbacks:
            command = _answer(callback, record) or command


def _answer(callback, record):
    answer = callback(record)
    if answer is not None and not isinstance(answer, Stop):
        raise TypeError(f"callback {callback!r} returned {answer!r}; return dtnn.Stop(...) to end the training, or None")
    return answer


def _one_or_two_arguments(callback, model):
    if not callable(callback):
        raise TypeError(f"callbacks: {callback!r} is not a function; pass functions of a record, such as [print]")
    try:
        parameters = inspect.signature(callback).parameters.values()
    except ValueError:  # a built-in function without a signature
        return callback
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    return callback if len(places) < 2 else lambda record: callback(record, model)
