"""What one rank does with a job, be it a thread here or an engine far away."""

import collections
import contextlib
import inspect
import os
import traceback

from ..comm.failures import RankFailed
from ..sentence import sentence
from .outcome import Outcome
from .parcel import unpack

COMM_FOLDER = os.path.dirname(inspect.getfile(RankFailed)) + os.sep
CLUSTER_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Commands:
    """Commands on their way to a job, put in by one thread and taken out by another.

    Attributes
    ----------
    heard : bool
        Whether the job is one that takes commands, a generator; a plain function can only be interrupted.

    Examples
    --------
    >>> commands = Commands()
    >>> from dtnn import Stop
    >>> commands.put(Stop())
    >>> commands.take(), commands.take()
    (Stop(text='stopped'), None)
    """

    def __init__(self):
        self._waiting, self.heard = collections.deque(), False

    def put(self, command):
        """One more, behind those that wait."""
        self._waiting.append(command)

    def take(self):
        """The next command, or None."""
        return self._waiting.popleft() if self._waiting else None


def perform(job, comm, args=(), kwargs=None, publish=None, commands=None):
    """Do a job on this rank and say how it ended; never raises.

    Parameters
    ----------
    job : callable
        ``job(comm, *args, **kwargs)``: a function, or a generator of records whose return value is the result.
    comm : Communicator
    publish : callable
        Takes each record that this rank is to tell: those with its own number, and on rank 0 those without a rank.
    commands : Commands
        What comes in for a generator job: asked after each record, the answer is sent into the generator.

    Examples
    --------
    >>> from dtnn.comm.serial import Serial
    >>> perform(lambda comm, x: x + comm.rank, Serial(), (41,))
    Outcome(rank=0, state='done', value=41, error=None, trace='', waited='')
    """
    try:
        value = do(job, comm, args, kwargs or {}, publish or _ignore, commands or Commands())
        return Outcome(comm.rank, "done", value)
    except KeyboardInterrupt as error:
        comm.fail("interrupted")
        return Outcome(comm.rank, "interrupted", waited=waited_for(error))
    except BaseException as error:
        if _of_a_peer(error):
            return Outcome(comm.rank, "abandoned", error=error, trace=_trace(error), waited=waited_for(error))
        comm.fail(sentence(error))
        return Outcome(comm.rank, "failed", error=error, trace=_trace(error))


def unpacked(comm, data):
    """The job that does what is packed in `data`: for ranks that share memory, each of which has to have its own copy."""
    job, args, kwargs = unpack(data)
    return job(comm, *args, **kwargs)


def waited_for(error):
    """Where an exception ended a wait: the verb and the line of the job, "" if it was no wait.

    >>> waited_for(ValueError("raised nowhere"))
    ''
    """
    place, verb = "", ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(COMM_FOLDER):
            verb = verb or (frame.name if frame.name[0].isupper() else "")  # the verbs are MPI's; an algorithm may call them
        elif not verb:
            place = f"{os.path.basename(frame.filename)}, line {frame.lineno}, in {frame.name}"
    return f"{verb} ({place})" if verb else ""


def do(job, comm, args, kwargs, publish, commands):
    """Run a job to its end; a generator's records are told and it is sent what comes in. Only within this may interrupts hit.

    A generator that yields None tells nothing, and is sent what comes in all the same.
    """
    work, rank = job(comm, *args, **kwargs), comm.rank
    if not inspect.isgenerator(work):
        return work
    commands.heard = True
    with contextlib.closing(work):
        try:
            record = next(work)
            while True:
                if record is not None and getattr(record, "rank", 0) == rank:
                    publish(record)
                record = work.send(commands.take())
        except StopIteration as end:
            return end.value


def _of_a_peer(error):
    """Whether an exception is, or comes of, another rank's failure."""
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, RankFailed):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _trace(error):
    """The traceback from the job's first line on: what is above it is the same for everybody."""
    frames = error.__traceback__
    while frames and frames.tb_next and frames.tb_frame.f_code.co_filename.startswith(CLUSTER_FOLDER):
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def _ignore(*_):
    return None
