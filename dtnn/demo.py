"""`dtnn demo`: the main job, in a terminal."""

import shutil
import subprocess
import sys
from pathlib import Path

from . import data, zoo
from .cluster import Cluster
from .optim import Adam, cosine


def demo(ranks, epochs, out):
    """Train LeNet-5 on the bundled digits on MPI engines; show progress, then a table, then where the files are.

    Parameters
    ----------
    ranks : int
        Engines to start; threads of this process where there is no MPI, with a word on what to install.
    epochs : int
    out : Path
        Folder for the run's picture and its JSON; made where it isn't.

    Returns
    -------
    int
        0 if the training came to its end, else 1.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out {out} is a file; give a folder, in which the picture and the run's JSON are to be")
    out.mkdir(parents=True, exist_ok=True)  # an impossible folder is told before the training
    digits, model = data.mnist5k(), zoo.lenet5()
    with _cluster(ranks) as cluster:
        long = f"{epochs} epoch{'s' * (epochs != 1)}"
        print(f"LeNet-5 on {len(digits.train):,} handwritten digits, {long}, {_whereabouts(cluster)}", flush=True)
        run = model.start(digits, cluster=cluster, epochs=epochs, batch_size=32, optimizer=Adam(cosine(0.003)))
        _follow(run)
    from .plots import report

    print(f"\n{report(run.records)}")
    _keep(run, out)
    return 0 if run.state == "done" else 1


def _cluster(ranks):
    """Engines under MPI; without MPI, threads, and a word on what to install."""
    print(f"starting {ranks} MPI engines ...", flush=True)
    try:
        return Cluster(ranks).start()
    except (ImportError, FileNotFoundError, RuntimeError) as error:
        if _has_mpi():
            raise
        print(f'no MPI here: {error}\nInstall it with:  {Path(sys.executable).name} -m pip install "dtnn[mpi]"')
        print("Until then the ranks are threads of one process.")
        return Cluster(ranks, launcher="threads").start()


def _has_mpi():
    """Whether there are an MPI library and its mpiexec, so that a failure has another reason; starts no MPI here."""
    library = [sys.executable, "-c", "from mpi4py import MPI"]
    if subprocess.run(library, capture_output=True, timeout=60, check=False).returncode:
        return False
    return bool(shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec"))


def _whereabouts(cluster):
    kind, threads = "thread" if cluster.launcher == "threads" else "MPI engine", cluster.threads_per_rank
    return f"{cluster.ranks} {kind}{'s' * (cluster.ranks != 1)} with {threads} thread{'s' * (threads != 1)} each"


def _follow(run):
    """Show a run to its end; an interrupt ends it after its step."""
    from .plots.live import Live

    live = Live(run)
    try:
        while not run.wait(0.1):
            live.update()
    except KeyboardInterrupt:
        run.end("interrupted on the command line")
        raise
    finally:
        live.close()
    run.result()


def _keep(run, folder):
    """Write the run's picture and its JSON."""
    from .plots import picture

    run.save(folder / "run.json")
    (folder / "run.png").write_bytes(picture(run.records, title="LeNet-5", scale=2))
    print(f"picture        {folder / 'run.png'}\nrun            {folder / 'run.json'}")
