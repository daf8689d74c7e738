"""What becomes of processes: whatever happens to whom, nothing is left, and the user is told."""

import contextlib
import glob
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dtnn.cluster import Cluster, RankDied, asked, folder, launchers, ports, processes, watchdog

from .conftest import needs_mpi, nothing_left

pytestmark = needs_mpi

START = """
import os, sys, time
from dtnn.cluster import Cluster

def endless(comm):
    while True:
        comm.Barrier()
        yield "a record"

if __name__ == "__main__":
    cluster = Cluster(1, on_wait=False).start()
    run = cluster.run(endless)
    next(iter(run))
    print(cluster._crew.folder, flush=True)
"""


def read_line(process):
    line = process.stdout.readline().strip()
    assert line, "the script ended before its time"
    return line


def own_folders():
    """Folders of clusters that this process started; other tests may run at the same time."""
    return {name for name in os.listdir(folder.place()) if name.startswith(f"c{os.getpid()}-")}


def shared_memory():
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def test_an_engine_uses_the_threads_that_its_cluster_gives_it():
    def used(comm):
        from dtnn.machine import threads_here

        return threads_here()

    with Cluster(1, threads_per_rank=2, on_wait=False) as cluster:
        assert cluster.run(used).result(20) == 2


def test_stop_leaves_nothing():
    before = shared_memory()
    began = time.perf_counter()
    with Cluster(2, on_wait=False) as cluster:
        started = time.perf_counter()
        path = cluster._crew.folder
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
        assert len(watchdog.members(path)) >= 4
        child = cluster.run(lambda comm: subprocess.Popen(["sleep", "1000"], start_new_session=True).pid).result(20)
        assert child in watchdog.members(path)
        made = Path(path, watchdog.SHARED).read_text().splitlines()
        stopping = time.perf_counter()
    print(f"start {started - began:.2f} s, stop {time.perf_counter() - stopping:.2f} s")
    assert watchdog.members(path) == []
    assert not os.path.exists(path)
    assert not any(os.path.exists(name) for name in made)
    assert made or shared_memory() <= before
    assert cluster.state == "stopped"


@pytest.mark.processes
def test_a_killed_client_leaves_nothing(script):  # case 6, E6
    # a fork keeps the pipe to the watchdog open when the client is gone
    forked = script(START + "    if os.fork() == 0: time.sleep(100); os._exit(0)\n    time.sleep(1000)\n")
    ended = script(START + "    time.sleep(1000)\n")
    paths = [read_line(forked), read_line(ended)]
    assert all(len(watchdog.members(path)) >= 4 for path in paths)
    forked.kill()
    ended.terminate()
    assert all(nothing_left(path, 30) for path in paths)


@pytest.mark.slow
@pytest.mark.processes
def test_a_client_killed_while_it_starts_leaves_nothing(script):
    text = (
        "from dtnn.cluster import launchers, Cluster\n"
        "original = launchers.start_watchdog\n"
        "def told(folder, *more):\n"
        "    watching = original(folder, *more)\n"
        "    print(folder, flush=True)\n"
        "    return watching\n"
        "launchers.start_watchdog = told\n"
        "Cluster(1, on_wait=False).start()\n"
    )
    paths = []
    for seconds in 0.0, 0.4, 1.2:
        client = script(text)
        paths.append(read_line(client))
        time.sleep(seconds)
        client.kill()
    assert all(nothing_left(path, 30) for path in paths)


@pytest.mark.processes
def test_a_script_brings_its_classes_and_leaves_nothing_though_it_stops_nothing(script):  # case 12
    client = script(
        "import numpy as np\n"
        "from dtnn.cluster import Cluster\n"
        "class Layer:\n"
        "    def double(self, x): return np.multiply(x, 2)\n"
        "def job(comm, layer): return layer.double(comm.rank + 1)\n"
        "if __name__ == '__main__':\n"
        "    cluster = Cluster(2, on_wait=False).start()\n"
        "    run = cluster.run(job, Layer()); run.wait(20); print(*run.results, cluster._crew.folder)\n"
    )
    assert client.wait(40) == 0
    two, four, path = client.stdout.read().split()
    assert (two, four) == ("2", "4")
    assert nothing_left(path, 0.1)


