"""Settings of strategies, checked: each error names the strategy, the setting and its value, and says what it may be."""

import difflib
import operator


def whole_number(strategy, name, least, words):
    """Raise unless a setting is a whole number, `least` or more."""
    kind, value = type(strategy).__name__, getattr(strategy, name)
    try:
        found = operator.index(None if isinstance(value, bool) else value)
    except TypeError:
        raise TypeError(f"{kind}({name}={value!r}): give a whole number: {words}") from None
    if found < least:
        raise ValueError(f"{kind}({name}={value!r}): give {least} or more: {words}")


def one_of(strategy, name, known):
    """Raise unless a setting is one of the known names; the error has the nearest."""
    kind, value = type(strategy).__name__, getattr(strategy, name)
    if value not in known:
        near = difflib.get_close_matches(str(value), known, 1, 0.4)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(map(repr, known))}"
        raise ValueError(f"{kind}({name}={value!r}): there is none of that name; {hint}")
