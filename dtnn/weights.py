"""Files of arrays with a description: ``.npz`` without pickle, written whole or not at all."""

import json

import numpy as np

from .arrays_file import arrays
from .whole_file import whole_file

ABOUT = "dtnn"  # the entry of the archive that holds the description
FORMAT = 1


def write(path, about, named):
    """Write the arrays and a description of plain values to `path`, whole or not at all.

    Raises
    ------
    OSError
        If the folder doesn't exist or can't be written; an older file at `path` is left as it was.
    """
    text = json.dumps({"format": FORMAT, **about})
    # C order: a transposed view would otherwise come back in Fortran order
    ordered = {name: np.ascontiguousarray(array) for name, array in named.items()}
    with whole_file(path) as file:
        np.savez(file, **{ABOUT: np.frombuffer(text.encode(), np.uint8)}, **ordered)


def read(path):
    """The description and the arrays that `write` wrote; nothing in the file is executed.

    Raises
    ------
    ValueError
        If the file is no model of dtnn, is damaged, or was written by a newer dtnn.
    """
    try:
        found = arrays(path)
        about = json.loads(found.pop(ABOUT).tobytes().decode())
    except (KeyError, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is not a model saved by dtnn, or is damaged: {error}") from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError(
            f"{path} was written in format {about.get('format')!r}, this dtnn reads {FORMAT}; a newer dtnn may read it"
        )
    return about, found