def test_what_the_launcher_writes_for_its_ranks_goes_with_a_cluster_that_is_not_stopped(script):
    def left():
        before = set(glob.glob("/tmp/hydra_hwloc_xmlfile_*"))
        client = script(
            "from dtnn.cluster import Cluster\nif __name__ == '__main__':\n    cluster = Cluster(2, on_wait=False).start()\n"
        )
        assert client.wait(40) == 0
        return set(glob.glob("/tmp/hydra_hwloc_xmlfile_*")) - before

    assert not left() or not left()  # or another cluster has begun just then


def test_a_cluster_nobody_holds_any_more_is_stopped():
    cluster = Cluster(1, on_wait=False).start()
    path = cluster._crew.folder
    assert watchdog.members(path)
    del cluster
    assert nothing_left(path, 10)


def test_a_watchdog_that_takes_its_time_is_no_error():
    class Slow:
        def communicate(self, word, timeout):
            told.append(word)
            raise subprocess.TimeoutExpired("watchdog", timeout)

    told, stopped = [], processes.Processes(asked.asked(1))
    stopped._watchdog = Slow()
    stopped._dismiss_watchdog(b"bye")
    assert told == [b"bye"]
    assert stopped._watchdog is None


def test_a_rank_that_is_killed_is_named(engines):
    run = engines.run(lambda comm: [comm.Barrier() or time.sleep(0.01) for _ in range(10_000)])
    time.sleep(0.5)
    killed = time.monotonic()
    os.kill(engines.describe()[1]["pid"], signal.SIGKILL)
    with pytest.raises(RankDied, match=r"(?s)rank 1 \(process \d+ on .*\) was killed by SIGKILL.*cluster.restart\(\)"):
        run.result(20)
    print(f"told after {time.monotonic() - killed:.2f} s")
    assert time.monotonic() - killed < 8  # the promise is 5 s; a shared machine gets some more
    assert engines.state == "dead"
    assert engines.run(lambda comm: comm.Allreduce(1)).result(20) == 2  # by new ranks


@pytest.mark.slow
@pytest.mark.processes
def test_a_controller_that_is_killed_does_not_leave_a_run_waiting_for_ever():
    with Cluster(1, on_wait=False) as cluster:
        run = cluster.run(lambda comm: time.sleep(60))
        time.sleep(0.3)
        os.kill(cluster._crew.processes.cluster.controller.pid, signal.SIGKILL)
        with pytest.raises(RankDied):
            run.result(20)
        assert cluster.state == "dead"


@pytest.mark.slow
def test_two_clusters_at_once(engines):
    with Cluster(2, on_wait=False) as other:
        runs = [cluster.run(lambda comm, k: comm.Allreduce(k), k) for k in (1, 2) for cluster in (engines, other)]
        assert [run.result(20) for run in runs] == [2, 2, 4, 4]
        assert not {row["pid"] for row in engines.describe()} & {row["pid"] for row in other.describe()}


@pytest.mark.slow
@pytest.mark.limit(600)
@pytest.mark.processes
def test_ten_clusters_of_one_user_at_once(script):  # case 19
    text = (
        "import time\nfrom dtnn.cluster import Cluster\n"
        "if __name__ == '__main__':\n"
        "    with Cluster(1, timeout=500, on_wait=False) as cluster:\n"
        "        run = cluster.run(lambda comm: comm.Allreduce(7)); print(run.result(300), cluster._crew.folder, flush=True)\n"
        "        time.sleep(1000)\n"
    )
    clients = [script(text) for _ in range(10)]
    told = [read_line(client).split() for client in clients]
    assert [result for result, _ in told] == ["7"] * 10
    paths = {path for _, path in told}
    assert len(paths) == 10
    assert all(watchdog.members(path) for path in paths)
    # one socket of MPICH's mpiexec, by which its processes find it, can't be told an address
    listening = [listeners(pid) for path in paths for pid in watchdog.members(path)]
    assert {address for addresses in listening for address in addresses if address != ALL} <= {"127.0.0.1", "::1"}
    for client in clients:
        client.kill()
    assert all(nothing_left(path, 60) for path in paths)


