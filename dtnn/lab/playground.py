"""`Playground`: data parallelism on points in the plane, where everything can be seen."""

import asyncio
import html
import threading

import ipywidgets as widgets

from .. import allowed
from . import given, play_columns
from .keeping import Keeping
from .looks import WRAP, Message, button, enlarged, faint, style
from .once import OTHER
from .panel import Panel, begin
from .play_controls import MOST, SETS, PlayControls
from .play_view import PlayView
from .play_words import play_words
from .sheet import Sheet, side_by_side

FRAME = 0.3  # seconds from picture to picture


class Playground(Panel):
    """A small network learns to tell two classes of points apart, on ranks that are threads.

    Left the points, in the colours of the ranks that own them (the large ones are in the last batch), and the border that the
    network draws; where replicas differ, each rank's own border, too. In the middle each rank's gradient (as the mean over its
    own samples), and in black the mean of all: in the plane of that mean and of what deviates most from it, or, for the network
    of two weights, in the plane of the weights, over the loss, with the way that they have gone. What is exchanged goes through
    dtnn's own `train` and strategies.

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
    >>> playground.play.step, list(playground.columns("steps"))
    (1, ['step', 'loss'])
    >>> playground.close()
    """

    def __init__(self, data="circle", ranks=4, big=False):
        data, ranks = allowed.one_of("data", data, SETS), given.whole("ranks", ranks, 1, MOST)
        self.take_the_cells_place()
        self.play, self.view, self._playing = None, None, None
        self._stepping, self._drawing = threading.Lock(), threading.Lock()
        self._keeping = Keeping(self, self._stepping.locked)
        self._make(data, ranks, 1.5 if allowed.flag("big", big) else 1.0)
        enlarged(self.box, big)
        self._begin()

    def _make(self, data, ranks, scale):
        self.controls = PlayControls(data, ranks, self._begin)
        self.run_button = button("▶ run", self.run, "train on", "success", within=OTHER).add_class("dtnn-run")
        step = button("step", self._step_clicked, "one step").add_class("dtnn-one-step")
        anew = button("anew", self.begin_anew, "first weights again").add_class("dtnn-anew")
        self.message, layout = Message(), {"flex": "1 1 190px", "margin": "0 0 0 8px"}
        self.words_line = widgets.HTML(layout=layout).add_class("dtnn-words")
        self.sheet = Sheet(630, 370, colours=None, scale=scale)  # shades that tell on which side of the border a place is
        self.loss_sheet = Sheet(310, 230, colours=None, scale=scale)
        rows = self.controls.rows(self.run_button, step, anew)
        seen = widgets.HBox([self.sheet.image, self.loss_sheet.image.add_class("dtnn-small"), self.words_line], layout=WRAP)
        self.box = widgets.VBox([style(), *rows, self.message.box, seen])
        self.box.add_class("dtnn-panel").add_class("dtnn-playground")

    # ---- buttons

    def begin_anew(self):
        """First weights again, and wait for a click."""
        self._stop()
        self._begin()

    def _begin(self):
        """First weights, with the present choices; what can't be chosen together is said. What runs goes on."""
        former, self.play = self.play, None
        if former is not None:
            former.close()
        try:
            play = self.controls.play()
        except Exception as error:
            self._stop()
            self.message.say(error)
            self.words_line.value = ""
            return
        self.message.say("")
        with self._drawing:
            self.play, self.view = play, PlayView(self.sheet, self.loss_sheet, play)
        self._show(play)

    def forward(self):
        """One step."""
        if self._playing is None:
            self._steps(1)

    def _step_clicked(self):
        if self._playing is None:
            begin(self._attended(1))
            self._keeping.soon()

    def run(self):
        """Train on, picture by picture; a second click stops."""
        if self._playing is not None:
            self._stop()
            self._keeping.soon()
        elif self.play is not None:
            self._keeping.not_yet()
            self.run_button.description = "■ stop"
            self._playing = begin(self._run())

    async def _run(self):
        while self.play is not None and not self.message.text:
            await self._attended(self.controls.speed.value)
            await asyncio.sleep(FRAME)
        self._stop()

    async def _attended(self, number):
        """Steps in a thread, so that the notebook stays free; what takes long is said."""
        steps = asyncio.ensure_future(asyncio.to_thread(self._steps, number))
        while not (await asyncio.wait({steps}, timeout=FRAME))[0]:
            doing = self.play and self.play.doing
            if doing:
                self.words_line.value = faint(f"{html.escape(doing)} …")

    def _steps(self, number):
        """Steps, and the picture after them; whoever asks meanwhile has to wait. After an error only a new beginning helps."""
        with self._stepping:
            play = self.play
            if play is None or self.message.text:
                return
            try:
                play.forward(number)
                self._show(play)
            except Exception as error:
                if play is self.play:
                    self.message.say(error)

    def _stop(self):
        if self._playing is not None:
            self._playing.cancel()
            self._playing, self.run_button.description = None, "▶ run"

    def close(self):
        """End the ranks and take it away."""
        self._stop()
        self._keeping.not_yet()
        play, self.play = self.play, None
        if play is not None:
            play.close()
        super().close()

    # ---- what is seen

    def _show(self, play):
        """Draw it, if it is still this one that is played."""
        with self._drawing:
            if play is self.play:
                self.view.show()
                self.words_line.value = faint(html.escape(self.words()).replace("\n", "<br>"))

    def columns(self, of="steps"):
        """The numbers behind the pictures, as columns of equal length, such as ``pandas.DataFrame`` takes.

        Parameters
        ----------
        of : {"steps", "points", "gradients"}
            The loss, and the two weights of each rank, step by step; the points with their ranks and what the network says of
            them; each rank's gradient in the last step.

        Returns
        -------
        dict of str to list
        """
        if self.play is None:
            raise ValueError(f"nothing is played: {self.message.text or 'it is closed'}")
        return getattr(play_columns, allowed.one_of("of", of, play_columns.__all__))(self.play)

    def words(self):
        """Where it stands."""
        play = self.play
        return f"Playground: {self.message.text or 'closed'}" if play is None else play_words(play)

    def png(self):
        """The present picture."""
        return side_by_side(self.sheet, self.loss_sheet)
