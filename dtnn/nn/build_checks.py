"""What a layer asks when it is built: whether samples have the shape it takes, and weights that it has already fit."""

import re


def check_samples(layer, shape, forms, remedy):
    """Raise a `ValueError` if samples don't have as many axes as a layer takes.

    Parameters
    ----------
    layer : Layer
    shape : tuple of int
        Of one sample.
    forms : str
        What it takes, in words: "(C, H, W)", "(D,) or (D, T)".
    remedy : str

    Examples
    --------
    >>> from dtnn.nn import Linear
    >>> check_samples(Linear(3), (28, 28), "(D,) or (D, T)", "put Flatten() before it")
    >>> check_samples(Linear(3), (1, 28, 28), "(D,) or (D, T)", "put Flatten() before it")
    Traceback (most recent call last):
    ValueError: Linear(3) takes samples of shape (D,) or (D, T), but gets (1, 28, 28); put Flatten() before it
    """
    if len(shape) not in [len(re.findall("[A-Z]", form)) for form in forms.split(" or ")]:
        raise ValueError(f"{layer!r} takes samples of shape {forms}, but gets {tuple(shape)}; {remedy}")


def check_built(layer):
    """Raise a `ValueError` where a layer is to work whose weights nobody has made.

    >>> from dtnn.nn import Linear
    >>> check_built(Linear(3))
    Traceback (most recent call last):
    ValueError: Linear(3) is not built yet: put it into a Model, or call its build(shape, rng) with the shape of a sample
    """
    if not type(layer).__module__.startswith(f"{__package__}."):
        return  # one of the user's own, whose weight may be what it likes
    if getattr(layer, "weight", layer) is None or getattr(layer, "project", layer) is None:  # of attention: its first product
        raise ValueError(
            f"{layer!r} is not built yet: put it into a Model, or call its build(shape, rng) with the shape of a sample"
        )


def keeps_weights(layer, shape):
    """Whether a layer, built before, goes on with the weights that it has: one layer used twice in a network.

    Raises
    ------
    ValueError
        If they have another shape.
    """
    if layer.weight is None:
        return False
    if layer.weight.value.shape != shape:
        raise ValueError(
            f"{layer!r} has weights of shape {layer.weight.value.shape} already, but here it needs {shape}; "
            f"use a new layer where the input has another shape"
        )
    return True
