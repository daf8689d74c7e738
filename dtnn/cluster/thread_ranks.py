"""The launcher "threads": ranks that are threads of this process, for machines without MPI and for quick looks."""

import contextlib
import ctypes
import os
import platform
import sys
import threading
import time

from .. import machine
from ..comm.group import group
from .interrupting import AGAIN, may_interrupt
from .outcome import Outcome
from .rank import Commands, perform, unpacked

TICK = 0.2  # seconds between two looks at ranks, unless something wakes us
ALONE = 0.1  # seconds in which no other thread may take its turn while stacks are looked at
SECOND_LINE = 1.0  # seconds after which ranks that don't end although another failed are interrupted
_one = threading.Lock()  # the interval below is that of the whole process, in which there may be several clusters


class ThreadRanks:
    """Conducts runs on `size` threads of this process, with `threads` threads each for dtnn's kernels, BLAS and Numba."""

    def __init__(self, size, threads):
        self.size, self.threads = size, threads
        self._active = []  # of the run under way: (thread, comm, a lock, whether it may be interrupted)
        self._commands, self._run, self.stopped = Commands(), None, False

    def start(self, waits):
        """Nothing to start: threads are made for each run."""

    def stop(self):
        """End the run under way."""
        self.stopped = True
        if self._run is not None:
            self._run.interrupt()

    def check(self):
        """Nothing here can die by itself."""

    def epitaph(self):
        """Which ranks have died: never any."""
        return ""

    def dead(self):
        """Ranks that have gone away: never."""
        return set()

    def rows(self):
        """One description a rank."""
        common = {"host": platform.node(), "pid": os.getpid(), "cores": machine.cores(), "threads": self.threads}
        return [{"rank": rank, **common} for rank in range(self.size)]

    def memory(self):
        """Bytes in memory for each rank: all share those of this process."""
        return [machine.resident()] * self.size

    def conduct(self, run, parcel):
        """See a run through: start a thread a rank, hand on what the user asks, return when all have ended."""
        self._commands, self._run = Commands(), run
        with machine.threads(self.threads):  # around the ranks' own: BLAS's limit is the process's, and is put back here
            self._active = [Seat(comm) for comm in group(self.size)]
            run._running()
            for seat in self._active:
                seat.start(self._rank, parcel, run)
            while not all(seat.ended.is_set() for seat in self._active):
                run._wake.wait(AGAIN if run._first_end else TICK)
                run._wake.clear()
                self._serve(run)
        self._active, self._run = [], None

    def interrupt(self):
        """Raise KeyboardInterrupt in all ranks, once: at their next bytecode, or in the wait they are in."""
        armed = [seat for seat in self._active if seat.armed]
        if armed:
            with _undisturbed():
                for seat in armed:
                    seat.interrupt()

    def _serve(self, run):
        for kind, command in run._take_requests():
            if kind == "interrupt":
                run._interrupting()
            elif self._commands.heard or run.takes_commands:
                self._commands.put(command)
            else:
                run._unheard(command)
        if run._interrupt_asked or run._overdue() > SECOND_LINE:
            self.interrupt()
        run._tick()

    def _rank(self, seat, parcel, run):
        comm, commands = seat.comm, self._commands if seat.comm.rank == 0 else Commands()
        try:
            with machine.threads(self.threads), seat.interruptible():
                outcome = perform(unpacked, comm, (parcel,), {}, lambda record: run._tell([record]), commands)
        except KeyboardInterrupt:  # between the job's end and ours
            outcome = Outcome(comm.rank, "interrupted")
        if outcome.state != "done":
            comm.fail(outcome.state)
        comm.leave()
        run._end(outcome)


class Seat:
    """The thread of one rank, and how to interrupt it: only while it is at its job, or the exception would hit ours."""

    def __init__(self, comm):
        self.comm, self.ended = comm, threading.Event()
        self._lock, self._armed, self._thread = threading.Lock(), False, None  # armed: may be interrupted, and wasn't yet

    def start(self, function, *args):
        """Have the thread call ``function(seat, *args)``; the last argument is the run."""
        self._thread = threading.Thread(target=self._body, args=(function, args), name=f"rank {self.comm.rank}", daemon=True)
        self._thread.start()

    @property
    def armed(self):
        """Whether it may be interrupted, and wasn't yet."""
        return self._armed

    def interruptible(self):
        """A context in which `interrupt` has an effect."""
        return self

    def __enter__(self):
        with self._lock:
            self._armed = True

    def __exit__(self, *_):
        with self._lock:
            self._armed = False

    def interrupt(self):
        """End the wait that the rank is in, or raise KeyboardInterrupt where its job is, once."""
        with self._lock:
            if self._armed:
                self.comm.interrupt(self.comm.rank)
                self._raise_where_it_may_be()

    def _raise_where_it_may_be(self):
        if may_interrupt(sys._current_frames().get(self._thread.ident)):
            self._armed = False
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident), ctypes.py_object(KeyboardInterrupt))

    def _body(self, function, args):
        try:
            function(self, *args)
        finally:
            self.ended.set()
            args[-1]._wake.set()


@contextlib.contextmanager
def _undisturbed():
    """For some bytecodes no other thread runs: what was seen of its stack is still true when the exception is set."""
    with _one:
        before = sys.getswitchinterval()
        sys.setswitchinterval(ALONE)
        time.sleep(0)  # from here on the others wait for the whole interval before they ask for their turn; and so do we here
        try:
            yield
        finally:
            sys.setswitchinterval(before)
