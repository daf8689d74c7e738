"""A cluster in a notebook's kernel: started in a cell, interrupted by the stop button, gone with the kernel."""

import os
import time

import pytest

from .conftest import ROOT, needs_mpi, nothing_left

jupyter_client = pytest.importorskip("jupyter_client", reason="no Jupyter in this environment")
pytest.importorskip("ipykernel", reason="no Jupyter kernel in this environment")
pytestmark = needs_mpi

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


class Kernel:
    """A kernel, and what its cells print."""

    def __init__(self):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.manager, self.client = jupyter_client.manager.start_new_kernel(env=environment)

    def run(self, code, while_running=None):
        """Run a cell; its stdout, its displays, and its error's name."""
        text, shown = [], []

        def hook(message):
            if message["msg_type"] == "stream":
                text.append(message["content"]["text"])
            elif message["msg_type"] in ("display_data", "update_display_data", "execute_result"):
                shown.append(message["content"]["data"])
            elif message["msg_type"] == "status" and message["content"]["execution_state"] == "busy" and while_running:
                while_running()

        reply = self.client.execute_interactive(code, timeout=40, output_hook=hook)
        return "".join(text), shown, reply["content"].get("ename")


@pytest.fixture
def kernel():
    started = Kernel()
    yield started
    started.client.stop_channels()
    if started.manager.has_kernel:
        started.manager.shutdown_kernel(now=True)
    started.manager.cleanup_resources()


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
