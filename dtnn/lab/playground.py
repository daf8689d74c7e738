"""`Playground`: data parallelism on points in the plane, where everything can be seen."""

import asyncio

import ipywidgets as widgets

from .. import allowed, parallel
from ..data import toy2d
from . import given
from .looks import Message, button, enlarged, faint, style, title
from .panel import Panel, begin
from .play import Play
from .play_view import PlayView
from .sheet import Sheet

SETS = {"circle": toy2d.circle, "xor": toy2d.xor, "gauss": toy2d.gauss, "spiral": toy2d.spiral}
COMPRESSIONS = {
    "none": None,
    "top_k: a tenth": ("top_k", 0.1),
    "int8": ("int8", 1.0),
    "fp16": ("fp16", 1.0),
    "sign: one bit": ("sign", 1.0),
}
MOST = 8  # ranks
FRAME = 0.3  # seconds from picture to picture
NETS = {"none": (), "4": (4,), "8, 8": (8, 8), "16, 16": (16, 16)}


class Playground(Panel):
    """A small network learns to tell two classes of points apart, on ranks that are threads.

    Left the points, in the colours of the ranks that own them (the large ones are in the last batch), and the border that the
    network draws; where replicas differ, each rank's own border, too. In the middle each rank's gradient (as the mean over its
    own samples), and in black the mean of all. What is exchanged goes through dtnn's own `train` and strategies.

    Parameters
    ----------
    data : str
        "circle", "xor", "gauss" or "spiral".
    ranks : int
        1 to 8.
    big : bool
        Large letters, for a projector.

    Raises
    ------
    ValueError, TypeError
        There are no such points, or they are not shown on so many ranks.

    Examples
    --------
    In a notebook: ``dtnn.lab.Playground()``, as the last line of a cell.

    >>> playground = Playground("circle", ranks=2)
    >>> playground.forward()
    >>> playground.play.step
    1
    >>> playground.close()
    """

    def __init__(self, data="circle", ranks=4, big=False):
        data, ranks = given.choice("data", data, SETS), given.whole("ranks", ranks, 1, MOST)
        self.take_the_cells_place()
        self.play, self._playing, self._busy = None, None, False
        self._make(data, ranks)
        enlarged(self.box, allowed.flag("big", big))
        self.begin_anew()

    def _make(self, data, ranks):
        def slider(kind, name, value, low, high, **more):
            how = {"layout": {"width": "270px"}, "continuous_update": False, **more}
            return kind(value=value, min=low, max=high, description=name, **how).add_class(f"dtnn-{name.replace(' ', '-')}")

        self.set = widgets.Dropdown(options=list(SETS), value=data, layout={"width": "100px"}).add_class("dtnn-set")
        self.noise = slider(widgets.FloatSlider, "noise", 0.1, 0.0, 1.0, step=0.05)
        self.hidden = widgets.Dropdown(options=list(NETS), value="8, 8", layout={"width": "90px"})
        self.ranks = slider(widgets.IntSlider, "ranks", ranks, 1, MOST)
        self.batch = slider(widgets.IntSlider, "batch", 32, 8, 200, step=8)
        self.every = slider(widgets.IntSlider, "local steps", 1, 1, 32)
        self.stale = slider(widgets.IntSlider, "staleness", 0, 0, 8)
        self.compression = widgets.Dropdown(options=list(COMPRESSIONS), layout={"width": "130px"}).add_class("dtnn-compression")
        self.lr = slider(widgets.FloatLogSlider, "rate", 0.3, -3, 1, base=10, step=0.1)
        self.speed = slider(widgets.IntSlider, "speed", 2, 1, 50)
        self.run_button = button("▶ run", self.run, "train on", "success").add_class("dtnn-run")
        buttons = [
            self.run_button,
            button("step", self.forward, "one step").add_class("dtnn-one-step"),
            button("anew", self.begin_anew, "first weights again").add_class("dtnn-anew"),
        ]
        self.message, self.words_line, self.sheet = Message(), widgets.HTML().add_class("dtnn-words"), Sheet(1000, 370)
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        rows = [
            [*buttons, title("points"), self.set, title("layers"), self.hidden, title("compression"), self.compression],
            [self.ranks, self.batch, self.every, self.stale, self.lr, self.noise, self.speed],
        ]
        boxes = [widgets.HBox(row, layout=wrap) for row in rows]
        self.box = widgets.VBox([style(), *boxes, self.message.box, self.sheet.image, self.words_line])
        self.box.add_class("dtnn-panel").add_class("dtnn-playground")
        for control in (
            self.set,
            self.noise,
            self.hidden,
            self.ranks,
            self.batch,
            self.every,
            self.stale,
            self.compression,
            self.lr,
        ):
            control.observe(lambda _: self.begin_anew(), "value")

    # ---- buttons

    def begin_anew(self):
        """First weights again, with the present choices; what can't be chosen together is said."""
        self._stop()
        if self.play is not None:
            self.play.close()
        try:
            strategy = self._strategy()
            data = SETS[self.set.value](noise=self.noise.value)
            how = dict(ranks=self.ranks.value, batch=self.batch.value, hidden=NETS[self.hidden.value], lr=self.lr.value)
            self.play = Play(data, strategy=strategy, **how)
        except Exception as error:
            self.message.say(error)
            return
        self.message.say("")
        self.view = PlayView(self.sheet, self.play)
        self._show()

    def _strategy(self):
        chosen = [
            (self.every.value > 1, "local steps", lambda: parallel.LocalSGD(self.every.value)),
            (self.stale.value > 0, "staleness", lambda: parallel.ParameterServer(self.stale.value)),
            (self.compression.value != "none", "compression", self._compressed),
        ]
        wanted = [(name, make) for there, name, make in chosen if there]
        if len(wanted) > 1:
            raise ValueError(f"{' and '.join(name for name, _ in wanted)} are different strategies; choose one of them")
        return wanted[0][1]() if wanted else parallel.AllReduce()

    def _compressed(self):
        kind, keep = COMPRESSIONS[self.compression.value]
        return parallel.Compressed(kind, keep=keep)

    def forward(self):
        """One step."""
        if self._playing is None:
            self._steps(1)

    def run(self):
        """Train on, picture by picture; a second click stops."""
        if self._playing is not None:
            self._stop()
        elif self.play is not None:
            self.run_button.description = "■ stop"
            self._playing = begin(self._run())

    async def _run(self):
        play = self.play
        while self.play is play and not self.message.text:
            await asyncio.to_thread(self._steps, self.speed.value)
            await asyncio.sleep(FRAME)

    def _steps(self, number):
        """Steps, and the picture after them; one at a time, however often it is asked for."""
        if self._busy:
            return
        self._busy = True
        try:
            self.play.forward(number)
            self._show()
        except Exception as error:
            self.message.say(error)
        finally:
            self._busy = False

    def _stop(self):
        if self._playing is not None:
            self._playing.cancel()
            self._playing, self.run_button.description = None, "▶ run"

    def close(self):
        """End the ranks and take it away."""
        self._stop()
        if self.play is not None:
            self.play.close()
        super().close()

    # ---- what is seen

    def _show(self):
        self.view.show()
        self.words_line.value = faint(self.words())

    def words(self):
        """Where it stands."""
        play = self.play
        if play is None:
            return "Playground"
        loss = f"loss {play.losses[-1]:.3f}" if play.losses else "no step yet"
        batch = f"batch {play.batch}: {play.batch / (play.ranks - play.servers):.3g} a rank"
        server = " · rank 0 is the server, and does not train" if play.servers else ""
        return f"step {play.step} · {loss} · {play.strategy!r} · {batch}{server}"

    def png(self):
        """The present picture."""
        return self.sheet.png
