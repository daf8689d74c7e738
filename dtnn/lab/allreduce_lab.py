"""`AllReduceLab`: how a sum over all ranks comes about, message by message."""

import asyncio

import ipywidgets as widgets

from .. import allowed
from ..comm import collectives
from ..comm.cost import lower_bound
from ..plots.messages import Messages
from ..plots.screens import after_each_cell
from . import given
from .allreduce_facts import ITEM, clocked, formula, function, summed
from .allreduce_tables import bits_table, clock_line, counts_table
from .looks import Message, button, enlarged, faint, style, title
from .own import called, own_allreduces
from .panel import Panel, begin, namespace, within
from .rounds import MOST, rounds
from .sheet import Sheet

SECONDS = 0.8  # a round, when played
LONGEST = 100_000  # numbers
PATIENCE = 5.0  # seconds that an all-reduce of the user's own may take


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
        node to node.
    big : bool
        Large letters, for a projector.

    Raises
    ------
    ValueError, TypeError
        There is no such algorithm (the text has the nearest one), or so many ranks or numbers can't be shown.

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

    def __init__(self, algorithm="ring", ranks=4, length=8, ranks_per_node=2, big=False):
        ranks, length = given.whole("ranks", ranks, 2, MOST), given.whole("length", length, 1, LONGEST)
        ranks_per_node = given.whole("ranks_per_node", ranks_per_node, 1, MOST)
        self._names, self._given = namespace(), {called(algorithm): algorithm} if callable(algorithm) else {}
        algorithm = called(algorithm) if callable(algorithm) else algorithm
        given.choice("algorithm", algorithm, self._algorithms(), ", or a function of yours (comm, array)")
        self.take_the_cells_place()
        self.seen, self._drawn, self._playing = None, None, None
        self._make(algorithm, ranks, length, ranks_per_node)
        enlarged(self.box, allowed.flag("big", big))
        self._leave = after_each_cell(self._after_cell)
        self._again()

    def _make(self, algorithm, ranks, length, ranks_per_node):
        self.choice = widgets.Dropdown(options=self._algorithms(), value=algorithm, layout={"width": "170px"})
        self.ranks = widgets.IntSlider(ranks, 2, MOST, description="ranks", layout={"width": "250px"}, continuous_update=False)
        self.length = widgets.BoundedIntText(length, min=1, max=LONGEST, layout={"width": "90px"})
        self.node = widgets.BoundedIntText(ranks_per_node, min=1, max=MOST, layout={"width": "60px"}).add_class("dtnn-node")
        self.round = widgets.IntSlider(0, 0, 1, description="done", layout={"width": "300px"})
        self.play_button = button("▶ play", self.play, "one round after the other").add_class("dtnn-play")
        steps = button("◀", self.back, "one round back"), button("step ▶", self.forward, "one round on").add_class("dtnn-forward")
        self.latency = widgets.BoundedFloatText(5.0, min=0, max=1000, layout={"width": "70px"})
        self.bandwidth = widgets.BoundedFloatText(1.0, min=0.001, max=10_000, layout={"width": "70px"})
        measure = button("measure", self.measure, "run it once with links this slow").add_class("dtnn-measure")
        compare = button("compare bits", self.compare, "each algorithm on 1e8, 1, -1e8, 1").add_class("dtnn-compare")
        self.message, self.picture, self.facts = Message(), Sheet(840, 460), widgets.HTML().add_class("dtnn-facts-table")
        self.bits, self.clock = widgets.HTML().add_class("dtnn-bits"), widgets.HTML().add_class("dtnn-clock")
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        chosen = [title("all-reduce"), self.choice, self.ranks, title("a node has"), self.node, title("numbers"), self.length]
        links = [title("links:"), self.latency, _word("ms a message,"), self.bandwidth, _word("MB/s"), measure, compare]
        rows = [chosen, [self.play_button, *steps, self.round], links]
        self.box = widgets.VBox(
            [style(), *(widgets.HBox(row, layout=wrap) for row in rows[:2]), self.message.box, self.picture.image, self.facts]
            + [widgets.HBox(links, layout=wrap), self.clock, self.bits]
        )
        self.box.add_class("dtnn-panel").add_class("dtnn-allreduce")
        self.choice.add_class("dtnn-algorithm")
        for control in (self.choice, self.ranks, self.length, self.node):
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

    def measure(self):
        """Run it with slow links, and put the clock beside the formula."""
        return begin(self._try(self._measure))

    def compare(self):
        """What each algorithm makes of 1e8, 1, -1e8, 1 in float32, one number a rank."""
        return begin(self._try(self._compare))

    async def _try(self, work):
        """Work that takes a while goes on in a thread; what goes wrong with it is said here."""
        try:
            await asyncio.to_thread(work)
        except Exception as error:
            self.message.say(error)

    def _measure(self):
        name, ranks, length = self.choice.value, self.ranks.value, self.length.value
        latency, bandwidth = self.latency.value / 1e3, self.bandwidth.value * 1e6
        self.clock.value = faint("measuring …")
        took = clocked(self._function(name), ranks, length, latency, bandwidth)
        self.clock.value = clock_line(name, self._formula(), latency, bandwidth, took)

    def _compare(self):
        self.bits.value = faint("adding …")
        self.bits.value = bits_table({name: summed(self._function(name)) for name in self._algorithms()})

    # ---- what is seen

    def _own(self):
        """The user's all-reduces: the one that was handed over, and those of the notebook."""
        return self._given | own_allreduces(self._names)

    def _function(self, name):
        return function(name, self._own(), self.node.value)

    def _formula(self):
        return formula(self.choice.value, self.ranks.value, self.length.value * ITEM, self.node.value)

    def _algorithms(self):
        return [*self._own(), *(name for name in collectives.ALGORITHMS if name not in self._own())]

    def _after_cell(self, *_):
        if list(self.choice.options) != self._algorithms():
            self._offer(self._algorithms())
        elif self.choice.value in self._own():
            self._again()

    def _offer(self, algorithms):
        """Other algorithms to choose from, and the same one chosen; a list that gets them chooses its first for a moment."""
        chosen = self.choice.value
        self.choice.unobserve(self._again, "value")
        self.choice.options = algorithms
        self.choice.value = chosen if chosen in algorithms else algorithms[0]
        self.choice.observe(self._again, "value")
        if self.choice.value != chosen or chosen in self._own():
            self._again()

    def _again(self, _=None):
        """Watch the chosen algorithm: dtnn's at once, one of the user's own in a thread, since it may never end."""
        name, own = self.choice.value, self._own()
        if name in own:
            begin(self._try(lambda: self._watch_own(name, own[name])))
        else:
            self._take(rounds(self._function(name), self.ranks.value, self.length.value))

    def _watch_own(self, name, algorithm):
        seen = within(PATIENCE, rounds, algorithm, self.ranks.value, self.length.value)
        if self.choice.value == name:  # else another was chosen meanwhile
            self._take(seen)

    def _take(self, seen):
        self.seen, self._drawn, self.clock.value = seen, None, ""
        self.message.say("")
        least = lower_bound(self.ranks.value, self.length.value * ITEM)
        self.facts.value = counts_table(seen, self._formula(), least, self._between())
        self.round.max = len(seen)
        self.round.value = 0
        self._show()

    def _between(self):
        """Messages and bytes from node to node; None where there is no node of several ranks, or no message is seen."""
        if not self.seen.parcels or not 1 < self.node.value < self.ranks.value:
            return None
        count, numbers = self.seen.between(self.node.value)
        return count, numbers * ITEM

    def _show(self):
        """What the ranks hold now, and the messages that go next."""
        done = min(self.round.value, len(self.seen))
        held = self.seen.sums[done]
        self._drawn = self._drawn or Messages(self.picture.axes(), *held.shape, self.node.value)
        self._drawn.show(held, self.seen.of(done + 1), f"{self.choice.value}: {self._where(done)}")
        self.picture.show(self._drawn.moving)

    def _where(self, done):
        if not self.seen.parcels:
            return "the library's own, its messages are not seen; " + ("at the end" if done else "at first")
        return f"round {done + 1} of {len(self.seen)}" if done < len(self.seen) else f"after {done} rounds"

    def close(self):
        """Take it away."""
        self._leave()
        if self._playing is not None:
            self._playing.cancel()
        super().close()

    def words(self):
        """The present round in words."""
        head = f"{self.choice.value} on {self.ranks.value} ranks, {self.length.value} numbers: {self._where(self.round.value)}"
        return "\n".join([head, *(f"  {_sentence(parcel)}" for parcel in self.seen.of(self.round.value + 1))])

    def png(self):
        """The present picture."""
        return self.picture.png


def _sentence(parcel):
    what = "something" if parcel.start is None else f"numbers {parcel.start} to {parcel.start + parcel.count - 1}"
    return f"rank {parcel.source} -> rank {parcel.dest}: {what if parcel.count else 'nothing'}"


def _word(text):
    return widgets.HTML(faint(text))
