"""Ends everything that belongs to a cluster when the process that started it is gone, however it went.

Run as a program of its own (``python watchdog.py FOLDER [SECONDS]``), before anything else of the cluster is started.  It holds
the reading end of a pipe whose other end is the client's: when the client ends, by SIGKILL too, the pipe closes.  What
belongs to the cluster is found by its folder's name in the processes' environment, so nothing that was started escapes, be it a
launcher's helper or a process that a job started itself.  With SECONDS, the cluster may outlive its client for so long; another
client that attaches to it meanwhile brings a watchdog of its own.  Imports nothing but the standard library: it costs 6 MB.
"""

import contextlib
import json
import os
import select
import signal
import sys
import time

VARIABLE = "DTNN_CLUSTER"  # in the environment of whatever belongs to a cluster: the cluster's folder
KEEP = "DTNN_KEEP"  # in the environment of engines that keep what their run has told, for the next client
PATIENCE = 0.5  # seconds between asking a process to end and ending it; ours have nothing to save
LATE = 3.0  # seconds in which a process that was being started when the client died may still appear
PERIOD = 1.0  # seconds between looks at whether the client is still the parent
CLIENT = "client.json"  # file in the cluster's folder: who started it
ALONE = "alone.json"  # file in the cluster's folder while it has no client: until when it may go on
SLURM = "slurm"  # file in the cluster's folder where the engines are a job of Slurm
NOTE = "ended-"  # first letters of the files that tell a notebook's next kernel what became of its cluster
SHARED = "shared"  # file in the cluster's folder: shared memory that MPI made and, killed, can't remove
LAUNCHERS = ("mpiexec", "mpirun", "orterun", "prterun")
SHARED_NAMES = ("mpich_shm", "ucx_shm", "sm_segment", "vader_segment")


def members(folder):
    """Process ids of everything that belongs to the cluster of this folder."""
    if os.path.isdir("/proc/self"):
        return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _is_marked(pid, folder)]
    return _members_elsewhere(folder)


def sweep(folder, late=0.0):
    """End everything that belongs to a cluster: asked first, ended by force after `PATIENCE`.

    MPI's launcher is asked before all others: it ends its ranks itself, and removes the file that it made for them.

    Parameters
    ----------
    folder : str
        The cluster's.
    late : float
        Seconds without a find after which nothing more is expected.

    Returns
    -------
    list of int
        What is left (a process in an uninterruptible call), normally nothing.
    """
    asked, quiet = {}, time.monotonic()
    while True:
        found, now = members(folder), time.monotonic()
        launchers = [pid for pid in found if _launches(pid) and now - asked.get(pid, now) < PATIENCE]
        for pid in launchers or found:
            quiet = now
            first = asked.setdefault(pid, now)
            if now - first > PATIENCE + 5.0:
                return found
            if first == now or now - first > PATIENCE:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGTERM if first == now else signal.SIGKILL)
        if not found and now - quiet >= late:
            return []
        time.sleep(0.02 if now - quiet < 1.0 else 0.1)


def shared_memory(pid="self"):
    """The files in /dev/shm that MPI has mapped in a process."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/maps") as lines:
        paths = {line.split(maxsplit=5)[5].strip() for line in lines if "/dev/shm/" in line}
        return {path for path in paths if os.path.basename(path).startswith(SHARED_NAMES)}
    return set()


def clean_up(folder, late=0.0):
    """End everything that belongs to a cluster, remove its folder and MPI's shared memory; what is left, normally nothing."""
    shared = set().union(*map(shared_memory, members(folder)))
    with contextlib.suppress(OSError), open(os.path.join(folder, SHARED)) as lines:
        shared |= set(lines.read().splitlines())
    if os.path.exists(os.path.join(folder, SLURM)):
        cancel(folder)
    left = sweep(folder, late=late)
    if late and os.path.exists(os.path.join(folder, SLURM)):
        cancel(folder)  # it may have been handed in late
    for path in shared:
        with contextlib.suppress(OSError):
            os.unlink(path)
    import shutil  # here and below: half a megabyte that a watchdog need not have while it waits

    shutil.rmtree(folder, ignore_errors=True)
    return left


def job_name(folder):
    """What the job of a cluster is called in the batch system."""
    return f"dtnn-{os.path.basename(folder)}"


def cancel(folder):
    """Have Slurm end the engines of a cluster, wherever they are, or wait."""
    import subprocess

    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        command = ["scancel", "--quiet", f"--name={job_name(folder)}"]
        subprocess.run(command, timeout=20.0, check=False, stdin=subprocess.DEVNULL, capture_output=True)


def note_of(session):
    """The name of the file that says how the cluster of a notebook ended."""
    return f"{NOTE}{session}.json"


def leave_word(folder):
    """For the notebook's next kernel: that its cluster is stopped because the kernel ended. Not for scripts."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        with open(os.path.join(folder, CLIENT)) as file:
            values = json.load(file)
        session = values.get("session")
        if session and session.isalnum():
            with open(os.path.join(os.path.dirname(folder), note_of(session)), "w") as file:
                json.dump({"ranks": values.get("ranks"), "ended": time.time()}, file)


@contextlib.contextmanager
def locked(folder):
    """Within it, nobody else decides whose a cluster is."""
    import fcntl

    with open(os.path.join(folder, "lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(folder, keep_alive="0"):
    """Wait for the client's end, then clean up after it; where it may be outlived, when the time is over and nobody has come."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # a logout or a signal to all of a user's processes is when it is needed
    client = os.getppid()
    said = _wait_for_the_end()
    if said == b"no" or (not said and float(keep_alive) and _finds_another(folder, client, float(keep_alive))):
        return
    if said != b"bye":
        leave_word(folder)
    clean_up(folder, late=0.0 if said == b"bye" else LATE)


def _finds_another(folder, client, seconds):
    """Whether another client comes within some seconds; it then has a watchdog of its own."""
    until = time.time() + seconds
    with contextlib.suppress(OSError):
        with open(os.path.join(folder, ALONE), "w") as file:
            json.dump({"until": until}, file)
        while time.time() < until and members(folder):
            if _client(folder) != client:
                return True
            time.sleep(PERIOD)
        with locked(folder):
            if _client(folder) != client:
                return True
            os.unlink(os.path.join(folder, CLIENT))  # whoever comes now comes too late
    return False


def _client(folder):
    with open(os.path.join(folder, CLIENT)) as file:
        return json.load(file)["pid"]


def _wait_for_the_end():
    """Returns what the client said last: nothing when it was killed or just ended."""
    parent, said = os.getppid(), b""
    while os.getppid() == parent:  # a fork of the client may keep the pipe open when the client is gone
        if select.select([sys.stdin], [], [], PERIOD)[0]:
            text = os.read(sys.stdin.fileno(), 100)
            if not text:
                break
            said += text
    return said


def _is_marked(pid, folder):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return os.fsencode(f"{VARIABLE}={folder}") in file.read().split(b"\0") and pid != os.getpid()
    except OSError:  # ended meanwhile, or somebody else's
        return False


def _launches(pid):
    """Whether a process is MPI's launcher."""
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().startswith(LAUNCHERS)
    except OSError:
        return False


def _members_elsewhere(folder):
    import psutil

    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(VARIABLE) == folder and process.pid != os.getpid():
                found.append(process.pid)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
