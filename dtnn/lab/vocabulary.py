"""`Vocabulary`: the layers that a builder knows by name, and how text becomes one of them."""

import ast
import inspect

from .. import nn
from . import calls
from .fields import INITIALISERS


def is_layer(thing):
    """Whether it is a class of layers."""
    return inspect.isclass(thing) and issubclass(thing, nn.Layer) and thing is not nn.Layer


LAYERS = {name: getattr(nn, name) for name in nn.__all__ if is_layer(getattr(nn, name))}
FUNCTIONS = {name: getattr(nn.init, name) for name in INITIALISERS}


class Vocabulary:
    """dtnn's layers, and those of the user's own in a namespace, which is looked at anew each time.

    Parameters
    ----------
    namespace : dict
        Such as ``globals()``.

    Examples
    --------
    >>> Vocabulary({}).read("Linear(10, bias=True)")
    Linear(10)
    """

    def __init__(self, namespace):
        self.namespace = namespace

    def known(self):
        """The layers that may be used, by name."""
        return LAYERS | {name: thing for name, thing in list(self.namespace.items()) if is_layer(thing) and name[0] != "_"}

    def read(self, text):
        """The layer that a text stands for, not built; raises what its constructor raises."""
        functions = {name: thing for name, thing in list(self.namespace.items()) if inspect.isfunction(thing)}
        layer = calls.read(text, self.known(), functions | FUNCTIONS)
        if not isinstance(layer, nn.Layer):
            raise ValueError(f"{text.strip()[:60]} is no layer; write a call, such as Linear(10)")
        return layer

    def written(self, text):
        """The shortest text for the same layer; the text itself, on one line, where the layer can't say."""
        layer = self.read(text)
        own = repr(layer)
        try:
            if repr(self.read(own)) == own:
                return own
        except Exception:  # a repr that is no call, or not the one that makes the layer
            pass
        return ast.unparse(ast.parse(text.strip(), mode="eval"))
