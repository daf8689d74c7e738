"""The cluster's panel without a browser."""

import asyncio
import time

import pytest

import dtnn
from dtnn.cluster.doctor import Finding
from dtnn.lab import ClusterPanel
from dtnn.lab import cluster_panel as module


@pytest.fixture
def panel():
    made = ClusterPanel(ranks=2, launcher="threads")
    yield made
    made.close()


def test_start_work_stop_and_start_again(panel):
    assert panel.words() == "ClusterPanel: no cluster yet"
    panel.start_button.click()
    assert panel.cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result() == 3
    assert panel.start_button.disabled
    assert "idle" in panel.table.value
    panel.stop_button.click()
    assert panel.cluster.state == "stopped"
    assert panel.stop_button.disabled
    panel.ranks.value = 3
    panel.start_button.click()
    assert panel.cluster.ranks == 3
    panel.restart_button.click()
    assert panel.cluster.state == "running"


def test_a_double_click_starts_one(panel, monkeypatch):
    started = []
    monkeypatch.setattr(module, "Cluster", lambda **place: started.append(place) or dtnn.Cluster(**{**place, "on_wait": False}))

    async def notebook():
        panel.start_button.click()
        panel.start()
        panel.restart()
        while panel._busy:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(notebook(), 30))
    assert len(started) == 1


def test_what_goes_wrong_is_said_and_the_buttons_come_back(panel, monkeypatch):
    def refuse(**place):
        raise RuntimeError("no mpiexec; remedy: install it")

    monkeypatch.setattr(module, "Cluster", refuse)
    panel.start_button.click()
    assert panel.message.text == "no mpiexec; remedy: install it"
    assert not panel.start_button.disabled


def test_the_doctor_in_a_table(panel, monkeypatch):
    monkeypatch.setattr(module, "diagnose", lambda: [Finding("MPI", "error", "no <mpi4py>", "pip install mpi4py")])
    panel.doctor_button.click()
    assert "no &lt;mpi4py&gt; → pip install mpi4py" in panel.findings.value


def test_shown_it_looks_again_while_the_loop_stays_free(panel, monkeypatch):
    monkeypatch.setattr(module, "LOOK", 0.02)

    def work(comm):
        time.sleep(0.5)

    import IPython.display

    sent = []
    monkeypatch.setattr(IPython.display, "display", lambda bundle, **how: sent.append(bundle))

    async def notebook():
        panel.start()
        while panel._busy:
            await asyncio.sleep(0.01)
        panel._ipython_display_()
        (bundle,) = sent
        assert "application/vnd.jupyter.widget-view+json" in bundle
        assert bundle["text/plain"].startswith("<Cluster of 2 ranks")
        run = panel.cluster.run(work)
        while "work" not in panel.table.value:
            await asyncio.sleep(0.01)
        run.result()
        panel.cluster.stop()
        while "stopped" not in panel.table.value:
            await asyncio.sleep(0.01)
        assert not panel.start_button.disabled
        panel.close()

    asyncio.run(asyncio.wait_for(notebook(), 30))


def test_a_cluster_of_the_users_is_left_running():
    with dtnn.Cluster(2, launcher="threads") as cluster:
        panel = ClusterPanel(cluster)
        assert "idle" in panel.table.value
        panel.close()
        assert cluster.state == "running"
