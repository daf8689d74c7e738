"""`ipyparallel_cluster`: controller and engines, as ipyparallel is told to start them."""

import logging
import os
import socket
import sys

from . import launchers, lean_engine, minder, slurm, watchdog

HEARTBEAT, MISSES = 500, 40  # ms; engines are known one heartbeat after they come; a busy machine may miss some 20 s of them
# What went through the controller, and was freed, would stay with its threads otherwise: some copies of the data of a job.
FRUGAL = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
CONTROLLER = os.path.join(os.path.dirname(__file__), "lean_controller.py")  # not imported: it hides NumPy


def ipyparallel_cluster(asked, folder, ports=()):
    """An ipyparallel cluster of MPI engines, not started yet, all of whose files are in `folder`; it listens on these ports."""
    import ipyparallel

    return ipyparallel.Cluster(
        n=asked.size,
        engines="slurm" if asked.launcher == "slurm" else "mpi",
        **_controller_address(asked),
        config=_config(asked, folder, ports),
        load_profile=False,
        profile_dir=folder,
        cluster_id="dtnn",
        shutdown_atexit=False,  # we do that ourselves, quicker
        log_level=logging.CRITICAL,  # what its warnings have to say, our errors say better
    )


def _config(asked, folder, ports):
    """What ipyparallel has to know of the controller and the engines."""
    from traitlets.config import Config

    # safe path: a random.py in the folder where the user works is not Python's
    private = {"IPYTHONDIR": folder, "PYTHONSAFEPATH": "1"}
    config, engines = Config(), slurm.CLASS if asked.launcher == "slurm" else "MPIEngineSetLauncher"
    config.LocalControllerLauncher.environment = {watchdog.VARIABLE: folder, **private, **FRUGAL}
    config.LocalControllerLauncher.controller_cmd = [sys.executable, CONTROLLER]
    config[engines].environment = {**launchers.environment(folder, asked), **private}
    config[engines].engine_cmd = [sys.executable, "-I", "-S", minder.__file__, sys.executable, lean_engine.__file__]
    config[engines].engine_args = ["--log-level=WARN", "--IPEngine.enable_nanny=False"]  # a nanny costs 28 MB
    if asked.launcher == "slurm":
        config[engines].update(slurm.settings(asked, folder, launchers.mpiexec()))
    else:
        config[engines].mpi_cmd, config[engines].mpi_args = [launchers.mpiexec()], _mpi_arguments(asked)
    config.Cluster.delay = 0.0
    config.Cluster.send_engines_connection_env = not asked.elsewhere  # keys don't travel in a batch system's files
    config.Cluster.controller_args = _controller_arguments(asked, ports)
    return config


def _controller_arguments(asked, ports):
    return [
        f"--HeartMonitor.period={HEARTBEAT}",
        f"--HeartMonitor.max_heartmonitor_misses={MISSES}",
        "--usethreads",  # one process instead of eight: half a second and 30 MB less, and fast enough for records
        "--nodb",  # else it keeps what was asked of engines, the data of each job, up to 1 GB
        *(["--ports=" + ",".join(map(str, ports))] if ports else []),
        *(["--IPController.enable_curve=True"] if asked.secure else []),
    ]


def _mpi_arguments(asked):
    """Arguments of mpiexec: on which hosts, over which network."""
    if asked.elsewhere:
        places = ",".join(asked.places)
        return ["-hosts", places] if launchers.is_mpich(launchers.mpiexec()) else ["--host", places]
    return ["-iface", "lo"] if launchers.is_mpich(launchers.mpiexec()) and sys.platform == "linux" else []


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
