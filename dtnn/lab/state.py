"""What a builder holds at one moment, and how it is read off a model or off pasted Python."""

import ast
from dataclasses import dataclass, replace

from .. import nn, zoo
from ..description import code
from ..model import Model
from ..nn.tree import named_layers
from . import calls


@dataclass(frozen=True)
class State:
    """What undo goes back to."""

    calls: tuple = ()
    input_shape: tuple = (28, 28, 1)
    dtype: str = "float32"
    seed: int = 0


def state_of(model):
    """What a model consists of, or why that can't be told."""
    layers = [layer for _, layer, _ in named_layers(model.net)]
    if len({id(layer) for layer in layers}) < len(layers) or len(set(map(id, model.layers))) < len(model.layers):
        raise ValueError("a layer of this model is used twice; the builder would make two of it: build this one in code")
    written = tuple(map(repr, model.layers))
    for call in written:
        try:
            ast.parse(call, mode="eval")
        except SyntaxError:
            raise ValueError(f"the layer {call[:60]} doesn't say which call makes it; give its class a __repr__") from None
    return State(written, tuple(model.input_shape), model.dtype, model.seed)


def code_of(state):
    """The Python that makes the model."""
    more = {"seed": state.seed} if state.seed else {}
    more |= {"dtype": state.dtype} if state.dtype != "float32" else {}
    return code(map(_Written, state.calls), input_shape=state.input_shape, **more)


class _Written(str):
    """A call whose repr is itself, for `description.code`."""

    __repr__ = str.__str__


def pasted(builder, text):
    """The network that pasted Python describes, see `Builder.paste`."""
    for node in reversed(calls.parsed(text).body):
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return):
            state = _state_in(builder, value)
            if state is not None:
                return state
    raise ValueError("there is no network in this: paste a call of Model(...) or Sequential(...), or a list of layers")


def _state_in(builder, node):
    """The network in an expression; None if there is none."""
    if isinstance(node, ast.List | ast.Tuple) and node.elts:
        return replace(builder.state, calls=_written_all(builder, node.elts))
    name = calls.called(node) if isinstance(node, ast.Call) else None
    if name == "Sequential":
        return replace(builder.state, calls=_written_all(builder, node.args))
    if name in zoo.__all__:
        return state_of(calls.evaluate(node, {name: getattr(zoo, name)}, {}))
    if name != "Model":
        return _single(builder, node, name)
    settings = {keyword.arg: calls.evaluate(keyword.value, {}, {}) for keyword in node.keywords}
    strange = sorted(str(name) for name in settings.keys() - {"input_shape", "seed", "dtype"})
    if strange:
        raise ValueError(f"{calls.where(node)}Model has no setting {strange[0]!r}; there are input_shape, seed and dtype")
    probe = Model(nn.Flatten(), **settings)  # so that wrong settings are told in its words
    return State(_written_all(builder, node.args), probe.input_shape, probe.dtype, probe.seed)


def _single(builder, node, name):
    """A layer alone."""
    return replace(builder.state, calls=_written_all(builder, [node])) if name in builder.vocabulary.known() else None


def _written_all(builder, nodes):
    written = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            raise ValueError(f"{calls.where(node)}{calls.shown(node)}: write the layers out, one call each")
        try:
            written.append(builder.vocabulary.written(ast.unparse(node)))
        except (ValueError, TypeError) as error:
            raise type(error)(f"{calls.where(node)}{error}") from error
    return tuple(written)
