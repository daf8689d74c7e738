"""`look_at_mpi`: the library of MPI that is installed, its launcher, and whether the two are of one make."""

import json
import os
import sys

from . import launchers
from .asked import asked
from .finding import PIP, Finding, ask

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


def look_at_mpi():
    """Findings of library and launcher, and whether they work together."""
    library = _library()
    yield library[0]
    launcher = _launcher()
    yield launcher[0]
    if library[1] and launcher[1]:
        yield from _together(library[1], *launcher[1:])


def _library():
    """A finding, and the vendor if there is one."""
    code, out, err = ask([sys.executable, "-c", LIBRARY])
    if code == 0:
        vendor, text = json.loads(out)
        return Finding("MPI library", "ok", text.splitlines()[0].strip(" \0")), vendor
    if "No module named 'mpi4py'" in err:
        return Finding("MPI library", "error", "mpi4py is not installed", f"{PIP} mpi4py"), None
    problem = (err.strip().splitlines() or [f"asking for it ended with code {code}"])[-1]
    return Finding("MPI library", "error", problem, launchers.REMEDY), None


def _launcher():
    """A finding, the vendor, and the path if there is one."""
    try:
        path = launchers.mpiexec()
    except RuntimeError as error:
        return Finding("MPI launcher", "error", str(error).split(";")[0], launchers.REMEDY), None, None
    _, out, err = ask([path, "--version"])
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
    code, out, err = ask([path, "-n", "2", sys.executable, "-c", WORLD], environment)
    if code == 0 and out.splitlines() == ["size 2"] * 2:
        yield Finding("MPI together", "ok", "2 processes make one world")
    else:
        said = " ".join((err.strip() or out.strip() or f"code {code}").splitlines()[-2:])
        yield Finding("MPI together", "error", f"2 processes should make one world: {said}", launchers.REMEDY)
