"""What is known of a rank's death: from the launcher's last words."""

import re
import signal

from .checks import tail
from .failure import RankDied

PID = re.compile(r"PID (\d+)")
SIGNAL = re.compile(r"[Ss]ignal:? \(?(\d+)|exited on signal (\d+)|EXIT CODE: (\d+)|exit code:? *(\d+)", re.IGNORECASE)


def first_death(hellos, log):
    """The rank that died first and how, as far as the log tells; (None, "") if it doesn't.

    Examples
    --------
    >>> first_death([{"pid": 7}, {"pid": 8}], "BAD TERMINATION ... PID 8 RUNNING AT here\\n=   EXIT CODE: 9")
    (1, 'killed by SIGKILL')
    """
    pid = next((int(found) for found in PID.findall(log) if any(hello["pid"] == int(found) for hello in hellos)), None)
    if pid is None:
        return None, ""
    rank = next(rank for rank, hello in enumerate(hellos) if hello["pid"] == pid)
    found = SIGNAL.search(log[log.index(f"PID {pid}") :])
    return rank, _in_words(next(int(number) for number in found.groups() if number)) if found else "died"


def text(rank, hellos, log, wait_for_launcher):
    """What to say of a dead rank; all ranks of an MPI job die with the first."""
    wait_for_launcher()
    written = log()
    first, how = first_death(hellos, written)
    hello = hellos[rank]
    if first is None:
        return f"rank {rank} (process {hello['pid']} on {hello['host']}) is gone. The end of the log:\n{tail(written)}\n"
    if first != rank:
        return f"ended by the launcher because rank {first} {how}\n"
    return f"rank {rank} (process {hello['pid']} on {hello['host']}) {how}. The end of the log:\n{tail(written)}\n"


def error(dead, hellos, log):
    """The exception for somebody who asks a cluster with dead ranks to work."""
    first, how = first_death(hellos, log)
    cause = f"rank {first} {how}" if first is not None else "their processes are gone"
    ranks = ", ".join(map(str, dead))
    return RankDied(
        f"rank {ranks} of this cluster died: {cause}; cluster.restart() starts new ones. The end of the log:\n{tail(log)}"
    )


def _in_words(code):
    if code in set(signal.Signals):
        return f"killed by {signal.Signals(code).name}"
    return f"ended with exit code {code}"
