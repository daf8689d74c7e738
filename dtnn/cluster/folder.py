"""A private folder for each cluster: keys, logs and connection files, for this user's eyes only, gone when the cluster is."""

import contextlib
import os
import secrets
import stat
import tempfile


def make(prepare=None, shared=False):
    """A new folder, mode 0700; its path is what the cluster's processes are known by.

    Parameters
    ----------
    prepare : callable, optional
        Puts first things into it; takes the path it has until then: nobody sees it unprepared.
    shared : bool
        Whether other hosts have to see it: then it is in the user's home.

    Raises
    ------
    PermissionError
        The place where such folders go belongs to somebody else.
    """
    name = f"c{os.getpid()}-{secrets.token_hex(4)}"
    where = state_place() if shared else place()
    path, hidden = os.path.join(where, name), os.path.join(where, f".{name}")
    os.mkdir(hidden, 0o700)
    if prepare is not None:
        prepare(hidden)
    os.rename(hidden, path)
    return path


def clusters(place):
    """The folders of clusters in a place; none where there is no such place."""
    try:
        return [os.path.join(place, name) for name in os.listdir(place) if name.startswith("c")]
    except OSError:
        return []


def places():
    """Where this user's clusters may have their folders, be there some or not."""
    return [place(), os.path.join(_state(), "dtnn")]


def place():
    """Where the folders of this user's clusters are: ``$XDG_RUNTIME_DIR/dtnn``, else ``dtnn-<uid>`` in the temporary folder."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.path.isdir(runtime) and os.access(runtime, os.W_OK | os.X_OK):
        return _private(os.path.join(runtime, "dtnn"))
    return _private(os.path.join(tempfile.gettempdir(), f"dtnn-{_user()}"))


def state_place():
    """Where the folders of clusters are that other hosts have to see."""
    os.makedirs(_state(), exist_ok=True)
    return _private(os.path.join(_state(), "dtnn"))


def _state():
    """Where files of a user lie that other hosts read, too."""
    return os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")


def _private(path):
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
    found = os.lstat(path)  # not stat: a link that somebody laid here would lead elsewhere
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode)):
        raise PermissionError(
            f"{path} is not a folder of yours (owner {found.st_uid}), so keys would not be safe there; "
            "set XDG_RUNTIME_DIR or TMPDIR to a folder of your own, or ask its owner to remove it"
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        os.chmod(path, 0o700)
    return path


def _user():
    return os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
