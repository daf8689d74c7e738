"""Plain functions that watch a training and may end it."""

import inspect

from ..allowed import shown
from ..commands import listed
from ..sentence import note


def with_callbacks(generator, callbacks, model):
    """The same generator of records; each record is also shown to the callbacks, whose answers go back into it.

    Parameters
    ----------
    generator : generator of records
        As `train` makes it.
    callbacks : sequence of functions
        Called as ``callback(record)``, or ``callback(record, model)`` if they take two arguments; what one returns that isn't
        None (a `Stop`, or another of `dtnn.commands`) is sent into the generator, with what is sent from outside.
    model : Model
        Given to the callbacks that want it.

    Returns
    -------
    object
        What the generator returns.

    Examples
    --------
    >>> from dtnn import Stop
    >>> def numbers():
    ...     while not (yield 1):
    ...         pass
    >>> list(with_callbacks(numbers(), [lambda record: Stop("enough")], None))
    [1]
    """
    if not isinstance(callbacks, list | tuple):
        raise TypeError(f"callbacks={shown(callbacks)}: give a list of functions of a record, such as [print]")
    callbacks = [(callback, _one_or_two_arguments(callback, model)) for callback in callbacks]
    commands = []
    while True:
        try:
            record = generator.send(commands[0] if len(commands) == 1 else commands or None)
        except StopIteration as end:
            return end.value
        commands = listed((yield record))
        if record is not None:  # a training that pauses tells nothing, and asks for commands all the same
            for callback, call in callbacks:
                commands += _answer(callback, call, record)


def called(callback):
    """How a user would call a callback: by its name, or where it has none by its line.

    >>> def tell(record):
    ...     pass
    >>> called(tell), called([].append), called(lambda record: None)
    ('tell', 'list.append', 'lambda of line 1')
    """
    name = getattr(callback, "__qualname__", None)
    if not isinstance(name, str):
        return shown(callback)
    own = name.rpartition("<locals>.")[2]  # without that of the function around it
    return f"lambda of line {callback.__code__.co_firstlineno}" if own == "<lambda>" else own


def _answer(callback, call, record):
    try:
        answer = call(record)
    except Exception as error:
        kind = type(record).__name__
        note(error, f"raised by the callback {called(callback)}, which was given a{'n' * (kind[0] in 'AEIOU')} {kind}")
        raise
    try:
        return listed(answer)
    except TypeError:
        raise TypeError(
            f"callback {called(callback)} returned {answer!r}; return dtnn.Stop(...) to end the training, another one of "
            "dtnn.commands, such as Rate(0.001), or None"
        ) from None


def _one_or_two_arguments(callback, model):
    if not callable(callback):
        raise TypeError(f"callbacks: {callback!r} is not a function; pass functions of a record, such as [print]")
    try:
        parameters = [*inspect.signature(callback).parameters.values()]
    except ValueError:  # a built-in function without a signature
        return callback
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    starred = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    optional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(places) > 2 or not (optional or starred):
        raise TypeError(
            f"callbacks: {called(callback)} takes {len(places)} arguments; it is called with a record, or with a record and the "
            "model: def tell(record): ..."
        )
    return callback if len(places) < 2 else lambda record: callback(record, model)
