"""What a convolution looks for, and what it finds in an image."""

import numpy as np

from ..nn import Conv2d
from ..nn.tree import named_layers
from ..plots.tiles import tiles
from ..training.asked import check_model
from .inner import layer_outputs

MOST = 48  # filters or maps that are shown
MOST_CHANNELS = 8


def filters(model, layer=None, ax=None):
    """Draw the filters of a convolution: positive weights blue, negative red, zero white, all by one measure.

    Parameters
    ----------
    model : Model
    layer : str, optional
        Its name, as ``model.summary()`` has it; the first one without it.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        A picture for each filter; where it has several input channels, a column of them for each filter.

    Raises
    ------
    ValueError
        There is no convolution of that name; says which there are.

    Examples
    --------
    >>> import dtnn
    >>> from matplotlib.figure import Figure
    >>> len(filters(dtnn.zoo.lenet5(), ax=Figure().add_subplot()).collections[0].get_paths())
    6
    """
    found = {name: each for name, each, _ in named_layers(check_model(model).net) if isinstance(each, Conv2d)}
    if not found:
        raise ValueError("this model has no convolution whose filters could be shown")
    name = next(iter(found)) if layer is None else layer
    if name not in found:
        raise ValueError(f"there is no convolution {name!r}; there are {', '.join(found)}")
    values = np.asarray(found[name].weight.value, float)
    count, channels = values.shape[:2]
    if channels == 1:
        shown = values[:MOST, 0]
        return tiles(shown, (), ax, f"Filters of {name}{_of(len(shown), count)}", signed=True)
    across, rows = min(count, 16), min(channels, MOST_CHANNELS)
    title = f"Filters of {name}{_of(across, count)}, a column each; input channels from the top{_of(rows, channels)}"
    shown = values[:across, :rows].swapaxes(0, 1).reshape(-1, *values.shape[2:])
    return tiles(shown, (), ax, title, columns=across, signed=True)


def feature_maps(model, image, layer=None, ax=None):
    """Draw what a layer makes of an image: one map for each of its channels, the image itself first.

    Parameters
    ----------
    model : Model
    image : array (H, W, C)
        One, as the data set has it.
    layer : str, optional
        A layer that gives maps, by its name in ``model.summary()``; the first convolution without it.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        Each map from its lowest number (black) to its highest (white).

    Raises
    ------
    ValueError
        The image doesn't fit, or no such layer gives maps; says which do.

    Examples
    --------
    >>> import dtnn
    >>> from matplotlib.figure import Figure
    >>> ax = feature_maps(dtnn.zoo.lenet5(), dtnn.data.mnist5k().x_test[0], ax=Figure().add_subplot())
    >>> [text.get_text() for text in ax.texts]
    ['image', '0', '1', '2', '3', '4', '5']
    """
    check_model(model)
    image = np.asarray(image)
    if image.shape != tuple(model.input_shape):
        raise ValueError(
            f"one image of shape {tuple(model.input_shape)} is wanted, not {image.shape}: give one sample, x_test[0]"
        )
    found = {name: y[0] for name, y in layer_outputs(model, image[None]).items() if y.ndim == 4}
    if not found:
        raise ValueError("no layer of this model gives maps; its layers give numbers")
    name = layer or next((name for name in found if name.startswith("conv2d")), next(iter(found)))
    if name not in found:
        raise ValueError(f"there is no layer {name!r} that gives maps; there are {', '.join(found)}")
    count = found[name].shape[2]
    maps = [found[name][..., k] for k in range(min(count, MOST))]
    words = ["image", *map(str, range(len(maps)))]
    return tiles([image, *maps], words, ax, f"What {name} makes of the image{_of(len(maps), count)}", each=True)


def _of(shown, count):
    """
    >>> _of(6, 6), _of(6, 64)
    ('', ' (6 of 64)')
    """
    return f" ({shown} of {count})" if shown < count else ""
