"""`SettingsPanel`: on what, how, and on how many ranks to train."""

import html

import ipywidgets as widgets

from .. import optim
from ..cluster import Cluster
from ..data import global_batch
from ..model import Model
from . import calls
from .chooser import Chooser
from .data_chooser import DataChooser
from .fault_chooser import FaultChooser
from .fields import documented
from .looks import Message, faint
from .loss_chooser import LOSSES, LossChooser
from .panel import namespace
from .places import LAUNCHERS, place, threads
from .shard_view import ShardView
from .strategy_chooser import STRATEGIES, StrategyChooser

SCHEDULES = {
    name: getattr(optim, name) for name in ("cosine", "step", "every_n_epochs", "poly", "one_cycle", "warm_up", "plateau")
}
OPTIMIZERS = {
    name: getattr(optim, name) for name in ("SGD", "Adam", *sorted(set(optim.__all__) - {"SGD", "Adam"}, key=str.lower))
}
CALLS = {**OPTIMIZERS, **SCHEDULES, **STRATEGIES, **LOSSES}
FIRST = {"SGD": {"lr": "0.05", "momentum": "0.9"}}
HELP = {name: words for thing in (Model.fit, Cluster) for name, (_, words) in documented(thing).items()}
HELP["batch_size"] = "Samples a step: over all ranks, which share them, or on each rank, so that more ranks have a larger batch."


