"""What runs on an engine: it says who it is, unpacks a job, then does it together with the others.

A run has two phases: all engines `prepare` and answer, and only when all have answered they `execute`, so no rank can
fail between two operations that all ranks have to make together.
"""

import contextlib
import faulthandler
import importlib
import os
import platform
import sys
from importlib import metadata

from .. import machine
from . import signature, watchdog
from .kept import KEPT, Kept
from .listening import MESSAGE, State, interruptible, kernel, on_message
from .outcome import Outcome, pack_outcome
from .parcel import unpack
from .publisher import Printer, Publisher
from .rank import Commands, perform
from .trimming import Trimmer, trim

VERSIONS = ("numpy", "numba", "mpi4py", "ipyparallel")
MEMORY = Trimmer(trim)


def hello():
    """Who and where this engine is, plain values; from now on it listens to commands."""
    from mpi4py import MPI

    kernel().control_handlers[MESSAGE] = on_message
    _last_words_to_the_log()
    _note_shared_memory()
    State.hello = {
        "rank": MPI.COMM_WORLD.rank,
        "size": MPI.COMM_WORLD.size,
        "library": MPI.Get_library_version().splitlines()[0].strip(" \0"),
        "host": platform.node(),
        "place": signature.place(),
        "pid": os.getpid(),
        "cores": machine.cores(),
        "threads": threads(),
        "versions": versions(),
    }
    return State.hello


def threads():
    """Threads that this rank uses: as many as its cluster, or the user, has said, else its share of the cores."""
    from mpi4py import MPI

    said = os.environ.get("NUMBA_NUM_THREADS", "")
    return int(said) if said.isdecimal() and int(said) else machine.threads_per_rank(MPI.COMM_WORLD.size)


def _last_words_to_the_log():
    """What C code writes to stderr goes to the launcher's log again: ipykernel's way to the notebook is too long for it."""
    original = getattr(sys.stderr, "_original_stdstream_copy", None)
    if original is not None:
        os.dup2(original, 2)
    faulthandler.enable(2, all_threads=False)


def _note_shared_memory():
    """Write down what MPI has made in /dev/shm, for whoever cleans up if this process is killed."""
    folder = os.environ.get(watchdog.VARIABLE)
    if folder:
        with contextlib.suppress(OSError), open(os.path.join(folder, watchdog.SHARED), "a") as file:
            file.write("".join(f"{path}\n" for path in watchdog.shared_memory()))


def versions():
    """The versions that all ranks and the client should share."""
    from .. import __version__

    found = {"Python": platform.python_version(), "dtnn": __version__}
    for name in VERSIONS:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def publish_something():
    """Show whether what is published here arrives at the client."""
    kernel().shell.data_pub.publish_data({"arrived": b""})


def warm(names):
    """Import what the first run will need, while the user still thinks; what can't be imported will be told then."""
    for name in names:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    MEMORY.soon()


def prepare(number, parcel, about=()):
    """First phase: unpack the job. No batches of records, and None or the packed `Outcome` that says why it can't be."""
    State.prepared = None
    try:
        State.prepared = number, unpack(parcel), Kept(number, about, KEPT if os.environ.get(watchdog.KEEP) else 0)
    except BaseException as error:
        return 0, pack_outcome(Outcome(-1, "failed", error=error, trace=_trace(error))), []
    finally:
        _let_go_of_the_message()
    return 0, None, []


def _let_go_of_the_message():
    """The kernel keeps it while it works on the next one, for the whole run: with the parcel, another copy of all data."""
    with contextlib.suppress(Exception):
        kernel().get_parent("shell")["buffers"].clear()


def execute(number, fresh):
    """Second phase: do the job.

    Parameters
    ----------
    number : int
        Of the run.
    fresh : bool
        Whether the run before ended uncleanly anywhere.

    Returns
    -------
    tuple
        How many batches of records were published, the packed `Outcome`, and the records since the last batch.
    """
    prepared, (job, args, kwargs), State.kept = State.prepared
    assert prepared == number, (prepared, number)
    State.prepared = None
    from ..comm.pool import Pool

    State.pool = State.pool or Pool()
    first = State.run == 0
    comm = State.pool.checkout(fresh=fresh)
    if first or fresh:
        _note_shared_memory()
    publisher, State.commands = Publisher(_publish), Commands()
    MEMORY.soon()
    outcome = Outcome(comm.rank, "interrupted")
    try:
        with machine.threads(threads()), publisher, Printer(publisher), interruptible(number, comm):
            outcome = perform(job, comm, args, kwargs, publisher.put_record, State.commands)
    except KeyboardInterrupt:  # in the moment between the job's end and ours
        comm.fail("interrupted")
    answer = publisher.batches, pack_outcome(outcome), publisher.rest
    State.kept.end(answer)
    MEMORY.soon()
    return answer


def _publish(key, data):
    kernel().shell.data_pub.publish_data({key: data})
    State.kept.put(data)


def _trace(error):
    import traceback

    return "".join(traceback.format_exception(error))
