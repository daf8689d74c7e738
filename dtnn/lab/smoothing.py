"""`Smoothing`: how much of a curve's jumping is evened out, chosen where curves are."""

import ipywidgets as widgets

from ..plots.smooth import SMOOTHING

SHARES = {"none": 0.0, "2 %": 0.02, "5 %": SMOOTHING, "10 %": 0.1, "20 %": 0.2, "40 %": 0.4}
TIP = "the running mean of each curve is taken over that share of its points; the numbers themselves stay, faint, behind it"


class Smoothing:
    """A small slider that several tabs show, each a view of the same one.

    Parameters
    ----------
    changed : callable
        Called without arguments when another share is chosen.

    Examples
    --------
    >>> smoothing = Smoothing(lambda: print(smoothing.share))
    >>> smoothing.slider.value = 0.2
    0.2
    """

    def __init__(self, changed):
        about = {"tooltip": TIP, "style": {"description_width": "initial"}, "layout": {"width": "230px"}}
        self.slider = widgets.SelectionSlider(options=SHARES.items(), value=SMOOTHING, description="smoothing", **about)
        self.slider.add_class("dtnn-smoothing").observe(lambda _: changed(), "value")

    @property
    def share(self):
        """Share of a curve's points."""
        return self.slider.value
