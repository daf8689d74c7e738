"""Files that are there whole or not at all."""

import contextlib
import os
import stat
import tempfile

from . import allowed


@contextlib.contextmanager
def whole_file(path):
    """A binary file to write to, that takes its place at `path` only when the `with` ends well.

    It is written under a temporary name in the same folder, then renamed: a reader never sees half of it, any number of
    processes may write the same, and when the disk is full an older file stays as it was.  A link stays one, and a device
    such as /dev/null is written to and not replaced.

    Parameters
    ----------
    path : path
        A leading ``~`` is the user's home.

    Raises
    ------
    OSError
        The folder isn't there or can't be written, or the disk is full; names the file, and says that an older one is kept.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a") as file:
    ...         _ = file.write(b"abc")
    ...     os.listdir(folder)
    ['a']
    """
    path = os.path.realpath(allowed.path("path", path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} can't be written: it is a folder; give the name of a file in it")
    if not os.path.isdir(os.path.dirname(path)):
        raise FileNotFoundError(f"{path} can't be written: there is no folder {os.path.dirname(path)}; make it first")
    if os.path.exists(path) and stat.S_ISCHR(os.stat(path).st_mode):
        with open(path, "wb") as file:
            yield file
        return
    if os.path.exists(path) and not os.path.isfile(path):
        raise FileExistsError(f"{path} can't be written: there is something that is no plain file; give another name")
    name = None
    try:
        handle, name = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".dtnn-")
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(path))
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):  # the folder may be gone
            os.unlink(name or "")
        if isinstance(error, OSError):
            kept = "; the file that was there is kept as it was" if os.path.exists(path) else ""
            raise OSError(error.errno, f"{error.strerror or error}: {path} was not written{kept}") from error
        raise


def _mode(path):
    """That of the file which is replaced, else what a new file of this user has: a temporary one is for nobody else's eyes."""
    with contextlib.suppress(OSError):
        return os.stat(path).st_mode & 0o777
    with contextlib.suppress(OSError), open("/proc/self/status") as status:  # os.umask() would change it for a moment
        return 0o666 & ~int(next(line for line in status if line.startswith("Umask")).split()[1], 8)
    return 0o644
