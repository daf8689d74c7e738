"""Files of arrays with a description: ``.npz`` without pickle, written whole or not at all."""

import json
import os
import tempfile
import zipfile

import numpy as np

ABOUT = "dtnn"  # the entry of the archive that holds the description
FORMAT = 1


def write(path, about, arrays):
    """Write the arrays and a description of plain values to `path`; first under a temporary name beside it, then renamed.

    Raises
    ------
    OSError
        If the folder doesn't exist or can't be written; an older file at `path` is left as it was.
    """
    path = os.fspath(path)
    folder = os.path.dirname(os.path.abspath(path))
    text = json.dumps({"format": FORMAT, **about})
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".dtnn-", suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            # C order: a transposed view would otherwise be written with its axes marked, and read back in Fortran order
            np.savez(
                file, **{ABOUT: np.frombuffer(text.encode(), np.uint8)}, **{k: np.ascontiguousarray(a) for k, a in arrays.items()}
            )
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read(path):
    """The description and the arrays that `write` wrote; nothing in the file is executed.

    Raises
    ------
    ValueError
        If the file is no model of dtnn, is damaged, or was written by a newer dtnn.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(arrays.pop(ABOUT).tobytes().decode())
    except (KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} is not a model saved by dtnn, or is damaged: {error}") from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError(
            f"{path} was written in format {about.get('format')!r}, this dtnn reads {FORMAT}; a newer dtnn may read it"
        )
    return about, arrays


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
