"""A cluster in a notebook's kernel: started in a cell, interrupted by the stop button, gone with the kernel."""

import time

import pytest

from .conftest import needs_mpi, nothing_left

pytest.importorskip("jupyter_client", reason="no Jupyter in this environment")
pytest.importorskip("ipykernel", reason="no Jupyter kernel in this environment")
pytestmark = needs_mpi

from .kernel import Kernel  # noqa: E402

START = """
import numpy as np, time
from dtnn.cluster import Cluster

class Layer:
    def __call__(self, x):
        return np.tanh(x)

def job(comm, layer):
    print("rank", comm.rank, "speaks")
    return float(layer(comm.Allreduce(1.0)))

def endless(comm):
    while True:
        comm.Barrier()
        time.sleep(0.01)
        yield {"here": comm.rank}

cluster = Cluster(2).start()
print(cluster._crew.folder)
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "notebook.ipynb"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    started = Kernel()
    yield started
    started.end()


def test_a_notebook_with_a_cluster(kernel):  # cases 2, 6, 12
    text, shown, error = kernel.run(START)
    assert error is None, text
    path = text.strip().splitlines()[-1]
    waited = [data.get("text/markdown", "") for data in shown]
    assert len(waited) > 1
    assert all("waiting for" in line for line in waited[:-1])
    assert waited[-1] == ""

    text, _, error = kernel.run("run = cluster.run(job, Layer()); print(run.result(20))")
    assert error is None
    assert text == "rank 0 speaks\n0.9640275800758169\n"

    text, shown, error = kernel.run("cluster")
    assert "<table" in shown[0]["text/html"]

    _, shown, error = kernel.run("%%px\nfrom mpi4py import MPI\nprint('I am', MPI.COMM_WORLD.rank)")
    assert error is None
    assert sorted(data["text/plain"] for data in shown) == ["[stdout:0] I am 0\n", "[stdout:1] I am 1\n"]
    text, _, _ = kernel.run("print(sorted(cluster.client[:].apply_sync(lambda: MPI.COMM_WORLD.rank)))")
    assert text == "[0, 1]\n"

    kernel.run("run = cluster.run(endless)")
    began = time.monotonic()
    _, _, error = kernel.run("run.result()", while_running=lambda: (time.sleep(1.0), kernel.manager.interrupt_kernel()))
    assert error == "KeyboardInterrupt"
    text, _, error = kernel.run(
        "run.interrupt(); run.wait(10); print(run.state, len(run.records) > 3, cluster.run(job, Layer()).result(10) > 0)"
    )
    assert text.splitlines()[-1] == "interrupted True True"
    assert time.monotonic() - began < 10

    kernel.manager.shutdown_kernel()
    assert nothing_left(path, 20)


def folders(kernel):
    """Names of the folders of the clusters that a kernel has started and that run."""
    text, _, _ = kernel.run("import os; from dtnn.cluster import folder; print(os.getpid(), *os.listdir(folder.place()))")
    number, *names = text.split()
    return {name for name in names if name.startswith(f"c{number}-")}


@pytest.mark.slow
@pytest.mark.processes
def test_a_cell_that_is_run_twice_uses_the_cluster_that_runs(kernel):
    cell = "from dtnn import Cluster\ncluster = Cluster(1).start()\nprint(cluster.describe()[0]['pid'])"
    pid, shown, error = kernel.run(cell)
    assert error is None
    again, shown, error = kernel.run(cell)
    assert error is None
    assert again == pid
    assert "is used again" in shown[-1]["text/markdown"]
    assert len(folders(kernel)) == 1
    within, _, _ = kernel.run("with Cluster(1) as inner: print(inner.describe()[0]['pid'], inner.run(lambda comm: 5).result(9))")
    assert within.split() == [*pid.split(), "5"]
    kernel.run("del inner")
    still, _, _ = kernel.run("print(cluster.state, cluster.run(lambda comm: 6).result(9))")
    assert still == "running 6\n"

    text, shown, error = kernel.run("cluster = Cluster(1, threads_per_rank=2).start()\nprint(cluster.describe()[0]['threads'])")
    assert text == "2\n"
    told = [data["text/markdown"] for data in shown if "Another cluster" in data.get("text/markdown", "")]
    assert "1 rank (mpi). cluster.stop() ends it, and so does giving cluster another value" in told[0]
    assert len(folders(kernel)) == 1  # the first one ended when its name was given away
    kernel.run("cluster.stop()")
    assert not folders(kernel)


@pytest.mark.slow
@pytest.mark.processes
def test_a_new_kernel_is_told_that_the_last_ones_cluster_is_gone(kernel):
    start = "from dtnn import Cluster\ncluster = Cluster(1).start()\nprint(cluster._crew.folder)"
    path = kernel.run(start)[0].strip()
    kernel.manager.shutdown_kernel(now=True)  # not asked, killed
    for how in ("killed", "restarted"):
        assert nothing_left(path, 20)
        new = Kernel()
        try:
            text, shown, error = new.run(start)
            assert error is None
            path = text.strip()
            told = [data["text/markdown"] for data in shown if "earlier kernel" in data.get("text/markdown", "")]
            assert len(told) == 1, how
            assert "(1 rank) was stopped when that kernel ended" in told[0]
            assert "keep_alive" in told[0]
            assert "earlier kernel" not in str(new.run("cluster.restart(); print(cluster._crew.folder)")[1])
        finally:
            new.end()
    assert nothing_left(path, 20)


@pytest.mark.slow
@pytest.mark.processes
@pytest.mark.parametrize("how", ["restart", "kill"])
def test_a_restarted_kernel_finds_its_cluster_and_its_run_again(kernel, how):
    text, _, error = kernel.run(START.replace("Cluster(2)", "Cluster(2, keep_alive='10m')"))
    assert error is None, text
    path = text.strip().splitlines()[-1]
    kernel.run("run = cluster.run(endless); next(iter(run))")
    kernel.manager.shutdown_kernel(now=how == "kill")
    new = Kernel()
    try:
        text, _, error = new.run(
            "from dtnn import Cluster; cluster = Cluster.attach(); print(cluster.last_run.name, cluster.state)"
        )
        assert error is None, text
        assert text == "endless running\n"
        shown = new.run("cluster.last_run")[1]
        assert shown
        text, _, error = new.run("run = cluster.last_run; run.interrupt(); run.wait(10); print(run.state, len(run.records) > 3)")
        assert text == "interrupted True\n"
        new.run("cluster.stop()")
        assert nothing_left(path, 1)
    finally:
        new.end()
