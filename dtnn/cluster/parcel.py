"""How a job travels: whatever the ranks can't import goes by value, so what is edited in the notebook is never stale there."""

import contextlib
import functools
import os
import pickle
import site
import sys
import sysconfig
import threading

DTNN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
PACKAGES = {"site-packages", "dist-packages"}  # also of another environment that this one looks into
LOCK = threading.Lock()  # what goes by value is a setting of the whole process


def pack(*things):
    """Any objects as bytes for `unpack`.

    Classes and functions of notebooks, scripts and modules outside the installation go by value.

    Raises
    ------
    TypeError
        Something in it can't travel (an open file, a lock, a running generator); the text says what.

    Examples
    --------
    >>> unpack(pack(lambda x: x + 1, 41))[1]
    41
    """
    from numba import cloudpickle

    try:
        with LOCK, _by_value(cloudpickle):
            return cloudpickle.dumps(things)
    except Exception as error:
        with contextlib.suppress(Exception):
            return cloudpickle.dumps(things)  # a module may hold things that only travel by name
        raise TypeError(
            f"this job can't travel to the ranks: {error}. "
            "Make what can't travel (open files, locks, connections, generators) inside the job instead"
        ) from error


def unpack(data):
    """What `pack` was given."""
    return pickle.loads(data)


@contextlib.contextmanager
def _by_value(cloudpickle):
    modules = [module for name, module in list(sys.modules.items()) if name != "__main__" and _is_the_users(name, module)]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _is_the_users(name, module):
    """Whether a module is a plain Python file that is no part of the installation."""
    path = getattr(module, "__file__", None)
    return (
        isinstance(path, str) and path.endswith(".py") and getattr(module, "__name__", None) == name and not _is_installed(path)
    )


@functools.lru_cache(10_000)
def _is_installed(path):
    path = os.path.abspath(path)
    return path.startswith(_installation()) or not PACKAGES.isdisjoint(path.split(os.sep))


@functools.lru_cache(1)
def _installation():
    paths = sysconfig.get_paths()
    folders = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += [*site.getsitepackages(), site.getusersitepackages()]
    return (DTNN_FOLDER, *(os.path.join(folder, "") for folder in folders))
