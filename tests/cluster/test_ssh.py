"""One mpiexec over two hosts that only share files: started, encrypted, told when a rank dies, and gone with the client."""

import json
import os
import re
import socket
import stat
import subprocess
import sys

import pytest

from dtnn.cluster import Cluster, asked, launchers
from dtnn.cluster.ipyparallel_cluster import _controller_address, _mpi_arguments

from . import two_hosts
from .conftest import ROOT, needs_mpi, nothing_left

needs_hosts = pytest.mark.skipif(bool(two_hosts.why_not()), reason=two_hosts.why_not() or "two hosts can be made here")

WORK = """
import json, os, platform, signal, time
import numpy as np
from dtnn.cluster import Cluster, RankDied

def who(comm):
    return [comm.rank, platform.node()]

def sums(comm):
    for number in range(20):
        array = np.full(10_000, comm.rank + 1.0, np.float32)
        comm.Allreduce(array)
        yield number
    return float(array[0])

with Cluster(4, hosts=["hostA", "hostB"], on_wait=False) as cluster:
    folder = cluster._crew.folder
    with open(folder + "/security/ipcontroller-dtnn-client.json") as file:
        values = json.load(file)
    print(json.dumps({"folder": folder, "curve": bool(values.get("curve_serverkey")), "location": values["location"],
                      "hosts": [row["host"] for row in cluster.describe()], "launcher": cluster.launcher}), flush=True)
    run = cluster.run(who)
    run.result(30)
    print(json.dumps(run.results), flush=True)
    run = cluster.run(sums)
    print(run.result(40), list(run.records) == list(range(20)), flush=True)
    run = cluster.run(lambda comm: [comm.Barrier() or time.sleep(0.01) for _ in range(10_000)])
    time.sleep(0.5)
    killed = time.monotonic()
    os.kill(cluster.describe()[3]["pid"], signal.SIGKILL)  # these hosts share the numbers of processes
    try:
        run.result(30)
    except RankDied as error:
        print(json.dumps([str(error)[:60], time.monotonic() - killed]), flush=True)
"""

ENDLESS = """
import time
from dtnn.cluster import Cluster

cluster = Cluster(2, "ssh", hosts=["hostA:1", "hostB:1"], on_wait=False).start()
cluster.run(lambda comm: [comm.Barrier() or time.sleep(0.01) for _ in range(100_000)])
print(cluster._crew.folder, flush=True)
time.sleep(1000)
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hosts")
    with two_hosts.two_hosts(folder) as made:
        # MPICH's library looks at the kernel, which both share, and would go through memory
        made.environment |= {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "home"), "UCX_TLS": "tcp,self"}
        yield made


@pytest.fixture
def script(hosts, tmp_path):
    """Start a Python script on hostA; ended with the test."""
    processes = []

    def start(text):
        (tmp_path / "script.py").write_text(text)
        command = hosts.command("hostA", sys.executable, tmp_path / "script.py")
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=hosts.environment, cwd=tmp_path))
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


@needs_mpi
@needs_hosts
@pytest.mark.slow
@pytest.mark.limit(150)
def test_ranks_on_two_hosts_work_together(script):
    process = script(WORK)
    out = process.communicate(timeout=120)[0]
    assert process.returncode == 0, out
    about, ranks, sums, (died, seconds) = [json.loads(line) if line[0] in '[{"' else line for line in out.splitlines()]
    assert about["curve"]
    assert about["launcher"] == "ssh"
    assert about["location"] == "10.77.0.1"
    assert sorted(about["hosts"]) == ["hostA", "hostA", "hostB", "hostB"]
    assert ranks == [[rank, host] for rank, host in enumerate(about["hosts"])]
    assert sums == "10.0 True"
    assert re.match(r"rank 3 \(process \d+ on hostB\)", died)
    print(f"told after {seconds:.1f} s")
    assert seconds < 8  # 5 s are promised; a shared machine gets some more
    assert nothing_left(about["folder"], 2)


@needs_mpi
@needs_hosts
@pytest.mark.slow
@pytest.mark.limit(120)
def test_a_killed_client_leaves_nothing_on_either_host(script):
    process = script(ENDLESS)
    path = process.stdout.readline().strip()
    assert path
    process.kill()
    assert nothing_left(path, 30)
    marked = subprocess.run(["pgrep", "-f", path], capture_output=True, text=True, check=False).stdout
    assert marked == ""


# ---- without hosts


def test_hosts_mean_ssh_and_are_shared_out():
    cluster = Cluster(5, hosts=["node1", "node2:1"])
    assert cluster.launcher == "ssh"
    assert cluster._asked.places == ["node1:4", "node2:1"]
    assert cluster._asked.per_host == 4
    assert Cluster(2, hosts=["node1", "node2:2"])._asked.places == ["node2:2"]
    assert cluster._asked.secure
    assert not Cluster(2)._asked.secure
    assert Cluster(2, secure=True)._asked.secure
    assert not Cluster(2, hosts="node1", secure=False)._asked.secure


def test_ssh_without_hosts_is_refused():
    with pytest.raises(ValueError, match=r'launcher="ssh" starts ranks on hosts: say which, hosts=\["node1", "node2"\]'):
        Cluster(2, "ssh")


@pytest.mark.parametrize("host", ["-oProxyCommand=evil", "a b", "", 5, "a;b", "a:b", "a:0"])
def test_what_is_no_name_of_a_host_is_refused(host):
    with pytest.raises(ValueError, match=r"hosts: .* is no name of a host"):
        Cluster(2, hosts=[host])


def test_where_all_hosts_are_this_one_nothing_listens_elsewhere():
    what = asked.asked(2, hosts=[f"{socket.gethostname()}:2", "localhost"])
    assert _controller_address(what)["controller_ip"] == "127.0.0.1"


def test_a_host_that_is_not_there_is_told():
    what = asked.asked(2, hosts=["no-such-host.invalid"])
    with pytest.raises(RuntimeError, match=r"host 'no-such-host.invalid' can't be reached"):
        _controller_address(what)


def test_mpich_and_open_mpi_are_told_the_hosts_in_their_words(monkeypatch):
    what = asked.asked(4, hosts=["a", "b"])
    monkeypatch.setattr(launchers, "mpiexec", lambda: "mpiexec")
    assert _mpi_arguments(what) == ["--host", "a:2,b:2"]
    monkeypatch.setattr(launchers, "is_mpich", lambda _: True)
    assert _mpi_arguments(what) == ["-hosts", "a:2,b:2"]
    assert launchers.environment("/folder", what).get("UCX_NET_DEVICES") is None
    assert launchers.environment("/folder", asked.asked(2))["UCX_NET_DEVICES"] == "lo"


@needs_mpi
@pytest.mark.slow
def test_on_one_host_messages_are_encrypted_on_request():
    with Cluster(1, secure=True, on_wait=False) as cluster:
        path = f"{cluster._crew.folder}/security/ipcontroller-dtnn-client.json"
        with open(path) as file:
            assert json.load(file)["curve_serverkey"]
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert cluster.run(lambda comm: comm.Allreduce(1)).result(20) == 1
