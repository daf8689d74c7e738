"""`ModelTab`: the model as it is now, looked into: what it confuses, its weights, what it makes of an image."""

import ipywidgets as widgets

from .. import views
from ..data import samples
from ..nn import Conv2d
from ..nn.tree import named_layers
from .answer import HEIGHT, Answer, on_paper
from .looks import button
from .present import Present

FEW = 100  # samples whose activations are shown


def _samples(data):
    """Those to test on, if there are any."""
    return samples(data, part="train" if getattr(data, "test", None) is None else "test")


# what it is called: (how it is drawn from model, data, layer, number of the sample; what of these can be chosen)
VIEWS = {
    "what it confuses": (lambda model, data, layer, number, ax: views.confusion(model, data, ax=ax), ()),
    "worst samples": (lambda model, data, layer, number, ax: views.worst(model, data, ax=ax), ()),
    "weights": (lambda model, data, layer, number, ax: views.weights(model, ax), ()),
    "activations": (lambda model, data, layer, number, ax: views.activations(model, _samples(data).x[:FEW], ax), ()),
    "filters": (lambda model, data, layer, number, ax: views.filters(model, layer, ax), ("layer",)),
    "feature maps": (
        lambda model, data, layer, number, ax: views.feature_maps(model, _samples(data).x[number], layer, ax),
        ("layer", "sample"),
    ),
}
HEIGHTS = {"what it confuses": 5.8, "worst samples": 5.8}  # inches, of what is nearly as high as it is wide


class ModelTab:
    """A choice of views, and the picture of the one that is chosen, drawn when somebody looks at it.

    Parameters
    ----------
    model, data : callable
        Give the model and the data set of the moment, or raise what is wrong with them.
    """

    def __init__(self, model, data):
        self._model, self._data, self.present, self.answer, self.scale = model, data, Present(), Answer(), 1.0
        self.view = widgets.Dropdown(options=list(VIEWS), layout={"width": "160px"}, tooltip="what to see").add_class("dtnn-view")
        self.layer = widgets.Dropdown(layout={"width": "150px"}, tooltip="of which layer").add_class("dtnn-view-layer")
        self.number = widgets.BoundedIntText(0, min=0, max=10**9, layout={"width": "90px"}, tooltip="of which sample")
        again = button("look again", self.look, "look at the model as it is now").add_class("dtnn-view-again")
        about = "look again every few seconds while the run goes on, as far as that costs the training next to nothing"
        self.follows = widgets.Checkbox(True, description="follow", indent=False, tooltip=about, layout={"width": "80px"})
        chosen = self.view, self.layer, self.number.add_class("dtnn-view-sample"), self.follows.add_class("dtnn-view-follow")
        tools = widgets.HBox([again, *chosen], layout={"flex_flow": "row wrap"})
        self.box = widgets.VBox([tools, self.answer.box]).add_class("dtnn-model")
        self._quiet = False  # while the list of layers is changed from here
        for control in (self.view, self.layer, self.number):
            control.observe(lambda _: self._quiet or self.look(), "value")
        self._show_controls()

    def look(self):
        """Draw the chosen view of the model as it is now; what can't be is said."""
        draw, _ = VIEWS[self.view.value]
        try:
            model, data = self._model(), self._data()
            self._offer(model)
            self._show_controls()
            self._check_number(data)
        except Exception as error:
            self.answer.fail(error)
            return
        layer, number = self.layer.value, self.number.value
        height = HEIGHTS.get(self.view.value, HEIGHT)
        self.answer.ask(lambda answer: self._show(answer, model, lambda now, ax: draw(now, data, layer, number, ax), height))

    def _show(self, answer, model, draw, height):
        """The picture of the model with the weights of now."""
        now, words = self.present.of(model)
        began = self.present.begin()
        answer.show(on_paper(lambda ax: draw(now, ax), self.scale, height), text=words)
        self.present.ended(began)

    def follow(self, run):
        """From now on it is this run, which has just begun, whose weights are the model's."""
        self.present.follow(run, self._model())

    def tick(self):
        """Look again, if the run goes on and that is due; called often, while somebody sees this."""
        if self.follows.value and not self.answer.busy and self.present.due:
            self.look()

    def _check_number(self, data):
        count = len(_samples(data))
        if "sample" in VIEWS[self.view.value][1] and self.number.value >= count:
            raise ValueError(f"there is no sample {self.number.value}; the data have {count:,} to test on, 0 to {count - 1}")

    def _offer(self, model):
        """The layers of which the view can be shown."""
        if self.view.value == "filters":
            names = [name for name, layer, _ in named_layers(model.net) if isinstance(layer, Conv2d)]
        else:
            names = [row.name for row in model.summary() if len(row.shape) == 3]
        if list(self.layer.options) == names:
            return
        former, self._quiet = self.layer.value, True
        try:
            self.layer.options = names
            first = next((name for name in names if name.startswith("conv2d")), names[0] if names else None)
            self.layer.value = former if former in names else first
        finally:
            self._quiet = False

    def _show_controls(self):
        chosen = VIEWS[self.view.value][1]
        for name, control in (("layer", self.layer), ("sample", self.number)):
            control.layout.display = "" if name in chosen else "none"
