"""`Mosaic`: an image of which each pixel of the screen is one of its own; matplotlib's own way takes ten times as long."""

import numpy as np
from matplotlib.image import AxesImage
from matplotlib.transforms import Bbox, IdentityTransform, TransformedBbox


class Mosaic(AxesImage):
    """An image in red, green and blue, without any smoothing.

    Parameters
    ----------
    ax : matplotlib Axes
        Add it there by ``ax.add_image``.
    sheet : array (H, W, 3) of uint8
    extent : (left, right, bottom, top)
        Where it lies; the axes go to the right and upwards.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> image = ax.add_image(Mosaic(ax, np.zeros((2, 3, 3), np.uint8), (0, 3, 0, 2)))
    >>> ax.set(xlim=(0, 4), ylim=(0, 4))[0]
    (0.0, 4.0)
    >>> seen, left, low, _ = image.make_image(None)
    >>> seen.shape[:2] == (round(ax.bbox.height / 2), round(3 * ax.bbox.width / 4))
    True
    """

    def __init__(self, ax, sheet, extent):
        super().__init__(ax, interpolation="nearest", extent=extent)
        self.set_data(sheet)
        self.set_clip_path(ax.patch)

    def make_image(self, renderer, magnification=1.0, unsampled=False):
        """The pixels of the screen, from the lowest row, and where they begin."""
        left, right, low, high = self.get_extent()
        sheet = np.asarray(self.get_array())
        box = TransformedBbox(Bbox(((left, low), (right, high))), self.axes.transData)
        (x0, y0), (x1, y1) = np.rint(box)
        rows = nearest(round(magnification * max(0, y1 - y0)), len(sheet))[::-1]
        seen = np.full((len(rows), round(magnification * max(0, x1 - x0)), 4), 255, np.uint8)
        seen[..., :3] = sheet[rows][:, nearest(seen.shape[1], sheet.shape[1])]
        return (seen if seen.size else None), x0, y0, IdentityTransform()


def nearest(size, count):
    """Which of `count` pixels is seen at each of `size` places.

    >>> nearest(4, 2).tolist()
    [0, 0, 1, 1]
    """
    return ((np.arange(size) + 0.5) * count / size).astype(int) if size else np.arange(0)
