"""How the processes of a cluster are started: which mpiexec, with which environment and arguments."""

import logging
import os
import shutil
import site
import subprocess
import sys

from . import minder, watchdog
from .parcel import DTNN_FOLDER

WHEEL = "impi-rt" if sys.platform == "win32" else "mpich"  # has library and launcher, needs no system package
REMEDY = f'python -m pip install {WHEEL} (a wheel with library and launcher); without MPI, launcher="threads" works'
HEARTBEAT, MISSES = 500, 40  # ms; engines are known one heartbeat after they come; a busy machine may miss some 20 s of them
# Open MPI may run as root, and ties no rank to one core.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
POOLS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def mpiexec():
    """The mpiexec that belongs to this Python's environment, else the first on the PATH.

    Raises
    ------
    RuntimeError
        There is none; the text says what to install.
    """
    own = os.path.join(
        os.path.dirname(sys.executable), "mpiexec"
    )  # not resolved: the link's place decides which libraries it finds
    path = own if os.access(own, os.X_OK) else shutil.which("mpiexec")
    if path is None:
        raise RuntimeError(f"no mpiexec beside {sys.executable} nor on the PATH; remedy: {REMEDY}")
    return path


def is_mpich(path):
    """Whether an mpiexec is MPICH's (or one of its relatives'), as far as its name tells."""
    return any(word in os.path.basename(os.path.realpath(path)) for word in ("hydra", "gforker"))


def environment(folder, threads, threads_asked):
    """What the environment of engines says beyond the client's.

    Parameters
    ----------
    folder : str
        The cluster's, by which the watchdog knows its processes.
    threads : int
        BLAS and Numba threads of each.
    threads_asked : bool
        Whether the user asked for that number; otherwise variables that the user has set stay.
    """
    pools = {name: str(threads) for name in POOLS if threads_asked or name not in os.environ}
    return {
        watchdog.VARIABLE: folder,
        **pools,
        **where_dtnn_is(),
        **OPEN_MPI,
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PRTE_MCA_prte_tmpdir_base": folder,
        "OMPI_MCA_prte_tmpdir_base": folder,
        "PMIX_MCA_pmix_tmpdir_base": folder,
        "UCX_NET_DEVICES": "lo",  # MPICH: no socket but on this host
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


def ipyparallel_cluster(size, folder, engine_environment):
    """An ipyparallel cluster of MPI engines, not started yet, all of whose files are in `folder`."""
    import ipyparallel
    from traitlets.config import Config

    launcher = mpiexec()
    # safe path: a random.py in the folder where the user works is not Python's
    private = {"IPYTHONDIR": folder, "PYTHONSAFEPATH": "1"}
    marked = {watchdog.VARIABLE: engine_environment[watchdog.VARIABLE], **private}
    config = Config()
    config.LocalControllerLauncher.environment = marked
    config.MPIEngineSetLauncher.environment = {**engine_environment, **private}
    config.MPIEngineSetLauncher.mpi_cmd = [launcher]
    config.MPIEngineSetLauncher.mpi_args = ["-iface", "lo"] if is_mpich(launcher) and sys.platform == "linux" else []
    engine = [sys.executable, "-m", "ipyparallel.engine"]
    config.MPIEngineSetLauncher.engine_cmd = [sys.executable, "-I", "-S", minder.__file__, *engine]
    config.MPIEngineSetLauncher.engine_args = ["--log-level=WARN", "--IPEngine.enable_nanny=False"]  # a nanny costs 28 MB
    config.Cluster.delay = 0.0
    config.Cluster.controller_args = [
        f"--HeartMonitor.period={HEARTBEAT}",
        f"--HeartMonitor.max_heartmonitor_misses={MISSES}",
        "--usethreads",  # one process more instead of eight: half a second and 30 MB less, and fast enough for records
    ]
    return ipyparallel.Cluster(
        n=size,
        engines="mpi",
        controller_ip="127.0.0.1",
        config=config,
        load_profile=False,
        profile_dir=folder,
        cluster_id="dtnn",
        shutdown_atexit=False,  # we do that ourselves, quicker
        log_level=logging.CRITICAL,  # what its warnings have to say, our errors say better
    )


def where_dtnn_is():
    """PYTHONPATH for engines, where dtnn is used from a folder that isn't part of the installation."""
    home = os.path.dirname(DTNN_FOLDER.rstrip(os.sep))
    if home in site.getsitepackages() or home == site.getusersitepackages():
        return {}
    return {"PYTHONPATH": os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))}
