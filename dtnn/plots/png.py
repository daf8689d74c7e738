"""A drawn canvas as the bytes of a PNG."""

import io

from PIL import Image

COLOURS = 128  # of a drawing: half the bytes and the time of a full one, and no difference to be seen
LEVEL = 1  # of compression: more takes longer than it saves, for bytes that are looked at once


def png(canvas, colours=COLOURS, told=None):
    """What was drawn on an Agg canvas.

    Parameters
    ----------
    canvas : FigureCanvasAgg
    colours : int or None
        At most so many in the picture; None for all, where photographs or smooth shades are in it.
    told : PIL.PngImagePlugin.PngInfo, optional
        Text chunks to be kept in it.

    Returns
    -------
    bytes

    Examples
    --------
    >>> from matplotlib.backends.backend_agg import FigureCanvasAgg
    >>> from matplotlib.figure import Figure
    >>> canvas = FigureCanvasAgg(Figure())
    >>> canvas.draw()
    >>> png(canvas)[1:4]
    b'PNG'
    """
    written = io.BytesIO()
    image = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba(), "raw", "RGBA", 0, 1).convert("RGB")
    if colours:
        image = image.quantize(colours, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    image.save(written, "png", compress_level=LEVEL, pnginfo=told)
    return written.getvalue()
