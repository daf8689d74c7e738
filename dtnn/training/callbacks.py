"""Plain functions that watch a training and may end it."""

import inspect


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
    >>> list(with_callbacks(numbers(), [lambda record: "enough"], None))
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
            command = callback(record) or command


def _one_or_two_arguments(callback, model):
    if not callable(callback):
        raise TypeError(
            f"callbacks: {callback!r} is not a function; pass functions of a record, such as `lambda record: print(record)`"
        )
    try:
        inspect.signature(callback).bind(None, None)
    except TypeError:
        return callback
    except ValueError:  # a built-in function without a signature
        return callback
    return lambda record: callback(record, model)
