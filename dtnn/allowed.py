"""What a setting may be: checks that fail at once, with its name, its value and the remedy."""

import difflib
import math
import operator
import os
from numbers import Real


def whole(name, value, least=0, most=None, more=""):
    """A whole number from `least` to `most`, as an int; `more` says in words what it counts.

    Raises
    ------
    TypeError, ValueError
        It is none (True isn't one), or not within these bounds.

    Examples
    --------
    >>> whole("epochs", 3)
    3
    >>> whole("epochs", "3")
    Traceback (most recent call last):
    TypeError: epochs='3': give a whole number of at least 0
    """
    wanted = f"give a whole number of at least {least}" + (f" and at most {most}" if most is not None else "") + more
    try:
        found = operator.index(None if isinstance(value, bool) else value)
    except TypeError:
        raise TypeError(f"{name}={shown(value)}: {wanted}") from None
    if found < least or (most is not None and found > most):
        raise ValueError(f"{name}={shown(value)}: {wanted}")
    return found


def number(name, value, wanted, holds=math.isfinite):
    """A number for which `holds` is true, as a float; `wanted` says in words what that is. None holds of all numbers.

    Raises
    ------
    TypeError, ValueError
        It is no number (text and True are none), or not such a one.

    Examples
    --------
    >>> number("eps", 1e-5, "a small number above 0", lambda x: 0 < x < 1)
    1e-05
    >>> number("eps", -1, "a small number above 0", lambda x: 0 < x < 1)
    Traceback (most recent call last):
    ValueError: eps=-1: give a small number above 0
    """
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}={shown(value)}: give {wanted}")
    try:
        found = float(value)
    except OverflowError:
        digits = 1 + int(value.bit_length() * math.log10(2))
        raise ValueError(f"{name} is a whole number of {digits} digits; give one that a float can hold") from None
    if holds is not None and not holds(found):
        raise ValueError(f"{name}={shown(value)}: give {wanted}")
    return found


def flag(name, value):
    """True or False.

    >>> flag("bias", 1)
    Traceback (most recent call last):
    TypeError: bias=1: give True or False
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name}={shown(value)}: give True or False")
    return value


def one_of(name, value, known, more=""):
    """One of the texts that are known; the error has the nearest, or all, and what else could be given, `more`.

    >>> one_of("mode", "strnog", ("strong", "weak"))
    Traceback (most recent call last):
    ValueError: mode='strnog' is not known; did you mean 'strong'?
    """
    there = f"{', '.join(map(repr, known))}{more}"
    if not isinstance(value, str):
        raise TypeError(f"{name}={shown(value)}: give one of {there}")
    if value not in known:
        near = difflib.get_close_matches(value.lower(), known, 1, 0.4)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {there}"
        raise ValueError(f"{name}={shown(value)} is not known; {hint}")
    return value


def path(name, value):
    """The path of a file, as text, its ``~`` the user's home; numbers, which Python takes for open files, are none.

    >>> path("path", 1)
    Traceback (most recent call last):
    TypeError: path=1: give the path of a file, such as "name" or pathlib.Path("name")
    """
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f'{name}={shown(value)}: give the path of a file, such as "name" or pathlib.Path("name")')
    found = os.path.expanduser(os.fsdecode(value))
    if not found or "\0" in found:
        raise ValueError(f"{name}={shown(value)}: no file can be called so; give another path")
    return found


def file(name, value):
    """The path of a file to be read, as text, which is there, and no folder.

    >>> file("path", ".")
    Traceback (most recent call last):
    IsADirectoryError: . can't be read: it is a folder; give the name of a file in it
    """
    found = path(name, value)
    if os.path.isdir(found):
        raise IsADirectoryError(f"{found} can't be read: it is a folder; give the name of a file in it")
    try:
        os.stat(found)
    except FileNotFoundError:
        raise FileNotFoundError(f"{found} can't be read: {_missing(found)}") from None
    except OSError:
        pass  # who opens it says why that can't be
    return found


def _missing(found):
    """Why there is no file of this path, and what is meant, perhaps."""
    folder, file = os.path.split(os.path.abspath(found))
    if not os.path.isdir(folder):
        return f"there is no folder {folder}; look whether what should write it has run, and where"
    near = difflib.get_close_matches(file, os.listdir(folder), 1) if os.access(folder, os.R_OK) else []
    hint = f"did you mean {near[0]!r}?" if near else "look whether what should write it has run, and where"
    return f"there is no such file in {folder}; {hint}"


def listed(name, value, of):
    """The items of a list, tuple or other series, as a list; `of` says in words what they are.

    >>> listed("ranks", 3, "numbers of ranks")
    Traceback (most recent call last):
    TypeError: ranks=3: give a list of numbers of ranks
    """
    if isinstance(value, str | bytes | dict) or not hasattr(value, "__iter__") or isinstance(value, type):
        raise TypeError(f"{name}={shown(value)}: give a list of {of}")
    return list(value)


def shown(value):
    """The value as it would be written, cut where it is long.

    >>> shown("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... (str)"
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a whole number of more digits than Python writes, or an object of the user's that can't tell
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:60]}... ({type(value).__name__})"
