"""`ShardView`: which rank trains on which sample, for the studio's data and settings."""

import ipywidgets as widgets
import numpy as np

from ..data import batches, global_batch, shares
from ..plots.shards import NOBODY, TWICE, class_balance, shards
from .looks import Message
from .sheet import Sheet

EPOCHS = 4  # that are shown
MOST = 16  # ranks that can be told apart


def owners(total, ranks, batch_size, seed=0, epochs=EPOCHS, servers=0, first=1):
    """The rank that trains on each sample in each epoch, found as the training finds it, and checked: (epochs, total).

    The epochs are those from `first` on. Of `ranks`, the first `servers` get no samples.

    Raises
    ------
    ValueError
        A batch smaller than the number of ranks, or more ranks than there are colours.

    Examples
    --------
    >>> found = owners(10, 2, 4)
    >>> found.shape, sorted(np.bincount(found[0]).tolist())
    ((4, 10), [5, 5])
    """
    if ranks > MOST:
        raise ValueError(f"{ranks} ranks can't be told apart by colour; up to {MOST} are shown")
    found = np.full((epochs, total), NOBODY)
    for row, epoch in zip(found, range(first, first + epochs)):
        used = []
        for indices in batches(total, global_batch(total, ranks, batch_size), seed, epoch):
            for rank, (first, count) in enumerate(shares(len(indices), ranks - servers), servers):
                used.append(indices[first : first + count])
                row[used[-1]] = rank
        row[np.bincount(np.concatenate(used), minlength=total) > 1] = TWICE
    return found


class ShardView:
    """A picture that is drawn when its box is opened.

    Parameters
    ----------
    ask : callable
        Gives the data set, the number of ranks, the global batch size and the number of servers of the moment.
    """

    def __init__(self, ask):
        self._ask, self.sheet, self.message = ask, Sheet(760, 420), Message()
        tip = "the first epoch that is shown, and whose samples of each class are counted"
        self.epoch = widgets.BoundedIntText(1, min=1, max=10**6, layout={"width": "80px"}, tooltip=tip).add_class(
            "dtnn-shards-of"
        )
        self.epoch.observe(lambda _: self.show(), "value")
        line = widgets.HBox([widgets.HTML(f'<span class="dtnn-label" title="{tip}">from epoch</span>'), self.epoch])
        inside = widgets.VBox([self.message.box, line, self.sheet.image])
        self.box = widgets.Accordion([inside], titles=("who trains on which sample",), selected_index=None)
        self.box.add_class("dtnn-shards").observe(lambda _: self.show(), "selected_index")

    def show(self):
        """Draw it, if it is looked at; what can't be is said."""
        if self.box.selected_index is None:
            return
        try:
            data, ranks, batch, servers = self._ask()
            first = self.epoch.value
            found = owners(len(data), ranks, batch, servers=servers, first=first)
            upper, lower = self.sheet.axes(rows=2)
            shards(found, upper, ranks, first)
            labels = data.train.y
            if labels is not None and labels.ndim == 1 and labels.dtype.kind == "i":
                class_balance(found[0], labels, lower, ranks)
                titled = {"loc": "left", "fontsize": "medium", "fontweight": "bold"}
                lower.set_title(f"Samples of each class, by rank, in epoch {first:,}", **titled)
            else:
                lower.set_axis_off()
            self.sheet.show()
            self.message.say("")
        except Exception as error:
            self.message.say(error)
