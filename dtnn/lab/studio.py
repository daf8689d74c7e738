"""`Studio`: the whole bench in one cell."""

import ipywidgets as widgets

from .. import known
from ..plots.screens import after_each_cell
from . import given
from .builder_panel import BuilderPanel
from .looks import WRAP, enlarged, style
from .loss_chooser import outputs
from .panel import Panel
from .settings_panel import SettingsPanel
from .state import State, state_of
from .training_panel import TrainingPanel

DENSE = 1.5  # pixels of a picture on a projector for each of a usual one


class Studio(Panel):
    """Build a network by clicks, choose how to train it, train it on a cluster, watch every rank.

    What it holds can be used in other cells: ``studio.model``, ``studio.data``, ``studio.run``, ``studio.cluster``. Run again,
    the cell makes a new studio, and ends what the old one had started.

    Parameters
    ----------
    model : Model, optional
        To begin with; as long as its layers are not changed it is itself trained.
    data : Dataset or (x, y), optional
        To begin with; without it the bundled digits.
    cluster : Cluster, optional
        Where to train; without it one is started at the first training, and used again.
    big : bool
        Large letters, for a projector.
    strategy : Strategy, function or str, optional
        To begin with: `dtnn.parallel.LocalSGD(8)`, one of your own, a function ``my_allreduce(comm, array)``, "ring" ...

    Raises
    ------
    ValueError
        A model that can't be shown as a list of layers; says why.
    TypeError
        What was given is no model, no data set, no cluster, no strategy; says what would be one.

    Examples
    --------
    In a notebook: ``dtnn.lab.Studio()``, as the last line of a cell.

    >>> import dtnn
    >>> studio = Studio(dtnn.zoo.mlp(hidden=(16,)))
    >>> studio.builder.calls
    ('Flatten()', 'Linear(16)', 'ReLU()', 'Linear(10)')
    >>> studio.close()
    """

    def __init__(self, model=None, data=None, cluster=None, big=False, strategy=None):
        model, data, cluster = given.model(model), given.dataset(data), given.cluster(cluster)
        big = known.flag("big", big)
        self.take_the_cells_place()
        self.building = BuilderPanel(model, changed=self._edited)
        self.settings = SettingsPanel(data, cluster, changed=self._other_data, strategy=strategy)
        self._models = {} if model is None else {state_of(model): model}
        self.training = TrainingPanel(self.present_model, self.settings, cluster, self.keep_picture)
        self._make(big)
        self._leave = after_each_cell(lambda *_: self.settings.refresh())
        self._other_data()

    def _make(self, big):
        left, middle = self.building.box, self.settings.box
        left.layout.flex, left.layout.width = "1 1 440px", "auto"
        middle.layout.flex, middle.layout.width = "1 1 320px", "auto"
        self.training.box.layout.flex = "2 1 600px"
        bench = widgets.Box([left, middle, self.training.box], layout=WRAP)
        self.box = enlarged(widgets.VBox([style(), self.training.bar.box, bench]).add_class("dtnn-studio"), big)
        if big:
            self.training.insights.enlarge(DENSE)

    # ---- what it holds

    @property
    def builder(self):
        """The list of layers, see `Builder`."""
        return self.building.builder

    @property
    def model(self):
        """The model as it is now: with its weights, if it was trained since its layers changed; None while it doesn't fit."""
        return None if self.builder.error else self.present_model()

    data = property(lambda self: self.settings.data, doc="The chosen data set.")
    run = property(lambda self: self.training.run, doc="The last run.")
    cluster = property(lambda self: self.training.cluster, doc="The cluster, once there is one.")

    def present_model(self):
        """The model of the present layers; raises what is wrong with them."""
        state = self.builder.state
        if state not in self._models:
            self._models = {state: self.builder.model()}  # older ones go: a model is as large as its weights
        return self._models[state]

    # ---- what happens

    def _other_data(self):
        """The network's input is that of the data."""
        if not hasattr(self, "training"):
            return
        data = self.data
        self.building.classes = outputs(data)
        if self.builder.state == State():
            self.building._do(self.builder.preset, "lenet5" if len(data.input_shape) == 3 else "mlp", self.building.classes)
        if tuple(data.input_shape) != tuple(self.builder.input_shape):
            self.building.edit(self.builder.reshape, data.input_shape)

    def _edited(self):
        self.training.bar.message.say("")

    def close(self):
        """End what runs, stop the cluster that was started here, take the widgets away."""
        self._leave()
        self.building.close()
        self.training.close()
        super().close()

    def words(self):
        """What it holds, for pages without widgets."""
        run = self.training.pane.text
        return "\n".join([self.building.words(), repr(self.data), *([f"run: {run}"] if run else [])])

    def png(self):
        """The last picture of the last run, or the drawing of the network."""
        return self.training.pane.last or self.building.png()
