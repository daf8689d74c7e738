"""What is installed here, what is wrong with it, and what to do about each."""

import importlib
import os
import platform
import shutil
import sys
from importlib import metadata

from .. import machine
from ..phrases import ranks
from . import folder, launchers, leftovers
from .finding import PIP, Finding, ask
from .look_at_mpi import look_at_mpi

CACHE = "from dtnn.kernels import cache; print(cache.folder())"


def diagnose():
    """Look at everything dtnn needs; takes some seconds, changes nothing, starts no MPI in this process.

    Returns
    -------
    list of Finding
    """
    looks = (_python, _packages, look_at_mpi, _cores, _thread_pools, _jupyter, _folder, _left_behind, _slurm, _cache)
    return [finding for look in looks for finding in look()]


def _python():
    yield Finding("Python", "ok", f"{platform.python_version()} on {platform.system()} {platform.machine()}")


def _packages():
    for name in ("numpy", "numba", "ipyparallel", "matplotlib"):
        yield _package(name, needed=name in ("numpy", "numba"))


def _package(name, needed):
    try:
        importlib.import_module(name)
        return Finding(name, "ok", metadata.version(name))
    except Exception as error:  # a package that is there may still be broken
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        return Finding(name, "error" if needed else "warn", text, f"{PIP} --upgrade {name}")


def _jupyter():
    for name in ("jupyterlab", "ipykernel", "ipywidgets"):
        try:
            yield Finding("Jupyter", "ok", f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            yield Finding("Jupyter", "warn", f"no {name}: notebooks won't show runs live", f"{PIP} {name}")


def _cores():
    count = machine.cores()
    text = f"{count}: up to {ranks(count)} at full speed"
    yield Finding(
        "cores", "ok" if count > 1 else "warn", text, "" if count > 1 else "more ranks than cores work; their timings mean little"
    )


def _thread_pools():
    said = [f"{name}={os.environ[name]}" for name in launchers.POOLS if os.environ.get(name)]
    if said:
        yield Finding("thread pools", "ok", f"your environment says {', '.join(said)}; every rank keeps to it")
    else:
        yield Finding(
            "thread pools", "ok", f"{machine.threads_per_rank(1)} threads for 1 rank, {machine.threads_per_rank(2)} each for 2"
        )


def _folder():
    try:
        yield Finding("cluster folder", "ok", folder.place())
    except OSError as error:
        yield Finding("cluster folder", "error", str(error), "set TMPDIR to a folder of your own")


def _slurm():
    if shutil.which("sbatch") is None:
        return
    code, out, err = ask(["sinfo", "-h", "-o", "%R"])
    if code == 0:
        yield Finding("batch system", "ok", f"Slurm, partitions {', '.join(sorted(set(out.split())))}")
    else:
        said = (err.strip().splitlines() or ["?"])[-1]
        yield Finding(
            "batch system", "warn", f"Slurm is installed and doesn't answer: {said}", 'launcher="mpi" works on this host'
        )


def _left_behind():
    left = [cluster for cluster in leftovers.found() if cluster.orphan]
    if left:
        text = f"{len(left)} left behind by processes that have ended: {', '.join(cluster.folder for cluster in left[:3])}"
        yield Finding("clusters", "warn", text, "dtnn clean")


def _cache():
    code, out, err = ask([sys.executable, "-c", CACHE], {**os.environ, **launchers.where_dtnn_is()})
    path = out.strip()
    if code:
        yield Finding("kernel cache", "error", (err.strip().splitlines() or ["?"])[-1], f"{PIP} --upgrade numba numpy")
    elif os.access(_nearest(path), os.W_OK):
        yield Finding("kernel cache", "ok", path)
    else:
        yield Finding(
            "kernel cache", "warn", f"{path} can't be written: kernels compile anew in every process", "make it writable"
        )


def _nearest(path):
    """The nearest folder above that exists: there it would be made."""
    while path and not os.path.isdir(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path
