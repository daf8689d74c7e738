"""What a function or a class can be told: one `Field` for each parameter, read off its signature and its docstring."""

import inspect
import re
import sys
from dataclasses import dataclass

from ..comm.collectives import ALGORITHMS
from ..nn import init


def _draws(thing):
    return inspect.isfunction(thing) and [*inspect.signature(thing).parameters][:1] == ["rng"]


INITIALISERS = tuple(name for name, thing in vars(init).items() if _draws(thing))
PARAMETER = r"^(\S[^:\n]*?)(?: : ([^\n]*))?((?:\n(?:[ ].*)?)*)$"  # "names : type" or "names", and the indented lines below it
ELSEWHERE = r"^(?:See|As in) `(\w+)`\.?$"  # where the words are, and the type
LIKE = r"\bsee `(\w+)`"  # in the first paragraph: whose parameters these are where nothing is said of them


@dataclass(frozen=True)
class Field:
    """One parameter.

    Parameters
    ----------
    name : str
    kind : str
        "flag", "whole", "number", "choice", or "code": anything else, written as Python.
    default : object
        `inspect.Parameter.empty` where something must be given.
    choices : tuple
        Of a choice.
    low, high : number or None
        Bounds of a number.
    help : str
        What the docstring says of it.
    starred : bool
        Whether it takes any number of arguments.
    """

    name: str
    kind: str
    default: object = inspect.Parameter.empty
    choices: tuple = ()
    low: float | None = None
    high: float | None = None
    help: str = ""
    starred: bool = False

    @property
    def needed(self):
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty and not self.starred


def fields(function, skip=()):
    """A `Field` for each parameter of a function or a class, in order.

    Types come from annotations, else from the docstring's section "Parameters", else from the default; choices from
    quoted words in the docstring; ranges from words like "in [0, 1)".

    Parameters
    ----------
    function : callable
    skip : sequence of str
        Parameters to leave out.

    Returns
    -------
    list of Field

    Examples
    --------
    >>> from dtnn.nn import Conv2d
    >>> [(f.name, f.kind) for f in fields(Conv2d)][:4]
    [('channels', 'whole'), ('kernel_size', 'code'), ('stride', 'code'), ('padding', 'code')]
    >>> next(f.choices for f in fields(Conv2d) if f.name == "algorithm")
    ('auto', 'direct', 'im2col', 'winograd')
    """
    told = documented(function)
    signature = inspect.signature(function).parameters.values()
    return [_field(p, *told.get(p.name, ("", ""))) for p in signature if p.name not in skip and p.kind is not p.VAR_KEYWORD]


def documented(function):
    """Type and words of each parameter in a numpydoc docstring; where it says "As in `X`", those of X.

    Examples
    --------
    >>> from dtnn.nn import Dropout
    >>> documented(Dropout)["rate"]
    ('float', 'Share of the numbers that become 0, in [0, 1).')
    """
    doc = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n-+\n|\Z)", doc, re.S | re.M)
    like = re.search(LIKE, doc.split("\n\n")[0])
    found = dict(_of(function, like.group(1))) if like else {}
    for names, kind, words in re.findall(PARAMETER, section.group(1) if section else "", re.M):
        for name in names.split(","):
            said = kind, " ".join(words.split())
            other = re.match(ELSEWHERE, said[1])
            name = name.strip(" *")
            found[name] = _of(function, other.group(1)).get(name, said) if other else said
    return found


def _of(function, name):
    """What the docstring of its neighbour of that name says."""
    module = sys.modules.get(getattr(function, "__module__", None))
    package = sys.modules.get(getattr(module, "__package__", None))
    other = getattr(module, name, None) or getattr(package, name, None)
    return documented(other) if callable(other) and other is not function else {}


def one_line(function):
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split()).replace("`", "")


def example(cls):
    """The first call of a class in its docstring's examples, which has values that make sense; None without one.

    Examples
    --------
    >>> from dtnn.nn import Conv2d
    >>> example(Conv2d)
    'Conv2d(6, 5, padding=2)'
    """
    for match in re.finditer(rf"\b{cls.__name__}\(", "\n".join(re.findall(r">>> (.*)", inspect.getdoc(cls) or ""))):
        text = match.string[match.start() :]
        depth = 0
        for place, letter in enumerate(text):
            depth += (letter == "(") - (letter == ")")
            if letter == ")" and not depth:
                return text[: place + 1]
    return None


def _field(parameter, told, words):
    kind, choices = _kind(parameter, told, words)
    low, high = _range(kind, parameter.default, words)
    return Field(parameter.name, kind, parameter.default, choices, low, high, words, parameter.kind is parameter.VAR_POSITIONAL)


def _kind(parameter, told, words):
    """Kind and choices."""
    default = parameter.default
    choices = _choices(default, told, words)
    if parameter.kind is parameter.VAR_POSITIONAL:
        return "code", ()
    if isinstance(default, bool) or told == "bool" or parameter.annotation is bool:
        return "flag", ()
    if choices and isinstance(default, str):
        return "choice", choices
    only_int = parameter.annotation is int or told == "int" or (not told and type(default) is int)
    if only_int and (default is parameter.empty or type(default) is int):
        return "whole", ()
    if (told.split(" or ")[0] == "float" or type(default) is float) and (default is parameter.empty or type(default) is float):
        return "number", ()
    return "code", ()


def _choices(default, told, words):
    if not isinstance(default, str):
        return ()
    for known in (INITIALISERS, ALGORITHMS):
        if default in known:
            return tuple(known)
    quoted = re.findall(r'"(\w+)"', told if told.startswith("{") else words)
    found = tuple(dict.fromkeys([default, *quoted]))
    return found if len(found) > 1 else ()


def _range(kind, default, words):
    if kind == "whole":
        return (0 if default == 0 else 1), None
    if kind == "number" and re.search(r"\b[Ii]n \[0, 1[\])]", words):
        return 0.0, 1.0
    return None, None
