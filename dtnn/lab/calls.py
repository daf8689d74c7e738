"""Python text read as values: plain ones, and calls of what is known. Nothing else is ever executed."""

import ast
import difflib


def read(text, calls, names=None):
    """The value that an expression stands for.

    Parameters
    ----------
    text : str
        Numbers, texts, tuples, lists, None, True, False, and calls.
    calls : dict
        What may be called, by name; ``nn.Conv2d`` is looked up as ``Conv2d``.
    names : dict, optional
        What may be named without being called, such as a function that makes first weights.

    Raises
    ------
    ValueError
        For anything else; says which line and which part of it, and what would do.
    Exception
        What a call raises, as it would anywhere.

    Examples
    --------
    >>> from dtnn.nn import Linear
    >>> read("Linear(10, bias=False)", {"Linear": Linear})
    Linear(10, bias=False)
    >>> read("3, 5", {})
    (3, 5)
    >>> read("__import__('os').getcwd()", {})
    Traceback (most recent call last):
        ...
    ValueError: __import__('os').getcwd() is not read here: only plain values and calls of known things are
    """
    return evaluate(parsed(text, "eval").body, calls, names or {})


def plain_text(text):
    """The text, if it is one; else a `TypeError`."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r:.60} is no text; give Python as text, such as 'Linear(10)'")
    return text


def parsed(text, mode="exec"):
    """The syntax tree; what is no Python is a ValueError that says where."""
    try:
        return ast.parse(plain_text(text).strip(), mode=mode)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if "\n" in text.strip() else ""
        raise ValueError(f"{where}{(error.text or text).strip()[:80]!r} is no Python: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ValueError("this is nested too deeply to be read") from None


def evaluate(node, calls, names):
    """The value of a part of a syntax tree, see `read`."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple | ast.List):
        return (tuple if isinstance(node, ast.Tuple) else list)(evaluate(item, calls, names) for item in node.elts)
    signed = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd)
    if signed and isinstance(node.operand, ast.Constant):
        return ast.literal_eval(node)
    if isinstance(node, ast.Name):
        return looked_up(node, names | calls)
    if isinstance(node, ast.Call) and called(node):
        function = looked_up(node.func, calls)
        arguments = [evaluate(item, calls, names) for item in node.args]
        settings = {keyword.arg: evaluate(keyword.value, calls, names) for keyword in node.keywords if keyword.arg}
        if len(settings) == len(node.keywords):
            return function(*arguments, **settings)
    raise ValueError(f"{where(node)}{shown(node)} is not read here: only plain values and calls of known things are")


def called(node):
    """The name of what a call calls: the last one of ``dtnn.nn.Conv2d``; None for anything else."""
    function = node.func
    while isinstance(function, ast.Attribute):
        function = function.value
    if not isinstance(function, ast.Name):
        return None
    return node.func.id if isinstance(node.func, ast.Name) else node.func.attr


def looked_up(node, known):
    """What a name stands for; the nearest known one is in the error."""
    name = node.id if isinstance(node, ast.Name) else node.attr
    if name not in known:
        near = difflib.get_close_matches(name, known, 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else "if it is your own, run the cell that defines it"
        raise ValueError(f"{where(node)}{name!r} is not known here; {hint}")
    return known[name]


def where(node):
    """ "line 3: " for what is not in the first line."""
    return f"line {node.lineno}: " if getattr(node, "lineno", 1) > 1 else ""


def shown(node, most=60):
    """A part of a syntax tree as Python, cut where it is long."""
    text = ast.unparse(node)
    return text if len(text) <= most else text[: most - 3] + "..."
