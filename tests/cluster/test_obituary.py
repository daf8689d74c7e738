"""Which rank died first, and of what, read from what launchers of both makes leave behind."""

from dtnn.cluster import obituary

HELLOS = [{"pid": 12425, "host": "vm"}, {"pid": 12427, "host": "vm"}]
MPICH = """
dtnn: process 12425 ended at 1764480000.330 with -9
dtnn: process 12427 ended at 1764480000.317 with 3
===================================================================================
=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES
=   PID 12425 RUNNING AT vm
=   EXIT CODE: 9
===================================================================================
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)
"""
OPEN_MPI = """
dtnn: process 12427 ended at 1764480000.317 with -9
prterun noticed that process rank 1 with PID 0 on node vm exited on
signal 9 (Killed).
"""
CRASH = 'Fatal Python error: Segmentation fault\n\nStack (most recent call first):\n  File "job.py", line 8 in die\n' + MPICH
ABORT = "Abort(5) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 5) - process 1\n"
OPEN_ABORT = "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n"


def test_the_first_to_die_is_named_whatever_the_launcher_says():
    assert obituary.first_death(HELLOS, MPICH) == (1, "ended its process with exit code 3")
    assert obituary.first_death(HELLOS, OPEN_MPI) == (1, "was killed by SIGKILL (out of memory? kill -9?)")
    assert obituary.first_death(HELLOS, CRASH) == (1, "crashed: Segmentation fault")
    assert obituary.first_death(HELLOS, ABORT) == obituary.first_death(HELLOS, OPEN_ABORT) == (1, "called MPI_Abort")
    assert obituary.first_death(HELLOS, "") == (None, "")


def test_a_crash_shows_its_python_line():
    text = obituary.text(1, HELLOS, CRASH)
    assert text.startswith("rank 1 (process 12427 on vm) crashed: Segmentation fault")
    assert 'File "job.py", line 8 in die' in text
    assert "YOUR APPLICATION" not in text
    assert "dtnn: process" not in text


def test_the_others_are_said_to_follow():
    assert obituary.text(0, HELLOS, MPICH) == "rank 0 (process 12425 on vm) was ended by the launcher because rank 1 died.\n"


def test_who_asks_a_dead_cluster_is_told_the_remedy():
    error = obituary.error([0, 1], HELLOS, OPEN_MPI)
    assert "ranks of this cluster are dead: 0, 1 (rank 1 was killed by SIGKILL (out of memory? kill -9?))" in str(error)
    assert "cluster.restart() starts new ones" in str(error)
