"""With what the processes of a cluster are started: which mpiexec, which environment, and who cleans up after them."""

import os
import shutil
import site
import subprocess
import sys

from . import watchdog
from .parcel import DTNN_FOLDER

WHEEL = "impi-rt" if sys.platform == "win32" else "mpich"  # has library and launcher, needs no system package
REMEDY = f'python -m pip install {WHEEL} (a wheel with library and launcher); without MPI, launcher="threads" works'
# Open MPI may run as root, and ties no rank to one core.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
# The environment's words on how many threads a rank has.
POOLS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def mpiexec():
    """The mpiexec that belongs to this Python's environment, else the first on the PATH.

    Raises
    ------
    RuntimeError
        There is none; the text says what to install.
    """
    own = os.path.join(os.path.dirname(sys.executable), "mpiexec")  # not resolved: its place decides which libraries it finds
    path = own if os.access(own, os.X_OK) else shutil.which("mpiexec")
    if path is None:
        raise RuntimeError(f"no mpiexec beside {sys.executable} nor on the PATH; remedy: {REMEDY}")
    return path


def is_mpich(path):
    """Whether an mpiexec is MPICH's (or one of its relatives'), as far as its name tells."""
    return any(word in os.path.basename(os.path.realpath(path)) for word in ("hydra", "gforker"))


def environment(folder, asked):
    """What the environment of engines says beyond the client's.

    Parameters
    ----------
    folder : str
        The cluster's, by which the watchdog knows its processes.
    asked : Asked
        Of it: threads of BLAS and Numba (variables that the user has set stay, unless a number was asked for), and where
        the engines are.
    """
    pools = {name: str(asked.threads) for name in POOLS if asked.threads_per_rank is not None or name not in os.environ}
    # MPICH: no socket but on this host, and of two ways through shared memory one, which is as good and 2.5 MB less
    here = {} if asked.elsewhere else {"UCX_NET_DEVICES": "lo", **({} if "UCX_TLS" in os.environ else {"UCX_TLS": "^sysv"})}
    # under Slurm, which knows how many may be where, Open MPI would put all ranks on the first host
    crowded = {} if asked.launcher == "slurm" else {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    return {
        watchdog.VARIABLE: folder,
        **pools,
        **where_dtnn_is(),
        **OPEN_MPI,
        **crowded,
        **here,
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PRTE_MCA_prte_tmpdir_base": folder,
        "OMPI_MCA_prte_tmpdir_base": folder,
        "PMIX_MCA_pmix_tmpdir_base": folder,
        **({watchdog.KEEP: "1"} if asked.keep_alive else {}),
    }


def start_watchdog(folder, keep_alive=0.0):
    """The process that cleans up when this one is gone, or so many seconds later; it lives as long as its stdin is open."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", watchdog.__file__, folder, str(keep_alive)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )


def where_dtnn_is():
    """PYTHONPATH for engines, where dtnn is used from a folder that isn't part of the installation."""
    home = os.path.dirname(DTNN_FOLDER.rstrip(os.sep))
    if home in site.getsitepackages() or home == site.getusersitepackages():
        return {}
    return {"PYTHONPATH": os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))}
