"""`LaunchForm`: how many ranks are to be started, of which kind, with how many threads."""

import ipywidgets as widgets

from .looks import title
from .places import LAUNCHERS, place, threads

MOST = 256  # ranks
WRAP = {"flex_flow": "row wrap", "align_items": "center"}


class LaunchForm:
    """Three controls in a row.

    Parameters
    ----------
    ranks : int
    launcher : str
        "mpi" or "threads".

    Examples
    --------
    >>> LaunchForm(3, "threads").place()
    {'ranks': 3, 'launcher': 'threads', 'threads_per_rank': None}
    """

    def __init__(self, ranks, launcher):
        name = next(name for name, value in LAUNCHERS.items() if value == launcher)
        self.ranks = widgets.BoundedIntText(ranks, min=1, max=MOST, layout={"width": "70px"}).add_class("dtnn-ranks")
        self.launcher = widgets.Dropdown(options=list(LAUNCHERS), value=name, layout={"width": "170px"})
        self.threads = widgets.Dropdown(options=threads(), layout={"width": "100px"})
        parts = title("ranks"), self.ranks, self.launcher, title("threads a rank"), self.threads
        self.box = widgets.HBox(parts, layout=WRAP)

    def place(self):
        """What `Cluster` is told."""
        return place(self.ranks.value, self.launcher.value, self.threads.value)

    def enable(self, free):
        """Whether something else can be chosen."""
        for control in (self.ranks, self.launcher, self.threads):
            control.disabled = not free
