"""What runs on an engine: it says who it is, unpacks a job, then does it together with the others.

A run has two phases: all engines `prepare` and answer, and only when all have answered they `execute`, so no rank can
fail between two operations that all ranks have to make together.
"""

import base64
import contextlib
import faulthandler
import importlib
import os
import pickle
import platform
import signal
import sys
import threading
import time
from importlib import metadata

from .. import machine
from . import watchdog
from .interrupting import AGAIN, may_interrupt
from .parcel import pack, unpack
from .publisher import Printer, Publisher
from .rank import Commands, Outcome, perform

MESSAGE = "dtnn_request"
VERSIONS = ("numpy", "numba", "mpi4py", "ipyparallel")


class State:
    """What this engine remembers between two messages."""

    prepared, pool, run, commands, comm, armed = None, None, 0, None, None, False
    interrupted, lock = 0, threading.Lock()  # the run that was interrupted before it began here


def hello():
    """Who and where this engine is, plain values; from now on it listens to commands."""
    from mpi4py import MPI

    kernel().control_handlers[MESSAGE] = on_message
    _last_words_to_the_log()
    _note_shared_memory()
    return {
        "rank": MPI.COMM_WORLD.rank,
        "size": MPI.COMM_WORLD.size,
        "library": MPI.Get_library_version().splitlines()[0].strip(" \0"),
        "host": platform.node(),
        "pid": os.getpid(),
        "cores": machine.cores(),
        "threads": int(os.environ.get("NUMBA_NUM_THREADS", "0")) or machine.cores(),
        "versions": versions(),
    }


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
    _publish("arrived", b"")


def warm(names):
    """Import what the first run will need, while the user still thinks; what can't be imported will be told then."""
    for name in names:
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def prepare(number, parcel):
    """First phase: unpack the job. No batches of records, and None or the packed `Outcome` that says why it can't be."""
    State.prepared = None
    try:
        State.prepared = number, unpack(parcel)
    except BaseException as error:
        return 0, pack_outcome(Outcome(-1, "failed", error=error, trace=_trace(error))), []
    return 0, None, []


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
    prepared, (job, args, kwargs) = State.prepared
    assert prepared == number, (prepared, number)
    State.prepared = None
    from ..comm.pool import Pool

    State.pool = State.pool or Pool()
    first = State.run == 0
    comm = State.pool.checkout(fresh=fresh)
    if first or fresh:
        _note_shared_memory()
    publisher, State.commands = Publisher(_publish), Commands()
    outcome = Outcome(comm.rank, "interrupted")
    try:
        with publisher, Printer(publisher), interruptible(number, comm):
            outcome = perform(job, comm, args, kwargs, publisher.put_record, State.commands)
    except KeyboardInterrupt:  # in the moment between the job's end and ours
        comm.fail("interrupted")
    return publisher.batches, pack_outcome(outcome), publisher.rest


def pack_outcome(outcome):
    """An outcome as bytes, the error apart: it may be one that doesn't survive the journey."""
    error, plain = outcome.error, Outcome(outcome.rank, outcome.state, None, None, outcome.trace, outcome.waited)
    try:
        value = pack(outcome.value)
    except TypeError as problem:
        failed = Outcome(outcome.rank, "failed", trace=f"the job's result can't travel back: {problem}\n")
        return pickle.dumps((failed, pack(None), None))
    try:
        error = pack(error.with_traceback(None)) if error is not None else None
    except TypeError:
        error = None
    return pickle.dumps((plain, value, error))


def unpack_outcome(data, rank):
    """The outcome that `pack_outcome` packed; on the client."""
    plain, value, error = pickle.loads(data)
    try:
        error = unpack(error)[0] if error is not None else None
    except Exception:
        error = None
    return Outcome(rank, plain.state, unpack(value)[0], error, plain.trace, plain.waited)


@contextlib.contextmanager
def interruptible(number, comm):
    """Within it, an interrupt raises KeyboardInterrupt in the job, once; outside it, it is ignored."""
    signal.signal(signal.SIGINT, _on_interrupt)
    with State.lock:
        State.run, State.comm, State.armed = number, comm, True
    try:
        if State.interrupted == number:
            raise KeyboardInterrupt
        yield
    finally:
        State.armed = False
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _on_interrupt(_, frame):
    if State.armed and may_interrupt(frame):
        State.armed = False
        raise KeyboardInterrupt
    if State.armed:
        State.comm.interrupt()
        threading.Thread(target=_interrupt_again, args=(State.run,), daemon=True).start()


def _interrupt_again(number):
    time.sleep(AGAIN)
    if State.armed and State.run == number:
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def on_message(stream, idents, message):
    """Answer a message of the client's, in the thread of the control channel, while the job runs in the main one."""
    content = message["content"]
    try:
        reply = {"status": "ok", **ANSWERS[content["what"]](content)}
    except Exception as error:
        reply = {"status": "ok", "problem": f"{type(error).__name__}: {error}"}
    kernel().session.send(stream, "dtnn_reply", reply, parent=message, ident=idents)


def _answer_command(content):
    begun = State.run == content["run"]
    if begun:
        State.commands.put(unpack(base64.b64decode(content["command"]))[0])
    return {"begun": begun, "heard": begun and State.commands.heard}


def _answer_interrupt(content):
    with State.lock:
        if content["run"] > State.run:
            State.interrupted = content["run"]
        elif State.armed and content["run"] == State.run:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    return {}


def _answer_state(content):
    return {"run": State.run if State.armed else None, "bytes": _resident()}


ANSWERS = {"command": _answer_command, "interrupt": _answer_interrupt, "state": _answer_state}


def kernel():
    """The IPython kernel of this engine."""
    from ipykernel.zmqshell import ZMQInteractiveShell

    return ZMQInteractiveShell.instance().kernel


def _publish(key, data):
    kernel().shell.data_pub.publish_data({key: data})


def _resident():
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _trace(error):
    import traceback

    return "".join(traceback.format_exception(error))