ALL = "0.0.0.0"


def listeners(pid):
    """Addresses on which a process listens."""
    import psutil

    with contextlib.suppress(psutil.Error):
        return [found.laddr.ip for found in psutil.Process(pid).net_connections("tcp") if found.status == psutil.CONN_LISTEN]
    return []


def fake_mpiexec(tmp_path, monkeypatch, body):
    """An mpiexec that does something else; `n` and `program` are what it was asked for."""
    path = tmp_path / "mpiexec"
    path.write_text(
        f"#!{sys.executable}\nimport os, subprocess, sys\n"
        "n = int(sys.argv[sys.argv.index('-n') + 1])\n"
        "program = sys.argv[sys.argv.index(sys.executable):]\n"
        f"real = {launchers.mpiexec()!r}\n" + body
    )
    path.chmod(0o755)
    monkeypatch.setattr(launchers, "mpiexec", lambda: str(path))


def test_fewer_engines_than_asked_are_refused(tmp_path, monkeypatch):  # case 3
    fake_mpiexec(tmp_path, monkeypatch, "os.execv(real, [real, '-n', str(n - 1), *program])\n")
    before = own_folders()
    with pytest.raises(RuntimeError, match=r"[01] of 2 engines came; missing: .*rank 1\."):
        Cluster(2, timeout=4, on_wait=False).start()
    assert own_folders() == before


def test_a_launcher_that_gives_up_is_quoted(tmp_path, monkeypatch):
    fake_mpiexec(tmp_path, monkeypatch, "sys.exit('there are not enough slots in the cluster')\n")
    began = time.monotonic()
    with pytest.raises(RuntimeError, match=r"(?s)0 of 2 engines came; missing: rank 0, rank 1.*not enough slots"):
        Cluster(2, on_wait=False).start()
    assert time.monotonic() - began < 20


def test_engines_that_each_are_a_world_are_refused(tmp_path, monkeypatch):  # case 8
    fake_mpiexec(tmp_path, monkeypatch, "[p.wait() for p in [subprocess.Popen(program) for _ in range(n)]]\n")
    with pytest.raises(RuntimeError, match=r"2 engines, but MPI world size 1: they don't know of each other"):
        Cluster(2, on_wait=False).start()


@pytest.mark.slow
@pytest.mark.processes
def test_a_ready_ipyparallel_cluster_without_mpi_is_refused(tmp_path):  # case 8
    ipyparallel = pytest.importorskip("ipyparallel")
    ready = ipyparallel.Cluster(n=2, engines="local", profile_dir=str(tmp_path), load_profile=False, log_level=50)
    ready.start_cluster_sync()
    try:
        with pytest.raises(RuntimeError, match="2 engines, but MPI world size 1: they don't know of each other"):
            Cluster(ready, on_wait=False).start()
    finally:
        ready.stop_cluster_sync()


def test_results_are_in_order_of_rank_whatever_the_engines_numbers(tmp_path, monkeypatch):  # case 9
    body = "os.execv(real, [real, '-n', str(n), 'sh', '-c', '\"$@\" --IPEngine.id=$((1 - PMI_RANK))', 'sh', *program])\n"
    fake_mpiexec(tmp_path, monkeypatch, body)
    with Cluster(2, on_wait=False) as cluster:
        assert cluster._crew.ids == [1, 0]
        run = cluster.run(lambda comm: (comm.rank, os.getpid()))
        assert run.result(20)[0] == 0
        assert run.results == [(row["rank"], row["pid"]) for row in cluster.describe()]


