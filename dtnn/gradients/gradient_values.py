"""`rows`: the numbers of a gradient, a row for each rank, from what a record tells of them as text."""

import base64
import binascii

import numpy as np

DTYPES = ("float16", "float32", "float64")


def rows(parameters, name, which, step):
    """Those of a parameter.

    Parameters
    ----------
    parameters : dict
        Of a `GradientValues`.
    name : str or None
        The parameter; None where there is only one.
    which : {"before", "after"}
        The reduction.
    step : int
        For the words of an error.

    Returns
    -------
    ndarray (ranks, *shape), or (ranks, numbers) where not all were told.

    Raises
    ------
    ValueError
        There is no such parameter, or its text is damaged.
    """
    if name is None and len(parameters) == 1:
        name = next(iter(parameters))
    if not isinstance(name, str) or name not in parameters:
        there = f"there are {', '.join(parameters)}" if parameters else 'ask for one: run.gradients("linear_1")'
        raise ValueError(f"the numbers of {name!r} were not told in step {step}; {there}")
    entry = parameters[name]
    try:
        return _decoded(entry, entry[which])
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise ValueError(f"the gradients of {name} in step {step} are damaged: {error}") from None


def _decoded(entry, texts):
    if entry["dtype"] not in DTYPES:
        raise ValueError(f"their type is {entry['dtype']!r:.40}")
    found = np.stack([np.frombuffer(base64.b64decode(text, validate=True), entry["dtype"]) for text in texts])
    return found.reshape(len(found), *entry["shape"]) if entry["every"] == 1 else found
