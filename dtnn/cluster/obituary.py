"""What is known of a rank's death, from the log of the engines and the last words of their launcher."""

import re
import signal

from .failure import RankDied

TAIL = 12  # lines of a log that an error shows
MINDED = re.compile(r"dtnn: process (\d+) ended at ([\d.]+) with (-?\d+)$", re.MULTILINE)
ABORTED = re.compile(r"MPI_A(?:bort|BORT).*?(?:- process|on rank) (\d+)")
FATAL = re.compile(r"^Fatal Python error: (.*)$", re.MULTILINE)
ROUTINE = re.compile(
    r"\[IPEngine\b|^dtnn: process|^=|^YOU CAN IGNORE|^Please see the FAQ|^This typically|^YOUR APPLICATION|^Extension modules"
)


def tail(log):
    """What matters at the end of a log: from a crash on, else its last lines without the routine ones.

    >>> tail("loading\\n=== banner\\n")
    '    loading'
    """
    lines = [line for line in log.splitlines() if line.strip() and not ROUTINE.search(line)]
    crash = next((number for number, line in enumerate(lines) if FATAL.match(line)), None)
    lines = lines[-TAIL:] if crash is None else lines[crash : crash + TAIL]
    return "\n".join(f"    {line}" for line in lines) or "    (nothing)"


def first_death(hellos, log):
    """The rank that died first, and how, as far as the log tells; (None, "") if it doesn't.

    Launchers end all ranks when one has died, and MPICH's then names any of them; our minders' times have the order.

    Examples
    --------
    >>> log = "dtnn: process 7 ended at 2.0 with -9\\ndtnn: process 8 ended at 1.0 with -9\\n"
    >>> first_death([{"pid": 7}, {"pid": 8}], log)
    (1, 'was killed by SIGKILL (out of memory? kill -9?)')
    """
    aborted, crash = ABORTED.search(log), FATAL.search(log)
    if aborted:
        return int(aborted[1]), "called MPI_Abort"
    ranks = {hello["pid"]: rank for rank, hello in enumerate(hellos)}
    seen = [(float(when), ranks[int(pid)], int(code)) for pid, when, code in MINDED.findall(log) if int(pid) in ranks]
    if not seen:
        return None, ""
    _, rank, code = min(seen)
    return rank, f"crashed: {crash[1]}" if crash else _in_words(code)


def text(rank, hellos, log):
    """What to say of a dead rank; all ranks of an MPI job die with the first."""
    first, how = first_death(hellos, log)
    name = f"rank {rank} (process {hellos[rank]['pid']} on {hellos[rank]['host']})"
    if first is None:
        return f"{name} is gone, and the launcher didn't say why. The end of its log:\n{tail(log)}\n"
    if first != rank:
        return f"{name} was ended by the launcher because rank {first} died.\n"
    return f"{name} {how}. The end of its log:\n{tail(log)}\n"


def line(dead, hellos, log):
    """Which ranks are dead, and of what, for somebody who has others in their place.

    >>> line([1], [{"pid": 7}, {"pid": 8}], "dtnn: process 8 ended at 1.0 with 3\\n")
    'ranks of this cluster are dead: 1 (rank 1 ended its process with exit code 3)'
    """
    first, how = first_death(hellos, log)
    cause = f"rank {first} {how}" if first is not None else "the launcher didn't say why"
    return f"ranks of this cluster are dead: {', '.join(map(str, dead))} ({cause})"


def error(dead, hellos, log):
    """The exception for somebody who asks a cluster with dead ranks to work."""
    return RankDied(
        f"{line(dead, hellos, log)}; cluster.restart() starts new ones, where dtnn has started these. "
        f"The end of their log:\n{tail(log)}"
    )


def _in_words(code):
    """How a process ended, from its exit code or, below 0, the number of a signal."""
    if code >= 0:
        return f"ended its process with exit code {code}"
    return f"was killed by {signal.Signals(-code).name}" + (" (out of memory? kill -9?)" if -code == signal.SIGKILL else "")
