"""How an engine hears of commands and interrupts while its job runs: on the control channel, which has a thread of its own."""

import base64
import contextlib
import pickle
import signal
import threading
import time

from ..machine import resident
from .interrupting import AGAIN, may_interrupt
from .kept import Kept
from .parcel import unpack
from .whereabouts import whereabouts

MESSAGE = "dtnn_request"


class State:
    """What this engine remembers between two messages."""

    prepared, pool, run, commands, comm, armed = None, None, 0, None, None, False
    hello, kept = None, Kept()  # who this is, and what was told of the last run
    interrupted, lock = 0, threading.Lock()  # the run that was interrupted before it began here


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
    buffers = reply.pop("buffers", None)
    kernel().session.send(stream, "dtnn_reply", reply, parent=message, ident=idents, buffers=buffers)


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
    return {"run": State.run if State.armed else None, "bytes": resident()}


def _answer_where(content):
    if not State.armed or content["run"] != State.run:
        return {"problem": "the run has not begun here, or has ended"}
    return whereabouts(threading.main_thread().ident)


def _answer_hello(content):
    return {"hello": State.hello}


def _answer_kept(content):
    """What was told of the last run, for a client that did not ask for it: batches, then how it ended."""
    kept, batches = State.kept, State.kept.since(content["first"])
    ended = not batches and kept.outcome is not None
    buffers = [pickle.dumps(kept.outcome)] if ended else batches
    return {"run": kept.number, "about": kept.about, "ended": ended, "buffers": buffers}


ANSWERS = {
    "command": _answer_command,
    "interrupt": _answer_interrupt,
    "state": _answer_state,
    "where": _answer_where,
    "hello": _answer_hello,
    "kept": _answer_kept,
}


def kernel():
    """The IPython kernel of this engine."""
    from ipykernel.zmqshell import ZMQInteractiveShell

    return ZMQInteractiveShell.instance().kernel
