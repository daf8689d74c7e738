"""A network as a list of layers that is edited step by step: what the studio's left side does, without its widgets."""

import ast
import functools
from dataclasses import replace
from numbers import Integral

from .. import nn, zoo
from ..description import code
from ..model import Model
from ..nn.parameters import named_layers
from . import calls
from .arguments import given, start, with_argument
from .given import choice
from .given import model as checked
from .row import Row, look
from .state import State, pasted, state_of
from .vocabulary import LAYERS, Vocabulary

KEPT = 500  # looks at layers, and steps back, that are remembered


class Builder:
    """A list of layers to which one adds, from which one takes away, and which says at once what fits.

    Parameters
    ----------
    model : Model, optional
        To begin with.
    namespace : dict, optional
        Where layers of the user's own are found by name, such as ``globals()``; looked at anew each time.

    Examples
    --------
    >>> builder = Builder()
    >>> builder.add("Flatten()")
    >>> builder.add("Linear(10)")
    >>> builder.change(1, "features", "12")
    >>> [(row.call, row.shape, row.parameters) for row in builder.check()]
    [('Flatten()', (784,), 0), ('Linear(12)', (12,), 9420)]
    >>> builder.undo()
    >>> builder.calls
    ('Flatten()', 'Linear(10)')
    """

    def __init__(self, model=None, namespace=None):
        self.vocabulary = Vocabulary({} if namespace is None else namespace)
        self.state, self._past, self._future = State(), [], []
        self._looks = functools.lru_cache(KEPT)(look)
        if checked(model) is not None:
            self.state = state_of(model)

    calls = property(lambda self: self.state.calls, doc="The Python of each layer.")
    input_shape = property(lambda self: self.state.input_shape, doc="Shape of one sample as the user writes it.")

    # ---- edits, each of which can be undone

    def add(self, text, at=None):
        """Add a layer, ``"Linear(10)"`` or the name alone, before place `at` or at the end."""
        known, text = self.vocabulary.known(), calls.plain_text(text)
        text = start(known[text.strip()]) if text.strip() in known else text
        at = len(self.calls) if at is None else self._place(at, len(self.calls))
        self._set([*self.calls[:at], self.vocabulary.written(text), *self.calls[at:]])

    def remove(self, index):
        """Take a layer out."""
        index = self._place(index)
        self._set([*self.calls[:index], *self.calls[index + 1 :]])

    def move(self, index, to):
        """Take a layer out and put it back so that it stands at place `to`."""
        rest = list(self.calls)
        call = rest.pop(self._place(index))
        rest.insert(self._place(to), call)
        self._set(rest)

    def duplicate(self, index):
        """The same layer once more, behind itself."""
        call = self.calls[self._place(index)]
        self._set([*self.calls[: index + 1], call, *self.calls[index + 1 :]])

    def replace(self, index, text):
        """Another layer in its place."""
        text, index = self.vocabulary.written(text), self._place(index)
        self._set([text if place == index else call for place, call in enumerate(self.calls)])

    def change(self, index, name, source):
        """Set one argument of a layer, written as Python."""
        self.replace(index, with_argument(self.calls[self._place(index)], self.vocabulary.known(), name, source))

    def arguments(self, index):
        """The arguments of a layer that are given, as Python, by name."""
        call = ast.parse(self.calls[self._place(index)], mode="eval").body
        return given(call, self.vocabulary.known()[calls.called(call)])

    def clear(self):
        """No layers."""
        self._set([])

    def reshape(self, input_shape):
        """Another shape of input, (H, W, C) or (D,)."""
        probe = Model(nn.Flatten(), input_shape=input_shape)  # so that a wrong one is told in its words
        self._to(replace(self.state, input_shape=tuple(probe.input_shape)))

    def preset(self, name, classes=10):
        """The layers of a network of `dtnn.zoo`, for the present shape of input."""
        make = getattr(zoo, choice("preset", name, zoo.__all__))
        try:
            model = make(input_shape=self.input_shape, classes=classes)
        except ValueError:  # it doesn't fit; the check says where
            model = make(classes=classes)
        self._to(replace(state_of(model), input_shape=self.input_shape))

    def take(self, model):
        """The layers of a `Model`."""
        if not isinstance(model, Model):
            raise TypeError(f"{model!r:.60} is no Model; paste() takes text, preset() the name of a network")
        self._to(state_of(model))

    def paste(self, text):
        """The layers that pasted Python describes: ``Model(...)``, ``Sequential(...)``, a list of layers, or ``zoo.lenet5()``.

        Nothing in it is executed: it is read as text, and only calls of known layers with plain values count.

        Raises
        ------
        ValueError
            There is none, or it can't be read; says which line.
        """
        self._to(pasted(self, text))

    def undo(self):
        """Back before the last edit."""
        if self._past:
            self._future.append(self.state)
            self.state = self._past.pop()

    def redo(self):
        """Undo the undo."""
        if self._future:
            self._past.append(self.state)
            self.state = self._future.pop()

    can_undo = property(lambda self: bool(self._past))
    can_redo = property(lambda self: bool(self._future))

    # ---- what comes of it

    def check(self):
        """A `Row` for each layer; the first that doesn't fit has the error, and those behind it no shape.

        Cheap: layers whose input has not changed are not looked at again.
        """
        own = frozenset(self.vocabulary.known().values()) - frozenset(LAYERS.values())
        shape, rows = (*self.input_shape[-1:], *self.input_shape[:-1]), []
        for number, (call, name) in enumerate(zip(self.calls, self._names()), 1):
            if shape is None:
                rows.append(Row(name, call))
                continue
            row = self._looks(self.vocabulary.read, call, shape, own)
            error = row.error and f"layer {number} ({name}, {call}): {row.error}"
            rows.append(replace(row, name=name, error=error))
            shape = row.shape
        return rows

    @property
    def error(self):
        """What keeps this from being a model, in words; "" if nothing does."""
        if not self.calls:
            return "a model needs a layer: add one, or choose a preset"
        return next((row.error for row in self.check() if row.error), "")

    def model(self):
        """A new `Model` of these layers.

        Raises
        ------
        ValueError, TypeError
            As `Model`; the text is that of `error`.
        """
        if self.error:
            raise ValueError(self.error)
        state = self.state
        return Model(*map(self.vocabulary.read, state.calls), input_shape=state.input_shape, seed=state.seed, dtype=state.dtype)

    def code(self):
        """The Python that makes the same model."""
        state = self.state
        more = {"seed": state.seed} if state.seed else {}
        more |= {"dtype": state.dtype} if state.dtype != "float32" else {}
        return code(map(_Written, state.calls), input_shape=state.input_shape, **more)

    def __repr__(self):
        rows = self.check()
        size = " × ".join(map(str, self.input_shape))
        count, parameters = f"{len(rows)} layer{'s' * (len(rows) != 1)}", sum(row.parameters for row in rows)
        head = f"Builder: {count}, input {size}, {parameters:,} parameters"
        return "\n".join([head, *(f"  {row.call}" for row in rows), *([self.error] if self.error else [])])

    # ---- inner

    def _set(self, listed):
        self._to(replace(self.state, calls=tuple(listed)))

    def _to(self, state):
        if state != self.state:
            self._past, self._future = [*self._past[-KEPT:], self.state], []
            self.state = state

    def _place(self, index, last=None):
        """A place in the list; `last` is the last possible one, where that is not the last layer's."""
        if not isinstance(index, Integral) or isinstance(index, bool):
            raise TypeError(f"place {index!r:.60} is no whole number; places are counted from 0")
        last = len(self.calls) - 1 if last is None else last
        if not 0 <= index <= last:
            places = f"give 0 to {last}" if last >= 0 else "add one first"
            raise IndexError(f"there is no layer at place {index}; there are {len(self.calls)}: {places}")
        return index

    def _names(self):
        """Each layer's name in the network; its number where one of them can't be made."""
        try:
            net = nn.Sequential(*map(self.vocabulary.read, self.calls))
        except Exception:
            return [f"layer_{number}" for number in range(1, len(self.calls) + 1)]
        names = {id(layer): name for name, layer, _ in named_layers(net)}
        return [names[id(layer)] for layer in net.layers]


class _Written(str):
    """A call whose repr is itself, for `description.code`."""

    __repr__ = str.__str__
