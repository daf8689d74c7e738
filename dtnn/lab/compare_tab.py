"""`CompareTab`: the runs of this session and saved ones, side by side."""

import html

import ipywidgets as widgets

from ..cluster import Run
from ..comparison import Comparison
from ..plots.overlay import AGAINST
from .answer import Answer, as_png
from .looks import button
from .smoothing import Smoothing

MOST = 12  # runs that are kept; the oldest goes


class CompareTab:
    """A list of runs to choose from, their curves, and a table of what differs and what came of it.

    Parameters
    ----------
    smoothing : Smoothing, optional
        The slider that is shown here, too; one of its own without it.

    Attributes
    ----------
    runs : dict of str to Run
        The last ones that were trained here, and those that were loaded.
    """

    def __init__(self, smoothing=None):
        self.smoothing = smoothing or Smoothing(self.look)
        self.runs, self._count, self.answer = {}, 0, Answer()
        self.chosen = widgets.SelectMultiple(rows=4, layout={"width": "240px"}).add_class("dtnn-runs")
        self.metric = widgets.Dropdown(layout={"width": "150px"}, tooltip="beside the loss").add_class("dtnn-metric")
        self.against = widgets.Dropdown(options=AGAINST, layout={"width": "110px"}, tooltip="the axis below").add_class(
            "dtnn-against"
        )
        self.path = widgets.Text(placeholder="saved-run.json", layout={"width": "190px"}).add_class("dtnn-run-path")
        again = button("look again", self.look, "draw them as they are now").add_class("dtnn-compare-again")
        load = button("load", self.load, "a run that run.save(path) wrote").add_class("dtnn-load-run")
        save = button("save", self.save, "write the newest chosen run to this path; a file that is there is replaced")
        files = [self.path, load, save.add_class("dtnn-save-run")]
        drawn = widgets.HBox([again, self.metric, self.against, self.smoothing.slider], layout={"flex_flow": "row wrap"})
        choices = widgets.VBox([drawn, widgets.HBox(files)], layout={"flex": "1 1 420px", "min_width": "0"})
        top = widgets.HBox([self.chosen, choices], layout={"flex_flow": "row wrap"})
        self.box = widgets.VBox([top, self.answer.box]).add_class("dtnn-compare")
        self.scale = 1.0  # pixels of a picture for each of a usual one
        self._quiet = False  # while a list of choices is changed from here
        for control in (self.chosen, self.metric, self.against):
            control.observe(lambda _: self._quiet or self.look(), "value")

    def keep(self, run, name=None):
        """One more run to choose; it is chosen at once."""
        if name is None:
            self._count += 1
            name = f"run {self._count}"
        while name in self.runs:
            name += "'"
        self.runs = dict([*self.runs.items(), (name, run)][-MOST:])
        chosen = [each for each in self.runs if each == name or each in self.chosen.value]
        self._set(self.chosen, list(self.runs), chosen)

    def save(self):
        """Write the newest of the chosen runs to the path."""
        path, chosen = self.path.value.strip(), [name for name in self.runs if name in self.chosen.value]
        if not path or not chosen:
            self.answer.message.say("choose a run in the list, and write a path, such as first.json, into the field")
            return
        try:
            self.runs[chosen[-1]].save(path)
        except Exception as error:
            self.answer.message.say(error)
            return
        self.answer.message.say(f"{chosen[-1]} is in {path}")

    def load(self):
        """Read the run of the path, and compare it with the others."""
        path = self.path.value.strip()
        if not path:
            self.answer.message.say("write the path of a run that was saved into the field beside the button")
            return
        try:
            run = Run.load(path)
        except Exception as error:
            self.answer.fail(error)
            return
        self.keep(run, path.rsplit("/")[-1].removesuffix(".json"))
        self.look()

    def look(self):
        """Draw what is chosen as it is now."""
        chosen = {name: self.runs[name] for name in self.chosen.value if name in self.runs}
        if not chosen:
            self.answer.fail("no run is chosen: train, or load a saved run, and choose in the list, more than one with Ctrl")
            return
        compared = Comparison(**chosen)
        metrics = compared.metrics
        if self.metric.value not in metrics or list(self.metric.options) != metrics:
            self._set(self.metric, metrics, self.metric.value if self.metric.value in metrics else compared.metric)
        how = self.metric.value, self.against.value, self.smoothing.share
        self.answer.ask(lambda answer: _compare(answer, compared, self.scale, *how))

    def _set(self, control, options, value):
        """Other choices, which asks nothing."""
        self._quiet = True
        try:
            control.options = options
            control.value = value
        finally:
            self._quiet = False


def _compare(answer, compared, scale, metric, against, smoothing):
    words = f"<pre>{html.escape(compared.explain())}</pre>" if len(compared.runs) == 2 else ""
    page = f'<div class="dtnn-table">{compared._repr_html_()}{words}</div>'
    answer.show(as_png(compared.picture(metric, against, smoothing), scale), page)
