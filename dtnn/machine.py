"""The machine under a run: its cores, its thread pools, and how to describe it in a results file."""

import contextlib
import os
import platform
import threading
from importlib import metadata

from .allowed import whole

MANY = 1 << 20  # threads: more than any machine runs
PACKAGES = ("numpy", "numba", "mpi4py", "ipyparallel")
_here = threading.local()


def cores():
    """Cores this process may use, as far as the system says (a batch system or container may allow fewer than exist).

    >>> cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_per_rank(ranks):
    """Threads each of `ranks` ranks of this host should use: all cores are used, none twice.

    >>> threads_per_rank(10**6)
    1
    """
    return max(1, cores() // ranks)


@contextlib.contextmanager
def threads(count):
    """Within the `with`, BLAS (in this process), dtnn's kernels and Numba (both in this thread) use `count` threads.

    The settings of the kernels and of Numba belong to a thread: in a new one the kernels start with one, Numba with
    its maximum.  So every rank that is a thread enters this by itself.

    Parameters
    ----------
    count : int
        At least 1; more than Numba's own maximum (``NUMBA_NUM_THREADS``) counts as that maximum.

    Examples
    --------
    >>> with threads(1):
    ...     pass
    """
    import numba
    from threadpoolctl import threadpool_limits

    count = whole("threads", count, 1, MANY)
    before, here = numba.get_num_threads(), threads_here()
    _here.count = min(count, numba.config.NUMBA_NUM_THREADS)
    numba.set_num_threads(_here.count)
    try:
        with threadpool_limits(count):
            yield
    finally:
        numba.set_num_threads(before)
        _here.count = here


def threads_here():
    """The number of threads that `threads` set for this thread; 1 outside of it.

    >>> threads_here()
    1
    """
    return getattr(_here, "count", 1)


def resident():
    """Bytes that this process has in memory; 0 where the system does not say.

    >>> resident() >= 0
    True
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(_content("/proc/self/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _content(path):
    """A small file, without Python's layers of buffers and text: between two steps those are no longer in the cache."""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.read(file, 4096)
    finally:
        os.close(file)


def describe():
    """What a results file should say of the machine, as plain values: host, CPU, cores, threads, versions.

    Examples
    --------
    >>> sorted(describe())
    ['blas', 'cores', 'cpu', 'host', 'numba_threads', 'pid', 'python', 'system', 'versions']
    """
    import numba
    from threadpoolctl import threadpool_info

    return {
        "host": platform.node(),
        "pid": os.getpid(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_name(),
        "cores": cores(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "blas": [
            {"library": pool.get("internal_api"), "kernel": pool.get("architecture"), "threads": pool["num_threads"]}
            for pool in threadpool_info()
            if pool.get("user_api") == "blas"
        ],
        "numba_threads": numba.get_num_threads(),
    }


def _version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu_name():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
