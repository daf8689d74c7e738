"""One kernel on several threads: `run(kernel, parts, ...)`.

A kernel that can be divided takes (part, parts) as its first arguments and does that part of its work: what it writes, no other
part writes, and it has its own piece of every scratch array.  So there is one source, and which thread does a part
changes no bit of the result.

With one thread the kernel is called as it is.  With more, what hands its parts to a `Team` is compiled on first use.  A kernel
divides an image into its upper and lower part, or the like: what a thread has written it then mostly reads itself, and
need not come from another core.
"""

import threading
from functools import cache

import numpy as np

from ..machine import threads_here
from .baton import ROOM, do_all, do_row, job_of
from .cache import kernel
from .scratch import scratch
from .tape import call, machine_code
from .team import Team

LEAST_WORK = 150_000  # multiply-adds, or so: below, passing on a part costs more than it helps
MOST = 16  # kernels in one call


class Here(threading.local):
    """The teams of this thread, by size; and what no other thread has, be it one that got its number."""

    def __init__(self):
        self.teams, self.key = {}, object()


here = Here()


def parts_for(work):
    """In how many parts to do `work` operations: 1, or as many as this thread may use (`machine.threads`)."""
    return 1 if work < LEAST_WORK else threads_here()


def run(body, parts, *arguments):
    """body(part, parts, *arguments) for all parts at once; see also `tape.call`."""
    if parts == 1:
        call(body, 0, 1, *arguments)
        return
    room = np.empty(ROOM, np.int64)
    call(do_all, team(parts).box, *twin(body)(arguments, room), parts, holds=(arguments, room))
    team(parts).wake()


def joined(calls):
    """The same calls (see `tape.recording`), but kernels for several threads that follow each other are one call, without the
    Python in between: a `MOST` at a time, so that an interrupt does not wait for long."""
    found, row = [], []
    for each in calls:
        if not is_job(each) or len(row) == MOST or (row and row[0][1][0] is not each[1][0]):
            found, row = found + in_one(row), []
        (row if is_job(each) else found).append(each)
    return found + in_one(row)


def is_job(each):
    """Whether a call hands a job to a team of this thread."""
    _, arguments, _ = each
    return len(arguments) == 4 and any(arguments[0] is team.box for team in here.teams.values())


def in_one(row):
    """[one call that makes these], of jobs for one team."""
    if len(row) < 2:
        return row
    box, jobs = row[0][1][0], np.array([arguments[1:] for _, arguments, _ in row], np.int64)
    do_row(box, jobs[:0])  # nothing, so that it is compiled
    return [(machine_code(do_row, (box, jobs)), (box, jobs), [held for *_, held in row])]


def team(size):
    """This thread's team of that size."""
    if size not in here.teams:
        here.teams[size] = Team(size)
    return here.teams[size]


def wake():
    """Wake this thread's helpers, as many as it may use now; who plays a tape, which has only calls of kernels, does that before.

    Helpers of another number of threads, which this thread had before, sleep on: awake they would keep cores busy for nothing.
    """
    asked = here.teams.get(threads_here())
    if asked is not None:
        asked.wake()


@cache
def twin(body):
    """A kernel (arguments, room) that makes a job of `body` for all parts, see `baton.job_of`."""

    def on_threads(arguments, room):
        return job_of(body, arguments, room)

    own = body.py_func  # its name is what a note says while it compiles
    on_threads.__name__, on_threads.__module__ = f"{own.__name__}_on_threads", own.__module__
    return kernel(on_threads)


def partial_sums(parts, size):
    """Scratch for what all parts but the first add up: (parts - 1, size)."""
    return scratch("partial sums", max(1, (parts - 1) * size))


def add_partial_sums(parts, sums, *totals):
    """Add them, in their order, to the flat arrays that lie one behind the other in each."""
    if parts > 1:
        run(_add_partial_sums, parts, sums, *totals)


@kernel
def _add_partial_sums(part, parts, sums, *totals):
    at = 0
    for _ in range(parts - 1):
        for total in totals:
            first, last = total.size * part // parts, total.size * (part + 1) // parts
            total[first:last] += sums[at + first : at + last]
            at += total.size
