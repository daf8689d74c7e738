"""`sentence`: an error in one line, with what was noted on it on its way."""


def sentence(error):
    """Its kind, its own words, and in brackets what was noted (`note`): for whoever sees no traceback.

    Parameters
    ----------
    error : BaseException

    Returns
    -------
    str

    Examples
    --------
    >>> sentence(KeyError("acuracy"))
    "KeyError: 'acuracy'"
    >>> sentence(note(ZeroDivisionError(), "raised by the callback tell"))
    'ZeroDivisionError (raised by the callback tell)'
    """
    words = str(error)
    return f"{type(error).__name__}{': ' if words else ''}{words}{noted(error)}"


def noted(error):
    """What was noted on an error, in brackets and after a blank; "" if nothing was.

    >>> noted(ValueError("negative width"))
    ''
    """
    notes = [text for text in getattr(error, "__notes__", ()) if isinstance(text, str)]
    return f" ({'; '.join(notes)})" if notes else ""


def note(error, text):
    """Note on an error what is known where it passes; its kind and its words stay. Returns the error.

    A traceback shows it from Python 3.11 on, `sentence` always; it travels with the error.

    >>> import pickle
    >>> noted(pickle.loads(pickle.dumps(note(ValueError("negative"), "in layer 3"))))
    ' (in layer 3)'
    """
    if hasattr(error, "add_note"):
        error.add_note(text)
    else:
        error.__notes__ = [*getattr(error, "__notes__", ()), text]
    return error
