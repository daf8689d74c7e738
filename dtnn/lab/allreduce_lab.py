"""`AllReduceLab`: how a sum over all ranks comes about, message by message."""

import asyncio
import contextlib
import html
import threading
from concurrent.futures import Future

import ipywidgets as widgets

from .. import allowed
from ..comm import collectives
from ..comm.collectives.torus import grid as most_square
from ..plots.messages import Messages
from ..plots.screens import after_each_cell
from . import given
from .allreduce_choice import Choice
from .allreduce_facts import function
from .allreduce_measured import Measured
from .allreduce_tables import counts_table
from .keeping import Keeping
from .looks import Message, button, enlarged, faint, style, title
from .once import OTHER
from .own import called, own_allreduces
from .panel import Panel, begin, namespace
from .rounds import MOST
from .sheet import Sheet
from .torus_grid import grids

SECONDS = 0.8  # a round, when played
LONGEST = 100_000  # numbers
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
        ranks, length = given.whole("ranks", ranks, 2, MOST), given.whole("length", length, 1, LONGEST)
        ranks_per_node = given.whole("ranks_per_node", ranks_per_node, 1, MOST)
        rows = _rows(grid, ranks)
        self._names, self._given = namespace(), {called(algorithm): algorithm} if callable(algorithm) else {}
        algorithm = called(algorithm) if callable(algorithm) else algorithm
        given.choice("algorithm", algorithm, self._algorithms(), ", or a function of yours (comm, array)")
        self.take_the_cells_place()
        self.choice, self.seen, self._asked, self._drawn, self._playing = None, None, None, None, None
        self._keeping = Keeping(self, lambda: self._playing is not None)
        self._scale = SCALE if allowed.flag("big", big) else 1.0
        self._make(algorithm, ranks, length, ranks_per_node, rows)
        enlarged(self.box, big)
        self._leave = after_each_cell(self._after_cell)
        self._again(moment=FIRST)

    def _make(self, algorithm, ranks, length, ranks_per_node, rows):
        self.algorithm = widgets.Dropdown(options=self._algorithms(), value=algorithm, layout={"width": "170px"})
        self.ranks = widgets.IntSlider(ranks, 2, MOST, description="ranks", layout={"width": "250px"}, continuous_update=False)
        self.length = widgets.BoundedIntText(length, min=1, max=LONGEST, layout={"width": "90px"}).add_class("dtnn-length")
        self.node = widgets.BoundedIntText(ranks_per_node, min=1, max=MOST, layout={"width": "60px"}).add_class("dtnn-node")
        self.grid = widgets.Dropdown(options=_grids(ranks), value=rows, layout={"width": "90px"}).add_class("dtnn-grid")
        self.round = widgets.IntSlider(0, 0, 1, description="done", layout={"width": "300px"})
        self.play_button = button("▶ play", self.play, "one round after the other", within=OTHER).add_class("dtnn-play")
        back = button("◀", self.back, "one round back").add_class("dtnn-back")
        forward = button("step ▶", self.forward, "one round on").add_class("dtnn-forward")
        self.message, self.picture = Message(), Sheet(*SIZE, scale=self._scale)
        self.facts = widgets.HTML().add_class("dtnn-facts-table")
        self.measured = Measured(lambda: (self.choice, self.seen), self._functions, self._keeping.soon)
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        sizes = [self.ranks, title("ranks a node"), self.node, title("numbers"), self.length, title("grid"), self.grid]
        rows = [title("all-reduce"), self.algorithm, *sizes], [self.play_button, back, forward, self.round]
        self.box = widgets.VBox(
            [style(), *(widgets.HBox(row, layout=wrap) for row in rows), self.message.box, self.picture.image, self.facts]
            + self.measured.parts
        )
        self.box.add_class("dtnn-panel").add_class("dtnn-allreduce")
        self.algorithm.add_class("dtnn-algorithm")
        self._of_torus = rows[0][-2:]
        for control in (self.algorithm, self.ranks, self.length, self.node, self.grid):
            control.observe(self._again, "value")
        self.round.observe(lambda _: self._show(), "value")

    # ---- buttons

    def forward(self):
        """One round on."""
        self.round.value = min(self.round.max, self.round.value + 1)

    def back(self):
        """One round back."""
        self.round.value = max(0, self.round.value - 1)

    def play(self):
        """Show one round after the other, from the first if the last is shown; a second click stops that."""
        if self._playing is not None:
            self._playing.cancel()
            self._stopped()
        elif self.seen is not None:
            self.round.value = 0 if self.round.value == self.round.max else self.round.value
            self.play_button.description = "■ stop"
            self._playing = begin(self._play())

    async def _play(self):
        while self.round.value < self.round.max:
            await asyncio.sleep(SECONDS)
            self.forward()
        self._stopped()

    def _stopped(self):
        self._playing, self.play_button.description = None, "▶ play"
        self._keeping.soon()

    def measure(self):
        """Run it with slow links, and put the clock beside the formula; a second click ends that."""
        return self.measured.measuring.click()

    def compare(self):
        """What each algorithm makes of 1e8, 1, -1e8, 1 in float32, one number a rank; a second click ends that."""
        return self.measured.comparing.click()

    # ---- what there is to choose

    def _own(self):
        """The user's all-reduces: the one that was handed over, and those of the notebook."""
        return self._given | own_allreduces(self._names)

    def _algorithms(self):
        return [*self._own(), *(name for name in collectives.ALGORITHMS if name not in self._own())]

    def _functions(self):
        """All of them by name, as the present choices have them."""
        own = self._own()
        return {name: function(name, own, self.node.value, self.grid.value) for name in self._algorithms()}

    def _choice(self):
        name, own = self.algorithm.value, self._own()
        rows = self.grid.value if name == "torus" and name not in own else None
        algorithm = function(name, own, self.node.value, rows)
        return Choice(name, algorithm, self.ranks.value, self.length.value, self.node.value, rows, name in own)

    def _after_cell(self, *_):
        if list(self.algorithm.options) != self._algorithms():
            self._offer(self._algorithms())
        elif self.algorithm.value in self._own():
            self._again()

    def _offer(self, algorithms):
        """Other algorithms to choose from, and the same one chosen."""
        chosen = self.algorithm.value
        with self._unobserved(self.algorithm):
            self.algorithm.options = algorithms
            self.algorithm.value = chosen if chosen in algorithms else algorithms[0]
        if self.algorithm.value != chosen or chosen in self._own():
            self._again()

    def _offer_grids(self):
        """The grids of so many ranks, the most square one chosen where the former one isn't among them."""
        offered = _grids(self.ranks.value)
        if self.grid.options != tuple(offered):
            with self._unobserved(self.grid):
                self.grid.options = offered
                self.grid.value = most_square(self.ranks.value)[0]
        for part in self._of_torus:
            part.layout.display = "" if self.algorithm.value == "torus" else "none"

    @contextlib.contextmanager
    def _unobserved(self, control):
        """A list that gets other options chooses its first for a moment."""
        control.unobserve(self._again, "value")
        yield
        control.observe(self._again, "value")

    # ---- what is seen

    def _again(self, _=None, moment=MOMENT):
        """Watch what is chosen, in a thread: it may take a while, and one of the user's own may never end."""
        self._offer_grids()
        choice, outcome = self._choice(), Future()
        self._asked = choice
        threading.Thread(target=_watch, args=(choice, outcome), name="watch an all-reduce", daemon=True).start()
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
        self.round.max = len(seen)
        self.round.value = 0
        self._show()

    def _facts(self):
        """Messages and bytes of what is shown."""
        choice = self.choice
        return counts_table(self.seen, choice.cost, choice.least, choice.between(self.seen)) if choice else ""

    def _show(self):
        """What the ranks hold now, and the messages that go next."""
        if self.seen is None:
            return
        done = min(self.round.value, len(self.seen))
        shape = self.choice.ranks, self.choice.length, self.choice.ranks_per_node
        if self._drawn is None or self._shape != shape:
            size = SIZE if self.choice.ranks <= 8 else MANY
            self.picture.resize(*(round(pixels / self._scale) for pixels in size))
            self._drawn, self._shape = Messages(self.picture.axes(), *shape), shape
        self._drawn.show(self.seen.sums[done], self.seen.of(done + 1), f"{self.choice.name}: {self._where(done)}")
        self.picture.show(self._drawn.moving)
        if self._playing is None:
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
        if self._playing is not None:
            self._playing.cancel()
        super().close()

    def words(self):
        """The present round in words."""
        if self.seen is None:
            return f"{self._asked}: {self.message.text or 'it runs'}"
        head = f"{self.choice}: {self._where(self.round.value)}"
        return "\n".join([head, *(f"  {_sentence(parcel)}" for parcel in self.seen.of(self.round.value + 1))])

    def png(self):
        """The present picture."""
        return self.picture.png


def _watch(choice, outcome):
    try:
        outcome.set_result(choice.watched())
    except Exception as error:
        outcome.set_exception(error)


def _rows(grid, ranks):
    """The rows of a grid that was asked for, which has to have as many places as there are ranks."""
    if grid is None:
        return most_square(ranks)[0]
    if not isinstance(grid, tuple | list) or len(grid) != 2:
        raise TypeError(f"grid={allowed.shown(grid)}: give rows and columns, such as {most_square(ranks)}")
    rows, columns = (given.whole("grid", number, 1, ranks) for number in grid)
    if rows * columns != ranks:
        there = ", ".join(name for name, _ in _grids(ranks))
        raise ValueError(f"grid={rows, columns} has {rows * columns} places for {ranks} ranks; there are {there}")
    return rows


def _grids(ranks):
    """The grids of a torus for a list: (name, rows)."""
    return [(f"{rows} × {ranks // rows}", rows) for rows in grids(ranks)]


def _sentence(parcel):
    what = "something" if parcel.start is None else f"numbers {parcel.start} to {parcel.start + parcel.count - 1}"
    return f"rank {parcel.source} -> rank {parcel.dest}: {what if parcel.count else 'nothing'}"