class SettingsPanel:
    """Data, optimizer, schedule, batch, strategy, ranks: what `fit` and `Cluster` are told.

    Parameters
    ----------
    data : Dataset, optional
        To begin with.
    cluster : Cluster, optional
        One that is there already; then ranks are not chosen here.
    changed : callable
        Called without arguments when another data set was chosen.
    strategy : Strategy, function or str, optional
        To begin with.
    names : dict, optional
        Where losses, strategies and data sets of the user's own are found; the notebook's variables without it.
    """

    def __init__(self, data=None, cluster=None, changed=None, names=None, strategy=None):
        self.cluster, self._changed, names = cluster, changed, namespace() if names is None else names
        self.loss = None
        self.data_chooser = DataChooser(data, self._other_data, names)
        self.loss = LossChooser(changed=self.show, names=names)
        self.optimizer = Chooser("optimizer", OPTIMIZERS, FIRST, changed=self.show)
        self.schedule = Chooser("schedule", {"constant rate": None, **SCHEDULES}, skip=("lr", "then"), changed=self.show)
        self.strategy = StrategyChooser(names, strategy, changed=self.show)
        self.fault = FaultChooser(changed=self.show)
        self.batch_wrong, whole = Message(), {"layout": {"width": "80px"}}
        self.epochs = widgets.BoundedIntText(5, min=0, max=10**6, **whole).add_class("dtnn-epochs")
        self.batch = widgets.BoundedIntText(64, min=1, max=10**6, **whole).add_class("dtnn-batch")
        self.of = widgets.Dropdown(options=["over all ranks", "on each rank"], layout={"width": "124px"}).add_class(
            "dtnn-batch-of"
        )
        self.ranks = widgets.BoundedIntText(2, min=1, max=64, **whole).add_class("dtnn-ranks")
        self.kept = widgets.BoundedIntText(0, min=0, max=10**6, **whole).add_class("dtnn-kept")
        self.launcher = widgets.Dropdown(options=list(LAUNCHERS), layout={"width": "124px"}).add_class("dtnn-launcher")
        self.threads = widgets.Dropdown(options=threads(), layout={"width": "100px"}).add_class("dtnn-threads")
        for control in (self.epochs, self.batch, self.of, self.ranks, self.launcher, self.threads, self.kept):
            control.observe(lambda _: self.show(), "value")
        self.shards = ShardView(self._shared)
        self.python = widgets.HTML().add_class("dtnn-python")
        self.box = (
            widgets.VBox([self.data_chooser.box, *self._rows(), self.shards.box, self.python])
            .add_class("dtnn-panel")
            .add_class("dtnn-settings")
        )
        self.loss.suit(self.data.train.y)
        self.show()

    def _rows(self):
        kept = widgets.HTML(faint("every so many steps, to look at them; 0: none"))
        rows = [
            self._row("epochs", self.epochs, about="epochs"),
            self._row("batch size", self.batch, self.of, about="batch_size"),
            self.batch_wrong.box,
            self.loss.box,
            self.optimizer.box,
            self.schedule.box,
            self.strategy.box,
            self._row("gradients kept", self.kept, kept, about="keep_gradients_every"),
        ]
        if self.cluster is not None:
            return [*rows, self._row("ranks", widgets.HTML(faint(f"{self.cluster.ranks}, of your cluster"))), self.fault.box]
        ranks = self._row("ranks", self.ranks, self.launcher, about="ranks")
        return [*rows, ranks, self._row("threads a rank", self.threads, about="threads_per_rank"), self.fault.box]

    def _row(self, name, *controls, about=""):
        """A row; what `fit` and `Cluster` say of it appears where the mouse rests."""
        tip = html.escape(HELP.get(about, ""), quote=True)
        text = f'<span class="dtnn-title{" dtnn-help" * bool(tip)}" title="{tip}">{name}</span>'
        head = widgets.HTML(text, layout={"width": "116px", "flex": "0 0 116px"})
        if about:
            controls[0].tooltip = HELP[about]
        return widgets.HBox([head, *controls], layout={"align_items": "center"})

    @property
    def data(self):
        """The chosen data set."""
        return self.data_chooser.data

    def sources(self):
        """What `fit` is told, as Python, by name."""
        arguments = dict(self.optimizer.sources)
        if self.schedule.form:
            rate = arguments.get("lr", repr(OPTIMIZERS[self.optimizer.choice.value].lr))
            more = "".join(f", {name}={text}" for name, text in self.schedule.sources.items())
            arguments["lr"] = f"{self.schedule.choice.value}({rate}{more})"
        optimizer = f"{self.optimizer.choice.value}({', '.join(f'{name}={text}' for name, text in arguments.items())})"
        size = "batch_size" if self.of.value == "over all ranks" else "batch_size_per_rank"
        told = {"epochs": repr(self.epochs.value), size: repr(self.batch.value), "optimizer": optimizer}
        told |= {} if self.loss.source == "'cross_entropy'" else {"loss": self.loss.source}
        told |= {} if self.strategy.source == "AllReduce()" else {"strategy": self.strategy.source}
        return told | ({"keep_gradients_every": repr(self.kept.value)} if self.kept.value else {})

    def settings(self):
        """The same as values, made anew.

        Raises
        ------
        ValueError, TypeError
            A setting makes no sense, in the words of the optimizer, schedule or strategy; or the user's own all-reduce is wrong.
        """
        known, named = CALLS | self.strategy.calls | self.loss.calls, self.strategy.names | self.loss.names
        found = {name: calls.read(text, known, named) for name, text in self.sources().items()}
        self.strategy.check(found.get("strategy"))
        return found

    def refresh(self):
        """A cell may have made a data set, a loss, a strategy or an all-reduce."""
        self.data_chooser.refresh()
        self.loss.refresh()
        self.strategy.refresh()

    def injected(self):
        """The fault to inject while a run is begun, as a context."""
        return self.fault.injected()

    def _other_data(self):
        if self.loss is not None:
            self.loss.suit(self.data.train.y)
            self.show()
        if self._changed:
            self._changed()

    def check(self):
        """Say at once, and where it is, what is wrong with what is chosen."""
        data, ranks, batch, _ = self._shared()
        self.optimizer.check_form()
        self.schedule.check_form(before="0.1")
        self.loss.check_form()
        self.strategy.check_form()
        try:
            global_batch(len(data), ranks, batch, None)
            self.batch_wrong.say("")
        except ValueError as error:
            self.batch_wrong.say(error)
        self.fault.check(ranks)

    def _shared(self):
        """Data, ranks, global batch and servers of the moment."""
        ranks = self.ranks.value if self.cluster is None else self.cluster.ranks
        each = 1 if self.of.value == "over all ranks" else ranks
        servers = int(self.strategy.choice.value == "ParameterServer" and ranks > 1)
        return self.data, ranks, self.batch.value * each, servers

    def place(self):
        """Ranks, launcher and threads of the cluster to be started."""
        return place(self.ranks.value, self.launcher.value, self.threads.value)

    def show(self):
        """Write down what was chosen as the Python that does the same."""
        if hasattr(self, "python"):
            self.check()
            self.shards.show()
            told = ", ".join(f"{name}={text}" for name, text in self.sources().items())
            asked = ", ".join(
                repr(v) if n == "ranks" else f"{n}={v!r}" for n, v in self.place().items() if v not in (None, "mpi")
            )
            made = "" if self.cluster is not None else f"cluster = Cluster({asked}).start()\n"
            within = f"with dtnn.inject.{self.fault.source}:\n    " if self.fault.source else ""
            self.python.value = (
                '<details><summary class="dtnn-faint">the same in Python</summary><pre style="white-space: pre-wrap; '
                f'font-size: 12px; margin: 2px 0">{made}{within}run = model.start(data, cluster=cluster, {told})</pre></details>'
            )
