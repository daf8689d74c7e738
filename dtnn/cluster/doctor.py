"""What is installed here, what is wrong with it, and what to do about each."""

import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata

from .. import machine
from . import folder, launchers, leftovers
from .asked import THREAD_VARIABLES, asked

SECONDS = 30  # for each question that another process answers
PIP = "python -m pip install"
VENDORS = {
    "open mpi": "Open MPI",
    "openrte": "Open MPI",
    "prte": "Open MPI",
    "intel(r) mpi": "Intel MPI",
    "hydra": "MPICH",
    "mpich": "MPICH",
}
LIBRARY = "from mpi4py import MPI; import json; print(json.dumps([MPI.get_vendor()[0], MPI.Get_library_version()]))"
WORLD = "from mpi4py import MPI; import os; os.write(1, b'size %d\\n' % MPI.COMM_WORLD.size)"  # at one go, or two lines mix
CACHE = "from dtnn.kernels import cache; print(cache.folder())"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    topic : str
    state : str
        "ok"; "warn": works, but; "error": what needs it will not work.
    text : str
        What was found.
    remedy : str
        What to do, if anything.

    Examples
    --------
    >>> print(Finding("Jupyter", "warn", "no jupyterlab", "python -m pip install jupyterlab"))
    warn   Jupyter        no jupyterlab -> python -m pip install jupyterlab
    """

    topic: str
    state: str
    text: str
    remedy: str = ""

    @property
    def ok(self):
        """Whether nothing that needs it will fail."""
        return self.state != "error"

    def __str__(self):
        return f"{self.state:6} {self.topic:14} {self.text}" + (f" -> {self.remedy}" if self.remedy else "")


def diagnose():
    """Look at everything dtnn needs; takes some seconds, changes nothing, starts no MPI in this process.

    Returns
    -------
    list of Finding
    """
    looks = (_python, _packages, _mpi, _cores, _thread_pools, _jupyter, _folder, _left_behind, _slurm, _cache)
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


# ---- MPI


def _mpi():
    library = _mpi_library()
    yield library[0]
    launcher = _mpi_launcher()
    yield launcher[0]
    if library[1] and launcher[1]:
        yield from _together(library[1], *launcher[1:])


def _mpi_library():
    """A finding, and the vendor if there is one."""
    code, out, err = _ask([sys.executable, "-c", LIBRARY])
    if code == 0:
        vendor, text = json.loads(out)
        return Finding("MPI library", "ok", text.splitlines()[0].strip(" \0")), vendor
    if "No module named 'mpi4py'" in err:
        return Finding("MPI library", "error", "mpi4py is not installed", f"{PIP} mpi4py"), None
    problem = (err.strip().splitlines() or [f"asking for it ended with code {code}"])[-1]
    return Finding("MPI library", "error", problem, launchers.REMEDY), None


def _mpi_launcher():
    """A finding, the vendor, and the path if there is one."""
    try:
        path = launchers.mpiexec()
    except RuntimeError as error:
        return Finding("MPI launcher", "error", str(error).split(";")[0], launchers.REMEDY), None, None
    _, out, err = _ask([path, "--version"])
    vendor = vendor_in(out + err)
    if vendor is None:
        return Finding("MPI launcher", "warn", f"{path} doesn't say whose it is", launchers.REMEDY), None, path
    return Finding("MPI launcher", "ok", f"{path} ({vendor})"), vendor, path


def vendor_in(text):
    """Whose MPI a text speaks of; None if it doesn't say.

    >>> vendor_in("HYDRA build details: Version: 5.0.2")
    'MPICH'
    >>> vendor_in("mpiexec (Open MPI) 5.0.11")
    'Open MPI'
    """
    return next((vendor for word, vendor in VENDORS.items() if word in text.lower()), None)


def _together(library, launcher, path):
    """Whether launcher and library are of one make, tried out."""
    if library != launcher:
        text = f"the library is {library}, the launcher {launcher}: every process would be alone, or abort"
        yield Finding(
            "MPI together", "error", text, f"one of them has to go: {PIP} mpich, and no other mpiexec before it on the PATH"
        )
        return
    environment = {**os.environ, **launchers.environment("doctor", asked())}
    code, out, err = _ask([path, "-n", "2", sys.executable, "-c", WORLD], environment)
    if code == 0 and out.splitlines() == ["size 2"] * 2:
        yield Finding("MPI together", "ok", "2 processes make one world")
    else:
        said = " ".join((err.strip() or out.strip() or f"code {code}").splitlines()[-2:])
        yield Finding("MPI together", "error", f"2 processes should make one world: {said}", launchers.REMEDY)


# ---- this machine


def _cores():
    count = machine.cores()
    text = f"{count}: up to {count} rank{'s' * (count != 1)} at full speed"
    yield Finding(
        "cores", "ok" if count > 1 else "warn", text, "" if count > 1 else "more ranks than cores work; their timings mean little"
    )


def _thread_pools():
    said = [f"{name}={os.environ[name]}" for name in THREAD_VARIABLES if os.environ.get(name)]
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
    code, out, err = _ask(["sinfo", "-h", "-o", "%R"])
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
    code, out, err = _ask([sys.executable, "-c", CACHE], {**os.environ, **launchers.where_dtnn_is()})
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


def _ask(command, environment=None):
    """Exit code, output and error output of a command; one that takes too long has code -1."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, env=environment, stdin=subprocess.DEVNULL, check=False
        )
    except (subprocess.TimeoutExpired, OSError) as error:
        return -1, "", str(error)
    return done.returncode, done.stdout, done.stderr
