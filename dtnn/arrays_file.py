"""Reading arrays from files that anybody may have made: nothing is executed, and no more memory taken than the file is worth."""

import math
import os
import zipfile
import zlib
from tokenize import TokenError

import numpy as np

from . import allowed

PACKED = 100  # times its own size that a file may hold, where that is a lot
LITTLE = 2**28  # bytes that any file may hold
PIECE = 2**20  # bytes that are read at once
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def arrays(path, names=None):
    """The arrays of a ``.npz`` file, by name.

    Parameters
    ----------
    path : path
        Names in the archive are names only: nothing is unpacked to the disk.
    names : collection of str, optional
        Those that are wanted; others are not read.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        It is no such file or damaged; or an array holds Python objects (which could run anything when they are read), is
        not as large as it says, or is packed so that a small file fills the memory.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/a.npz", x=np.arange(3))
    ...     arrays(f"{folder}/a.npz")
    {'x': array([0, 1, 2])}
    """
    path = allowed.file("path", path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            wanted = {name: entry for name, entry in entries.items() if names is None or name in names}
            _check_sizes(wanted.values(), os.path.getsize(path))
            return {name: _array(archive, entry) for name, entry in wanted.items()}
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, MemoryError, SyntaxError, TokenError) as error:
        raise ValueError(f"{path} is no file of arrays, or is damaged: {error or type(error).__name__}") from error


def _check_sizes(entries, size):
    held, packed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
    if packed > size or held > max(LITTLE, PACKED * size):
        raise ValueError(f"it says that it holds {held:.3g} bytes in {size}: it would fill the memory, and is not read")


def _array(archive, entry):
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        if version not in HEADERS:
            raise ValueError(f"{entry.filename} is of version {version} of the format, which dtnn doesn't read")
        shape, fortran, dtype = HEADERS[version](file)
        if dtype.hasobject:
            raise ValueError(f"{entry.filename} holds Python objects; they could run anything, and are not read")
        count, rest = math.prod(shape), entry.file_size - file.tell()
        if count < 0 or count * dtype.itemsize != rest:
            raise ValueError(f"{entry.filename} should be {shape} of {dtype}, {count * dtype.itemsize} bytes, and has {rest}")
        flat = np.empty(count, dtype)
        _fill(memoryview(flat.view(np.uint8)), file, entry.filename)
    return flat.reshape(shape, order="F" if fortran else "C")


def _fill(bytes, file, name):
    place = 0
    while place < len(bytes):
        piece = file.read(min(PIECE, len(bytes) - place))
        if not piece:
            raise ValueError(f"{name} ends too early")
        bytes[place : place + len(piece)] = piece
        place += len(piece)
