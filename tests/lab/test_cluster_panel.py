"""The cluster's panel without a browser."""

import asyncio
import itertools
import threading
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
    panel.bar.start.click()
    assert panel.cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result() == 3
    assert panel.bar.start.disabled
    assert "idle" in panel.table.value
    panel.bar.stop.click()
    assert panel.cluster.state == "stopped"
    assert panel.bar.stop.disabled
    panel.form.ranks.value = 3
    panel.bar.start.click()
    assert panel.cluster.ranks == 3
    panel.bar.restart.click()
    assert panel.cluster.state == "running"


def test_a_double_click_starts_one(panel, monkeypatch):
    started = []
    monkeypatch.setattr(module, "Cluster", lambda **place: started.append(place) or dtnn.Cluster(**{**place, "on_wait": False}))

    async def notebook():
        panel.bar.start.click()
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
    panel.bar.start.click()
    assert panel.message.text == "no mpiexec; remedy: install it"
    assert not panel.bar.start.disabled


def test_the_doctor_in_a_table(panel, monkeypatch):
    monkeypatch.setattr(module, "diagnose", lambda: [Finding("MPI", "error", "no <mpi4py>", "pip install mpi4py")])
    panel.bar.doctor.click()
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
        view, kept = sent
        assert "application/vnd.jupyter.widget-view+json" in view
        assert kept["text/plain"].startswith("<Cluster of 2 ranks")
        run = panel.cluster.run(work)
        while "work" not in panel.table.value:
            await asyncio.sleep(0.01)
        run.result()
        panel.cluster.stop()
        while "stopped" not in panel.table.value:
            await asyncio.sleep(0.01)
        assert not panel.bar.start.disabled
        panel.close()

    asyncio.run(asyncio.wait_for(notebook(), 30))


def test_a_cluster_of_the_users_is_left_running():
    with dtnn.Cluster(2, launcher="threads") as cluster:
        panel = ClusterPanel(cluster)
        assert "idle" in panel.table.value
        panel.close()
        assert cluster.state == "running"


def test_what_can_not_be_looked_at_is_said_until_it_can(panel, monkeypatch):
    monkeypatch.setattr(module, "LOOK", 0.02)
    panel.start()
    seen = panel._seen

    def dies():
        raise RuntimeError("the controller has gone away")

    async def notebook():
        panel._watching = asyncio.get_running_loop().create_task(panel._watch())
        monkeypatch.setattr(panel, "_seen", dies)
        while panel.message.text != "the controller has gone away":
            await asyncio.sleep(0.01)
        assert not panel.bar.stop.disabled
        monkeypatch.setattr(panel, "_seen", seen)
        while panel.message.text:
            await asyncio.sleep(0.01)
        panel.close()

    asyncio.run(asyncio.wait_for(notebook(), 30))


def test_slow_looks_hold_neither_the_notebook_nor_the_next_look(panel, monkeypatch):
    monkeypatch.setattr(module, "LOOK", 0.02)
    monkeypatch.setattr(module, "SELDOM", 0.1)
    seen, looks, turns, looking = panel._seen, [], [], threading.Event()

    def slowly():
        looks.append(time.monotonic())
        looking.set()
        time.sleep(0.5)
        looking.clear()
        return seen()

    monkeypatch.setattr(panel, "_seen", slowly)

    async def notebook():
        panel._watching = asyncio.get_running_loop().create_task(panel._watch())
        while len(looks) < 4:
            turns.append(looking.is_set())
            await asyncio.sleep(0.01)
        panel.close()

    asyncio.run(asyncio.wait_for(notebook(), 30))
    assert max(later - earlier for earlier, later in itertools.pairwise(looks)) < 3, "not ten times what a look took"
    assert sum(turns) > 10, "the notebook goes on while it is looked"


def test_start_makes_new_ranks_where_some_have_died(panel, monkeypatch):
    panel.start()
    first = panel.cluster
    crew = first._started.crew
    monkeypatch.setattr(crew, "dead", lambda: {1})
    asyncio.run(panel._look())
    assert (first.state, panel.bar.start.disabled) == ("dead", False)
    assert "rank 1 died; start makes new ranks" in panel.bar.state.value
    panel.bar.start.click()
    assert crew.stopped, "what was left of it is ended"
    assert (panel.cluster, panel.cluster.state, panel.bar.state.value) == (first, "running", "")
    monkeypatch.setattr(first._started.crew, "dead", lambda: {0})
    panel.form.ranks.value = 3
    panel.bar.start.click()
    assert (panel.cluster.ranks, panel.cluster.state, first.state) == (3, "running", "stopped")


def test_a_saved_notebook_has_the_ranks_that_run(panel, monkeypatch):
    import IPython.display

    sent = []
    monkeypatch.setattr("dtnn.lab.keeping.KEPT", 0.05)
    monkeypatch.setattr(
        IPython.display, "display", lambda bundle, **how: "update" in how and sent.append((bundle["text/plain"], how["update"]))
    )

    async def notebook():
        panel._ipython_display_()
        for state in ("running", "stopped"):
            getattr(panel, {"running": "start", "stopped": "stop"}[state])()
            while state not in sent[-1][0]:
                await asyncio.sleep(0.01)
        panel.close()

    asyncio.run(asyncio.wait_for(notebook(), 30))
    assert [update for _, update in sent] == [False, True, True]
    assert sent[0][0] == "ClusterPanel: no cluster yet"


def test_in_a_terminal_it_is_words(panel):
    assert repr(panel) == "ClusterPanel: no cluster yet"
    panel.start()
    assert repr(panel).startswith("<Cluster of 2 ranks (threads), running>")
