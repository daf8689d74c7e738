"""`StrategyChooser`: how replicas are kept together, with dtnn's strategies and those of the user's own."""

import asyncio
import dataclasses

from .. import known, parallel
from ..comm.collectives import ALGORITHMS, check_allreduce
from .chooser import Chooser
from .looks import Message
from .own import called, own_allreduces, own_strategies
from .panel import begin, within

KINDS = ("AllReduce", "Sharded", "Accumulate", "LocalSGD", "Gossip", "Compressed", "ParameterServer")
STRATEGIES = {name: getattr(parallel, name) for name in KINDS}
PATIENCE = 5.0  # seconds that an all-reduce of the user's own may take to be tried
MOST = 5  # ranks on which it is tried


class StrategyChooser(Chooser):
    """A choice of dtnn's strategies, and of the notebook's: variables that hold one, and classes of them.

    Where an all-reduce is chosen, functions ``my_allreduce(comm, array)`` of the notebook stand among the algorithms. One that
    is chosen is tried on ranks that are threads (`dtnn.comm.collectives.check_allreduce`), and what is wrong is said here.

    Parameters
    ----------
    names : dict
        The notebook's variables, looked at anew by `refresh`.
    given : Strategy, function or str, optional
        To begin with.
    changed : callable
        Called without arguments after every change.
    """

    def __init__(self, names, given=None, changed=None):
        self._names, self._given, self._functions, self._right = names, {}, {}, None
        self.message = Message()
        super().__init__("strategy", STRATEGIES, changed=changed)
        self.box.children = (*self.box.children, self.message.box)
        if given is not None:
            self._begin_with(known.strategy(given))
        self.refresh()

    def _begin_with(self, strategy):
        """Choose what was handed over: a form with its settings where dtnn has that kind, else the object itself."""
        kind = next((name for name, cls in STRATEGIES.items() if type(strategy) is cls), None)
        settings = {field.name: getattr(strategy, field.name) for field in dataclasses.fields(strategy)} if kind else {}
        if kind is None:
            name = called(strategy) if hasattr(strategy, "__name__") else type(strategy).__name__
            self._given = {name: strategy}
            self.refresh()
            self.choice.value = name
            return
        function = settings.get("algorithm")
        if callable(function):
            self._functions = {called(function): function}
            settings["algorithm"] = Name(called(function))
        self._sources = {kind: {name: repr(value) for name, value in settings.items()}}
        self.choice.value = kind
        self._chosen(None)

    # ---- what there is

    def refresh(self):
        """A cell may have made a strategy, or an all-reduce."""
        own = self._given | own_strategies(self._names)
        self.known = {**{name: thing for name, thing in own.items() if name not in STRATEGIES}, **STRATEGIES}
        options = [(name if name in STRATEGIES else f"{name} (yours)", name) for name in (*STRATEGIES, *self.known)]
        options = list(dict(options).items())
        if list(self.choice.options) != options:
            chosen = self.choice.value
            self.choice.unobserve(self._chosen, "value")
            self.choice.options = options
            self.choice.value = chosen if chosen in self.known else KINDS[0]
            self.choice.observe(self._chosen, "value")
            if self.choice.value != chosen:
                self._chosen(None)
        self._offer()
        self._try()

    @property
    def functions(self):
        """All-reduces of the user's own, by name."""
        return self._functions | own_allreduces(self._names)

    @property
    def names(self):
        """What may be named in a source without being called."""
        return self.functions | {name: thing for name, thing in self.known.items() if not isinstance(thing, type)}

    def _chosen(self, change):
        super()._chosen(change)
        self._offer()

    def _offer(self):
        """The user's own among the algorithms of an all-reduce."""
        if self.form is None or "algorithm" not in self.form.controls or self.choice.value not in STRATEGIES:
            return
        own = self.functions
        options = [(f"{name} (yours)", Name(name)) for name in own]
        self.form.offer("algorithm", options + [(name, name) for name in ALGORITHMS if name not in own])

    # ---- whether it is right

    def own(self):
        """Name and function of the chosen all-reduce, if it is one of the user's own; else None."""
        control = self.form.controls.get("algorithm") if self.form else None
        function = self.functions.get(control.value) if control is not None else None
        return function and (str(control.value), function)

    def check(self, strategy):
        """Raise a `ValueError` if a strategy sums with a wrong function of the user's own; what was right is not tried again."""
        function = getattr(getattr(strategy, "strategy", strategy), "algorithm", None)
        if callable(function) and function is not self._right:
            _checked(called(function), function)
            self._right = function

    def _told(self, *_):
        super()._told()
        self._try()

    def _try(self):
        """Try the chosen one, in a thread, and say what is wrong with it."""
        own = self.own()
        if own is None:
            self.message.say("")
        elif self._right is not own[1]:
            begin(self._tried(own))

    async def _tried(self, own):
        try:
            await asyncio.to_thread(_checked, *own)
        except ValueError as error:
            wrong = error
        else:
            wrong, self._right = "", own[1]
        if self.own() == own:  # else another was chosen meanwhile
            self.message.say(wrong)


class Name(str):
    """A name that stands in Python as it is."""

    __repr__ = str.__str__


def _checked(name, function):
    try:
        within(PATIENCE, check_allreduce, function, range(1, MOST + 1))
    except Exception as error:
        kind = "" if isinstance(error, AssertionError | TimeoutError) else f"{type(error).__name__}: "
        raise ValueError(f"{name} is no all-reduce: {kind}{error}") from error
