"""A file from the network: fetched once, checked, kept; with a way out where there is no network."""

import hashlib
import os
from contextlib import contextmanager
from pathlib import Path

from ..kernels.cache import base


def fetch(name, mirrors, sha256, instead):
    """The path of a file on this machine, fetched if it is not there yet.

    It is looked for in the folder `$DTNN_DATA_DIR` (of a class, say; may be read-only) and in dtnn's cache, and fetched into the
    first of the two that can be written.  The ranks of a machine may call this at once: one of them fetches, the others wait.

    Parameters
    ----------
    name : str
        Of the file.
    mirrors : sequence of str
        Addresses that the name is appended to, tried in turn.
    sha256 : str
        Checksum of the file, in hexadecimal; a file with another one is not used.
    instead : str
        What to use without a network, for the error.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ModuleNotFoundError
        The package pooch is not installed; says how.
    ConnectionError
        No mirror gave the right file; says why not, what is there without a network, and where to put the file by hand.
    """
    for folder in folders():
        if is_right(folder / name, sha256):
            return folder / name
    folder = writable(folders())
    with alone(folder / f"{name}.lock"):
        if not is_right(folder / name, sha256):  # another rank may have fetched it meanwhile
            _from_mirrors(folder, name, mirrors, sha256, instead)
    return folder / name


def folders():
    """Where data sets are kept."""
    shared = os.environ.get("DTNN_DATA_DIR")
    return [*([Path(shared).expanduser()] if shared else []), base() / "data"]


def writable(candidates):
    """The first folder that can be written."""
    for folder in candidates:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise PermissionError(f"none of {', '.join(map(str, candidates))} can be written; set DTNN_DATA_DIR to a folder that can")


def is_right(path, sha256):
    """Whether the file is there and has this checksum."""
    if not path.is_file():
        return False
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest() == sha256


@contextmanager
def alone(path):
    """Only one process at a time is inside; the lock goes with the process that holds it, however that ends."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows: two may fetch at once, which costs time and harms nothing
        yield
        return
    lock = os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)  # reading is enough to lock it, so it may be another user's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _from_mirrors(folder, name, mirrors, sha256, instead):
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f'{name} has to be fetched, which needs the package pooch: python -m pip install "dtnn[data]". Without it: {instead}'
        ) from error
    reasons = []
    for mirror in mirrors:
        try:  # pooch writes under another name and renames, so that a broken transfer leaves nothing
            pooch.retrieve(mirror + name, f"sha256:{sha256}", fname=name, path=folder, progressbar=False)
            (folder / name).chmod(0o644)  # a folder of a class is for others, too
            return
        except (OSError, ValueError) as error:  # requests' errors are OSErrors; a wrong checksum is a ValueError
            reasons.append(f"{mirror}: {type(error).__name__}: {str(error)[:150]}")
    raise ConnectionError(
        f"{name} could not be fetched. Without a network: {instead}. Or put the file (sha256 {sha256}) into {folder}. "
        f"What was tried: {'; '.join(reasons)}"
    )
