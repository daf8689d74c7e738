"""`AllReduceLab`: how a sum over all ranks comes about, message by message."""

import asyncio
import contextlib
import html

import ipywidgets as widgets

from .. import allowed
from ..plots.messages import Messages
from ..plots.screens import after_each_cell
from .allreduce_controls import AllReduceControls
from .allreduce_measured import Measured
from .allreduce_tables import counts_table
from .keeping import Keeping
from .looks import Message, enlarged, faint, style
from .panel import Panel, begin, namespace
from .player import Player
from .sheet import Sheet

MOMENT = 0.05  # seconds that a click waits for what is watched, so that most of it is seen at once
FIRST = 1.0  # seconds that the cell waits that makes it: a page without widgets has only what there is then
SIZE, MANY = (840, 460), (840, 620)  # pixels of the picture; of that of more than 8 ranks
SCALE = 1.5  # how much larger its letters are, if they are to be


class AllReduceLab(Panel):
    """Choose an algorithm, ranks and a length; step through its rounds, or play them.

    The algorithm really runs, on ranks that are threads. Each stripe of colour in a cell is the part of one rank that is in that
    partial sum; arrows are the messages of the round. Below stand the counted messages and bytes beside the formula's, the
    predicted time beside the clock's on links that are slowed down, and what each algorithm makes of a sum that depends on the
    order.

    A function ``my_allreduce(comm, array)`` of the notebook appears among the algorithms.

    Parameters
    ----------
    algorithm : str or function
        To begin with; a function ``algorithm(comm, array)`` of your own, too.
    ranks : int
        2 to 16.
    length : int
        Numbers in the vector, up to 100,000.
    ranks_per_node : int
        1 to 16: neighbours that share a node. The algorithm "hierarchical" makes use of it; of each it is counted what goes from
        node to node, and links between nodes can be slower.
    grid : tuple of int, optional
        Rows and columns of the torus, which make up the ranks; the most square one, if nothing is said.
    big : bool
        Large letters, for a projector.

    Raises
    ------
    ValueError, TypeError
        There is no such algorithm (the text has the nearest one), or so many ranks or numbers can't be shown, or they make no
        such grid.

    Examples
    --------
    In a notebook: ``dtnn.lab.AllReduceLab()``, as the last line of a cell.

    >>> lab = AllReduceLab("ring", ranks=3, length=6)
    >>> print(lab.words())
    ring on 3 ranks, 6 numbers: round 1 of 4
      rank 0 -> rank 1: numbers 4 to 5
      rank 1 -> rank 2: numbers 0 to 1
      rank 2 -> rank 0: numbers 2 to 3
    >>> lab.close()
    """

    def __init__(self, algorithm="ring", ranks=4, length=8, ranks_per_node=2, grid=None, big=False):
        scale = SCALE if allowed.flag("big", big) else 1.0
        self.controls = AllReduceControls(algorithm, ranks, length, ranks_per_node, grid, namespace(), self._again)
        self.take_the_cells_place()
        self.choice, self.seen, self._asked, self._drawn = None, None, None, None
        self._keeping = Keeping(self, lambda: self.player.playing)
        self._make(scale)
        enlarged(self.box, big)
        self._leave = after_each_cell(lambda *_: self.controls.refresh())
        self._again(moment=FIRST)

    def _make(self, scale):
        self.player, self._scale = Player(self._show, self._keeping.soon), scale
        self.message, self.picture = Message(), Sheet(*SIZE, scale=scale)
        self.facts = widgets.HTML().add_class("dtnn-facts-table")
        self.measured = Measured(lambda: (self.choice, self.seen), self.controls.functions, self._keeping.soon)
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        rows = (widgets.HBox(row, layout=wrap) for row in (self.controls.row, self.player.row))
        self.box = widgets.VBox([style(), *rows, self.message.box, self.picture.image, self.facts, *self.measured.parts])
        self.box.add_class("dtnn-panel").add_class("dtnn-allreduce")

    # ---- buttons

    def forward(self):
        """One round on."""
        self.player.forward()

    def back(self):
        """One round back."""
        self.player.back()

    def play(self):
        """Show one round after the other, from the first if the last is shown; a second click stops that."""
        self.player.play()

    def measure(self):
        """Run it with slow links, and put the clock beside the formula; a second click ends that."""
        return self.measured.measuring.click()

    def compare(self):
        """What each algorithm makes of 1e8, 1, -1e8, 1 in float32, one number a rank; a second click ends that."""
        return self.measured.comparing.click()

    # ---- what is seen

    def _again(self, moment=MOMENT):
        """Watch what is chosen, in a thread: it may take a while, and one of the user's own may never end."""
        self._asked = choice = self.controls.choice()
        outcome = choice.begun()
        with contextlib.suppress(TimeoutError):
            outcome.exception(moment)
        if outcome.done():
            self._come(choice, outcome)
        else:
            self.facts.value = faint(f"{html.escape(str(choice))}: it runs …")
            begin(self._wait(choice, outcome))

    async def _wait(self, choice, outcome):
        await asyncio.wait([asyncio.wrap_future(outcome)])
        self._come(choice, outcome)

    def _come(self, choice, outcome):
        """Show what was watched, or say what went wrong, unless something else was chosen meanwhile."""
        if choice is not self._asked:
            return
        if outcome.exception():
            self.message.say(outcome.exception())
            self.facts.value = self._facts()
        else:
            self._take(choice, outcome.result())
        self._keeping.soon()

    def _take(self, choice, seen):
        self.choice, self.seen = choice, seen
        self.message.say("")
        self.measured.forget()
        self.facts.value = self._facts()
        self.player.begin(len(seen))
        self._show()

    def _facts(self):
        """Messages and bytes of what is shown."""
        choice = self.choice
        return counts_table(self.seen, choice.cost, choice.least, choice.between(self.seen)) if choice else ""

    def _show(self):
        """What the ranks hold now, and the messages that go next."""
        if self.seen is None:
            return
        done = min(self.player.round.value, len(self.seen))
        shape = self.choice.ranks, self.choice.length, self.choice.ranks_per_node
        if self._drawn is None or self._shape != shape:
            size = SIZE if self.choice.ranks <= 8 else MANY
            self.picture.resize(*(round(pixels / self._scale) for pixels in size))
            self._drawn, self._shape = Messages(self.picture.axes(), *shape), shape
        self._drawn.show(self.seen.sums[done], self.seen.of(done + 1), f"{self.choice.name}: {self._where(done)}")
        self.picture.show(self._drawn.moving)
        if not self.player.playing:
            self._keeping.soon()

    def _where(self, done):
        if not self.seen.parcels:
            return "the library's own, its messages are not seen; " + ("at the end" if done else "at first")
        return f"round {done + 1} of {len(self.seen)}" if done < len(self.seen) else f"after {done} rounds"

    def close(self):
        """Take it away."""
        self._leave()
        self._keeping.not_yet()
        self.measured.close()
        self.player.cancel()
        super().close()

    def words(self):
        """The present round in words."""
        if self.seen is None:
            return f"{self._asked}: {self.message.text or 'it runs'}"
        head = f"{self.choice}: {self._where(self.player.round.value)}"
        return "\n".join([head, *(f"  {parcel}" for parcel in self.seen.of(self.player.round.value + 1))])

    def png(self):
        """The present picture."""
        return self.picture.png
