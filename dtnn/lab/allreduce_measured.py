"""`Measured`: links as slow as one likes, the clock beside the formula, and what each algorithm makes of a sum."""

import functools

import ipywidgets as widgets

from .allreduce_choice import PATIENCE
from .allreduce_facts import predicted, summed
from .allreduce_tables import bits_table, clock_line
from .attempt import Attempt
from .looks import Message, faint, in_words, title
from .node_links import Links
from .trial import Ended, tried

LONGEST = 60.0  # seconds that are measured at most


class Measured:
    """The lower part of an `AllReduceLab`.

    Parameters
    ----------
    chosen : callable
        ``chosen()`` gives the `Choice` that is looked at, and its `Rounds`; None before the first.
    algorithms : callable
        ``algorithms()`` gives all of them by name.
    changed : callable
        Called when there is something new to be seen.
    """

    def __init__(self, chosen, algorithms, changed):
        self._chosen, self._algorithms, self._changed = chosen, algorithms, changed
        self.latency = widgets.BoundedFloatText(5.0, min=0, max=1000, layout={"width": "70px"}).add_class("dtnn-latency")
        self.bandwidth = widgets.BoundedFloatText(1.0, min=0.001, max=10_000, layout={"width": "70px"})
        self.slower = widgets.BoundedFloatText(1.0, min=1, max=1000, layout={"width": "60px"}).add_class("dtnn-slower")
        self.slower.tooltip = "a message from one node to another takes so many times as long"
        self.measuring = Attempt("measure", "run it once with links this slow", self._measure, self._measured)
        self.comparing = Attempt("compare bits", "each algorithm on 1e8, 1, -1e8, 1", self._compare, self._compared)
        self.measuring.button.add_class("dtnn-measure")
        self.comparing.button.add_class("dtnn-compare")
        self.message, self.clock, self.bits = Message(), widgets.HTML(), widgets.HTML()
        self.clock.add_class("dtnn-clock")
        self.bits.add_class("dtnn-bits")
        links = [title("links:"), self.latency, _word("ms a message,"), self.bandwidth, _word("MB/s; between nodes")]
        row = [*links, self.slower, _word("times as slow"), self.measuring.button, self.comparing.button]
        wrap = {"flex_flow": "row wrap", "align_items": "center"}
        self.parts = [widgets.HBox(row, layout=wrap), self.message.box, self.clock, self.bits]

    def forget(self):
        """Another choice: what was measured isn't its."""
        self.measuring.end()
        self.clock.value = ""
        self.message.say("")

    def close(self):
        """End what goes on."""
        self.measuring.end()
        self.comparing.end()

    def _measure(self, ending):
        choice, seen = self._chosen()
        if choice is None:
            raise ValueError("there is nothing to be measured yet")
        links = Links(self.latency.value / 1e3, self.bandwidth.value * 1e6, choice.ranks_per_node, self.slower.value)
        told = predicted(seen, choice.ranks, links) if links.slower > 1 or not choice.cost else None
        formula = choice.cost.seconds(links.latency, 1 / links.bandwidth) if told is None and choice.cost else None
        takes = told or formula or 0.0
        if takes > LONGEST:
            raise ValueError(f"that takes {takes:,.0f} s; at most {LONGEST:g} s are measured: take fewer numbers or faster links")
        self.message.say("")
        self.clock.value = faint("measuring …")
        took = choice.clocked(links, LONGEST, ending)
        if not ending.is_set():
            self.clock.value = clock_line(str(choice), formula, told, took)
            self._changed()

    def _measured(self, error):
        self.clock.value = ""
        self.message.say(error or "")

    def _compare(self, ending):
        self.bits.value, found = faint("adding …"), {}
        for name, algorithm in self._algorithms().items():
            run = functools.partial(tried, seconds=PATIENCE, ending=ending)
            try:
                found[name] = summed(algorithm, run=run)
            except Ended:
                raise
            except Exception as error:
                found[name] = in_words(error)
            self.bits.value = bits_table(found)
        self._changed()

    def _compared(self, error):
        if error is not None:
            self.bits.value = ""
            self.message.say(error)


def _word(text):
    return widgets.HTML(faint(text))