def test_a_ready_ipyparallel_cluster_is_used_and_left_running(engines):
    ready = engines._crew.processes.cluster
    with Cluster(launcher=ready) as cluster:
        assert cluster.ranks == 2
        assert cluster.run(lambda comm: comm.Allreduce(1)).result(20) == 2
    with Cluster(engines.client) as cluster:
        assert cluster.client is engines.client
        assert [row["rank"] for row in cluster.describe()] == [0, 1]
        assert cluster.run(lambda comm: comm.Allreduce(1)).result(20) == 2
    with pytest.raises(RuntimeError, match=r"2 of 3 engines came; missing: rank 2"):
        Cluster(3, launcher=engines.client, timeout=1.0).start()
    assert engines.run(lambda comm: comm.Allreduce(1)).result(20) == 2


def test_a_folder_that_is_somebody_elses_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "dtnn").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match=r"(?s)dtnn is not a folder of yours.*XDG_RUNTIME_DIR"):
        folder.make()
    (tmp_path / "dtnn").unlink()
    path = folder.make()
    assert path.startswith(str(tmp_path / "dtnn"))
    assert stat.S_IMODE(os.stat(tmp_path / "dtnn").st_mode) == 0o700


def test_without_a_runtime_folder_the_temporary_one_is_used(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(folder.tempfile, "gettempdir", lambda: str(tmp_path))
    assert folder.place() == str(tmp_path / f"dtnn-{os.getuid()}")
    os.chmod(folder.place(), 0o755)
    assert stat.S_IMODE(os.stat(folder.place()).st_mode) == 0o700
    if os.getuid() == 0:
        os.chown(tmp_path / f"dtnn-{os.getuid()}", 12345, -1)
        with pytest.raises(PermissionError, match="owner 12345"):
            folder.place()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 knows no safe path")
@pytest.mark.processes
def test_a_file_named_like_a_module_of_python_is_not_taken_for_it(tmp_path):
    (tmp_path / "random.py").write_text("raise SystemExit('this is not the module you look for')")
    code = (
        "from dtnn import Cluster\nwith Cluster(2, on_wait=False) as c: print(c.run(lambda comm: comm.Allreduce(1)).result(20))"
    )
    command = [sys.executable, "-P", "-c", f"if __name__ == '__main__':\n    exec({code!r})"]
    environment = {**os.environ, "PYTHONPATH": str(folder.__file__).rsplit("/dtnn/", 1)[0]}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=50)
    assert done.stdout.strip() == "2", done.stderr


def test_a_controller_listens_on_ports_that_nobody_else_was_given(engines):  # case 19
    import psutil

    controller = psutil.Process(engines._crew.processes.cluster.controller.pid)
    arguments = next(text for text in controller.cmdline() if text.startswith("--ports="))
    reserved = {int(number) for number in arguments.removeprefix("--ports=").split(",")}
    found = [one.laddr for one in controller.net_connections("tcp") if one.status == psutil.CONN_LISTEN]
    assert len({address.port for address in found} & reserved) >= 14
    assert {address.ip for address in found} == {"127.0.0.1"}


@pytest.mark.skipif(sys.platform != "linux", reason="half-bound ports are Linux's")
def test_reserved_ports_are_given_to_nobody_and_free_for_who_knows_them():
    with ports.reserved(8) as known, contextlib.ExitStack() as held:
        given = [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(500)]
        assert not set(given) & set(known)
        for port in known:
            held.enter_context(socket.create_server(("127.0.0.1", port)))


def test_a_controller_that_ends_at_once_is_told(monkeypatch):
    monkeypatch.setattr(ports, "WANTED", 0)
    with contextlib.ExitStack() as held:
        taken = [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(20)]
        monkeypatch.setattr(ports, "reserved", lambda: contextlib.nullcontext(taken))
        before, began = own_folders(), time.monotonic()
        with pytest.raises(RuntimeError, match=r"(?s)the cluster's controller ended while it started .*; start it again.*in use"):
            Cluster(1, on_wait=False).start()
        assert time.monotonic() - began < 20
        assert own_folders() == before
