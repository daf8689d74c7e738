"""`PlayControls`: what can be chosen in the playground."""

import ipywidgets as widgets

from .. import parallel
from ..data import toy2d
from .looks import title
from .pairs import PAIRS
from .play import Play
from .play_net import PlayNet

SETS = {"circle": toy2d.circle, "xor": toy2d.xor, "gauss": toy2d.gauss, "spiral": toy2d.spiral}
COMPRESSIONS = {  # from all bits to the fewest
    "none": None,
    "fp16": ("fp16", 1.0),
    "int8": ("int8", 1.0),
    "top 10 %": ("top_k", 0.1),
    "sign": ("sign", 1.0),
}
TWO = "two weights"
NETS = {TWO: None, "none": (), "4": (4,), "8, 8": (8, 8), "16, 16": (16, 16)}
MOST = 8  # ranks
SLIDER = {"layout": {"width": "258px"}, "style": {"description_width": "6.3em"}, "continuous_update": False}


class PlayControls:
    """Sliders and lists, and the `Play` that they stand for.

    Parameters
    ----------
    data : str
        One of `SETS`.
    ranks : int
    changed : function
        Called without arguments after every change.
    """

    def __init__(self, data, ranks, changed):
        def slider(kind, name, value, low, high, tip, **more):
            how = {**SLIDER, "tooltip": tip, **more}
            return kind(value=value, min=low, max=high, description=name, **how).add_class(f"dtnn-{name.replace(' ', '-')}")

        whole, real = widgets.IntSlider, widgets.FloatSlider
        self.set = widgets.Dropdown(options=list(SETS), value=data, layout={"width": "100px"}).add_class("dtnn-set")
        self.hidden = widgets.Dropdown(options=list(NETS), value="8, 8", layout={"width": "115px"}).add_class("dtnn-hidden")
        self.hidden.tooltip = "sizes of the layers between, with tanh; two weights: their plane, with the loss over it"
        self.ranks = slider(whole, "ranks", ranks, 1, MOST, "how many share each batch")
        self.batch = slider(whole, "batch", 32, 8, 200, "points a step, of all ranks together", step=8)
        self.every = slider(whole, "local steps", 1, 1, 32, "steps that each rank makes alone, before the replicas are averaged")
        self.stale = slider(whole, "staleness", 0, 0, 8, "steps by which the workers' weights are behind the server's")
        tip = "what of the gradients is sent: everything, or numbers of fewer bits, or the largest only"
        how = {**SLIDER, "description": "compress", "tooltip": tip}
        self.compression = widgets.SelectionSlider(options=list(COMPRESSIONS), **how).add_class("dtnn-compression")
        self.lr = slider(widgets.FloatLogSlider, "rate", 0.3, -3, 1, "learning rate", base=10, step=0.1)
        self.noise = slider(real, "noise", 0.1, 0.0, 1.0, "how far points are from their places", step=0.05)
        self.speed = slider(whole, "speed", 2, 1, 50, "steps from picture to picture")
        chosen = self.set, self.hidden, self.noise, self.ranks, self.batch, self.every, self.stale, self.compression, self.lr
        for control in chosen:
            control.observe(lambda _: changed(), "value")

    def rows(self, *buttons):
        """Everything, in lines that break where there is no room."""
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        first = [*buttons, title("points"), self.set, title("layers"), self.hidden]
        second = [self.ranks, self.batch, self.every, self.compression, self.stale, self.lr, self.noise, self.speed]
        return [widgets.HBox(row, layout=wrap) for row in (first, second)]

    def play(self):
        """A play with the present choices.

        Raises
        ------
        ValueError
            What can't be chosen together.
        """
        name, hidden = self.set.value, NETS[self.hidden.value]
        net = PlayNet(pair=PAIRS[name]) if hidden is None else PlayNet(hidden)
        how = dict(ranks=self.ranks.value, batch=self.batch.value, lr=self.lr.value, strategy=self._strategy())
        return Play(SETS[name](noise=self.noise.value), net=net, **how)

    def _strategy(self):
        chosen = [
            (self.every.value > 1, "local steps", lambda: parallel.LocalSGD(self.every.value)),
            (self.stale.value > 0, "staleness", self._stale),
            (self.compression.value != "none", "compression", self._compressed),
        ]
        wanted = [(name, make) for there, name, make in chosen if there]
        if len(wanted) > 1:
            raise ValueError(f"{' and '.join(name for name, _ in wanted)} are different strategies; choose one of them")
        return wanted[0][1]() if wanted else parallel.AllReduce()

    def _stale(self):
        if self.ranks.value < 2:
            raise ValueError("staleness is that of workers behind a server, which does not train: it takes at least 2 ranks")
        return parallel.ParameterServer(self.stale.value, exact=True)

    def _compressed(self):
        kind, keep = COMPRESSIONS[self.compression.value]
        return parallel.Compressed(kind, keep=keep)
