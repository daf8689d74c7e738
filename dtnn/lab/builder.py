"""A network as a list of layers that is edited step by step: what the studio's left side does, without its widgets."""

import functools
from dataclasses import replace

from .. import nn, zoo
from ..allowed import one_of
from ..model import Model
from . import calls, edits
from .arguments import given, start, with_argument
from .given import model as checked
from .history import History
from .nested import layer_at, row_at
from .row import look
from .state import State, code_of, pasted, state_of
from .tree import misfit, rows_of, shape_before, tree
from .vocabulary import LAYERS, Vocabulary

KEPT = 500  # looks at layers that are remembered


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
    >>> builder.add("Residual")
    >>> builder.remove((2, 0, 1))  # within the Residual: of its first lane, the body, the second layer
    >>> builder.calls
    ('Flatten()', 'Linear(12)', 'Residual(Sequential(Linear(12), Linear(12)))')
    """

    def __init__(self, model=None, namespace=None):
        self.vocabulary = Vocabulary({} if namespace is None else namespace)
        self._history = History(State() if checked(model) is None else state_of(model))
        self._looks = functools.lru_cache(KEPT)(look)

    state = property(lambda self: self._history.state, doc="All that undo goes back to.")
    calls = property(lambda self: self.state.calls, doc="The Python of each layer.")
    input_shape = property(lambda self: self.state.input_shape, doc="Shape of one sample as the user writes it.")

    # ---- edits, each of which can be undone; a place is a number, or the path of a layer within layers, see `dtnn.lab.nested`

    def add(self, text, at=None):
        """Add a layer, ``"Linear(10)"`` or the name alone, before place `at`, at the end of the lane `at`, or at the end."""
        known, text = self.vocabulary.known(), calls.plain_text(text)
        path = edits.checked(self.calls, len(self.calls) if at is None else at, known, more=1)
        path = path if len(path) % 2 else (*path, len(row_at(self.calls, path, known)))
        if text.strip() in known:
            text = start(known[text.strip()], shape_before(*self._whole(), path))
        self._set(edits.added(self.calls, path, text, self.vocabulary))

    def remove(self, at):
        """Take a layer out, or a branch; of the lane ``(2, 0)`` that has to be there, its layers."""
        self._set(edits.removed(self.calls, at, self.vocabulary))

    def move(self, at, to):
        """Take a layer out and put it back so that it stands at place `to`."""
        self._set(edits.moved(self.calls, at, to, self.vocabulary))

    def duplicate(self, at):
        """The same layer, or branch, once more, behind itself."""
        self._set(edits.doubled(self.calls, at, self.vocabulary))

    def branch(self, at):
        """An empty branch more, behind the branch ``(2, 0)`` of a Concatenate."""
        self._set(edits.branched(self.calls, at, self.vocabulary))

    def replace(self, at, text):
        """Another layer in its place."""
        self._set(edits.replaced(self.calls, at, text, self.vocabulary))

    def change(self, at, name, source):
        """Set one argument of a layer, written as Python."""
        self.replace(at, with_argument(self.call(at), self.vocabulary.known(), name, source))

    def call(self, at):
        """The Python of one layer."""
        return layer_at(self.calls, edits.layer_place(self.calls, at, self.vocabulary), self.vocabulary.known())

    def arguments(self, at):
        """The arguments of a layer that are given, as Python, by name."""
        call = calls.parsed(self.call(at), "eval").body
        return given(call, self.vocabulary.known()[calls.called(call)])

    def clear(self):
        """No layers."""
        self._set([])

    def reshape(self, input_shape):
        """Another shape of input, (H, W, C) or (D,)."""
        probe = Model(nn.Flatten(), input_shape=input_shape)  # so that a wrong one is told in its words
        self._history.to(replace(self.state, input_shape=tuple(probe.input_shape)))

    def preset(self, name, classes=10):
        """The layers of a network of `dtnn.zoo`, for the present shape of input."""
        make = getattr(zoo, one_of("preset", name, zoo.__all__))
        try:
            model = make(input_shape=self.input_shape, classes=classes)
        except ValueError:  # it doesn't fit; the check says where
            model = make(classes=classes)
        self._history.to(replace(state_of(model), input_shape=self.input_shape))

    def take(self, model):
        """The layers of a `Model`."""
        if not isinstance(model, Model):
            raise TypeError(f"{model!r:.60} is no Model; paste() takes text, preset() the name of a network")
        self._history.to(state_of(model))

    def paste(self, text):
        """The layers that pasted Python describes: ``Model(...)``, ``Sequential(...)``, a list of layers, or ``zoo.lenet5()``.

        Nothing in it is executed: it is read as text, and only calls of known layers with plain values count.

        Raises
        ------
        ValueError
            There is none, or it can't be read; says which line.
        """
        self._history.to(pasted(self, text))

    def undo(self):
        """Back before the last edit."""
        self._history.undo()

    def redo(self):
        """Undo the undo."""
        self._history.redo()

    can_undo = property(lambda self: self._history.can_undo)
    can_redo = property(lambda self: self._history.can_redo)

    # ---- what comes of it

    def check(self):
        """A `Row` for each layer; the first that doesn't fit has the error, and those behind it no shape.

        Cheap: layers whose input has not changed are not looked at again.
        """
        return rows_of(*self._whole())

    def tree(self, unfolded=None):
        """A `Place` for each layer, those inside of layers behind it; of the layers at the paths `unfolded`, or of all."""
        return tree(*self._whole(), unfolded)

    def misfit(self):
        """The path of the innermost layer that doesn't fit; None if all do."""
        return misfit(*self._whole())

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
        layers, state = map(self.vocabulary.read, self.calls), self.state
        return Model(*layers, input_shape=state.input_shape, seed=state.seed, dtype=state.dtype)

    def code(self):
        """The Python that makes the same model."""
        return code_of(self.state)

    def __repr__(self):
        rows, size = self.check(), " × ".join(map(str, self.input_shape))
        count = f"{len(rows)} layer{'s' * (len(rows) != 1)}"
        head = f"Builder: {count}, input {size}, {sum(row.parameters for row in rows):,} parameters"
        return "\n".join([head, *(f"  {row.call}" for row in rows), *([self.error] if self.error else [])])

    def _set(self, listed):
        self._history.to(replace(self.state, calls=tuple(listed)))

    def _whole(self):
        """All layers, what they get, what looks at one (and remembers it, unless its class was defined anew), the vocabulary."""
        own = frozenset(self.vocabulary.known().values()) - frozenset(LAYERS.values())
        shape = *self.input_shape[-1:], *self.input_shape[:-1]
        return self.calls, shape, lambda call, shape: self._looks(self.vocabulary.read, call, shape, own), self.vocabulary
