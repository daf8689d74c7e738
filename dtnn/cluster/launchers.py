"""How the processes of a cluster are started: which mpiexec, with which environment and arguments."""

import logging
import os
import shutil
import site
import socket
import subprocess
import sys

from . import lean_engine, minder, slurm, watchdog
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
# What went through the controller, and was freed, would stay with its threads otherwise: some copies of the data of a job.
FRUGAL = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
CONTROLLER = os.path.join(os.path.dirname(__file__), "lean_controller.py")  # not imported: it hides NumPy
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


def ipyparallel_cluster(asked, folder, ports=()):
    """An ipyparallel cluster of MPI engines, not started yet, all of whose files are in `folder`; it listens on these ports."""
    import ipyparallel
    from traitlets.config import Config

    # safe path: a random.py in the folder where the user works is not Python's
    private = {"IPYTHONDIR": folder, "PYTHONSAFEPATH": "1"}
    config, engines = Config(), slurm.CLASS if asked.launcher == "slurm" else "MPIEngineSetLauncher"
    config.LocalControllerLauncher.environment = {watchdog.VARIABLE: folder, **private, **FRUGAL}
    config.LocalControllerLauncher.controller_cmd = [sys.executable, CONTROLLER]
    config[engines].environment = {**environment(folder, asked), **private}
    config[engines].engine_cmd = [sys.executable, "-I", "-S", minder.__file__, sys.executable, lean_engine.__file__]
    config[engines].engine_args = ["--log-level=WARN", "--IPEngine.enable_nanny=False"]  # a nanny costs 28 MB
    if asked.launcher == "slurm":
        config[engines].update(slurm.settings(asked, folder, mpiexec()))
    else:
        config[engines].mpi_cmd, config[engines].mpi_args = [mpiexec()], _mpi_arguments(asked)
    config.Cluster.delay = 0.0
    config.Cluster.send_engines_connection_env = not asked.elsewhere  # keys don't travel in a batch system's files
    config.Cluster.controller_args = [
        f"--HeartMonitor.period={HEARTBEAT}",
        f"--HeartMonitor.max_heartmonitor_misses={MISSES}",
        "--usethreads",  # one process instead of eight: half a second and 30 MB less, and fast enough for records
        "--nodb",  # else it keeps what was asked of engines, the data of each job, up to 1 GB
        *(["--ports=" + ",".join(map(str, ports))] if ports else []),
        *(["--IPController.enable_curve=True"] if asked.secure else []),
    ]
    return ipyparallel.Cluster(
        n=asked.size,
        engines="slurm" if asked.launcher == "slurm" else "mpi",
        **_controller_address(asked),
        config=config,
        load_profile=False,
        profile_dir=folder,
        cluster_id="dtnn",
        shutdown_atexit=False,  # we do that ourselves, quicker
        log_level=logging.CRITICAL,  # what its warnings have to say, our errors say better
    )


def _mpi_arguments(asked):
    """Arguments of mpiexec: on which hosts, over which network."""
    if asked.elsewhere:
        places = ",".join(asked.places)
        return ["-hosts", places] if is_mpich(mpiexec()) else ["--host", places]
    return ["-iface", "lo"] if is_mpich(mpiexec()) and sys.platform == "linux" else []


def _controller_address(asked):
    """Where the controller listens: on this host only, or where the hosts of the engines reach it."""
    if not asked.elsewhere:
        return {"controller_ip": "127.0.0.1"}
    if asked.launcher == "slurm":
        return {"controller_ip": "*", "controller_location": socket.gethostname()}
    names = [host.partition(":")[0] for host in asked.hosts]
    others = [name for name in names if name not in (socket.gethostname(), "localhost")]
    address = _address_towards(others[0]) if others else "127.0.0.1"
    return {"controller_ip": address, "controller_location": address}


def _address_towards(host):
    """This host's address on the network on which another one is; nothing is sent."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, 22, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(address)
            return probe.getsockname()[0]
    except OSError as error:
        raise RuntimeError(f"host {host!r} can't be reached: {error}; give names or addresses that `ssh` takes") from None


def where_dtnn_is():
    """PYTHONPATH for engines, where dtnn is used from a folder that isn't part of the installation."""
    home = os.path.dirname(DTNN_FOLDER.rstrip(os.sep))
    if home in site.getsitepackages() or home == site.getusersitepackages():
        return {}
    return {"PYTHONPATH": os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))}
