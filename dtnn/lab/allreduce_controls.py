"""`AllReduceControls`: which all-reduce, on how many ranks and nodes, of how long a vector."""

import contextlib

import ipywidgets as widgets

from .. import allowed
from ..comm import collectives
from ..comm.collectives.torus import grid as most_square
from . import given
from .allreduce_choice import Choice
from .allreduce_facts import function
from .looks import title
from .own import called, own_allreduces
from .rounds import MOST
from .torus_grid import grids

LONGEST = 100_000  # numbers


class AllReduceControls:
    """Controls in a row.

    Parameters
    ----------
    algorithm, ranks, length, ranks_per_node, grid
        To begin with, see `AllReduceLab`.
    names : dict
        The notebook's variables; functions ``(comm, array)`` among them stand in the list, too.
    changed : callable
        Called when something else was chosen.

    Raises
    ------
    ValueError, TypeError
        There is no such algorithm (the text has the nearest one), or so many ranks or numbers can't be shown, or they make no
        such grid.

    Attributes
    ----------
    algorithm, ranks, length, node, grid : Widget
    row : list of Widget
    """

    def __init__(self, algorithm, ranks, length, ranks_per_node, grid, names, changed):
        ranks, length = given.whole("ranks", ranks, 2, MOST), given.whole("length", length, 1, LONGEST)
        ranks_per_node = given.whole("ranks_per_node", ranks_per_node, 1, MOST)
        rows = _rows(grid, ranks)
        self.names, self._changed = names, changed
        self._given = {called(algorithm): algorithm} if callable(algorithm) else {}
        algorithm = called(algorithm) if callable(algorithm) else algorithm
        allowed.one_of("algorithm", algorithm, self._algorithms(), ", or a function of yours (comm, array)")
        self._make(algorithm, ranks, length, ranks_per_node, rows)

    def _make(self, algorithm, ranks, length, ranks_per_node, rows):
        self.algorithm = widgets.Dropdown(options=self._algorithms(), value=algorithm, layout={"width": "170px"})
        self.ranks = widgets.IntSlider(ranks, 2, MOST, description="ranks", layout={"width": "250px"}, continuous_update=False)
        self.length = widgets.BoundedIntText(length, min=1, max=LONGEST, layout={"width": "90px"}).add_class("dtnn-length")
        self.node = widgets.BoundedIntText(ranks_per_node, min=1, max=MOST, layout={"width": "60px"}).add_class("dtnn-node")
        self.grid = widgets.Dropdown(options=_grids(ranks), value=rows, layout={"width": "90px"}).add_class("dtnn-grid")
        self._of_torus = title("grid"), self.grid
        sizes = self.ranks, title("ranks a node"), self.node, title("numbers"), self.length
        self.row = [title("all-reduce"), self.algorithm.add_class("dtnn-algorithm"), *sizes, *self._of_torus]
        for control in (self.algorithm, self.ranks, self.length, self.node, self.grid):
            control.observe(self._other, "value")
        self._offer_grids()

    def _other(self, _):
        self._offer_grids()
        self._changed()

    # ---- what is chosen

    def choice(self):
        """All of it, as a `Choice`."""
        name, own = self.algorithm.value, self._own()
        rows = self.grid.value if name == "torus" and name not in own else None
        algorithm = function(name, own, self.node.value, rows)
        return Choice(name, algorithm, self.ranks.value, self.length.value, self.node.value, rows, name in own)

    def functions(self):
        """All algorithms by name, as the present choices have them."""
        own = self._own()
        return {name: function(name, own, self.node.value, self.grid.value) for name in self._algorithms()}

    # ---- what there is to choose

    def refresh(self):
        """A cell may have defined an all-reduce, or the chosen one anew."""
        if list(self.algorithm.options) != self._algorithms():
            self._offer(self._algorithms())
        elif self.algorithm.value in self._own():
            self._changed()

    def _own(self):
        """The user's all-reduces: the one that was handed over, and those of the notebook."""
        return self._given | own_allreduces(self.names)

    def _algorithms(self):
        return [*self._own(), *(name for name in collectives.ALGORITHMS if name not in self._own())]

    def _offer(self, algorithms):
        """Other algorithms to choose from, and the same one chosen."""
        chosen = self.algorithm.value
        with self._unobserved(self.algorithm):
            self.algorithm.options = algorithms
            self.algorithm.value = chosen if chosen in algorithms else algorithms[0]
        if self.algorithm.value != chosen or chosen in self._own():
            self._other(None)

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
        control.unobserve(self._other, "value")
        yield
        control.observe(self._other, "value")


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
