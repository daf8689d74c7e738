"""One kernel on several threads: `run(kernel, parts, ...)`.

A kernel that can be divided takes (part, parts) as its first arguments and does that part of its work: what it writes, no other
part writes, and it has its own piece of every scratch array.  So there is one source, and which thread does a part
changes no bit of the result.

With one thread the kernel is called as it is.  With more, a twin that calls it from Numba's parallel loop is compiled on first
use.  That loop is entered by one thread at a time, because a second one would end the process on Numba's simplest
threading layer.
"""

import threading
from functools import cache

import numba

from ..machine import threads_here
from .cache import kernel
from .scratch import scratch
from .tape import call

LEAST_WORK = 500_000  # multiply-adds, or so: below, waking a thread costs more than it helps
region = threading.Lock()


def parts_for(work):
    """In how many parts to do `work` operations: 1, or as many as this thread may use (`machine.threads`)."""
    return 1 if work < LEAST_WORK else threads_here()


def run(body, parts, *arguments):
    """body(part, parts, *arguments) for all parts at once; see also `tape.call`."""
    if parts == 1:
        call(body, 0, 1, *arguments)
    else:
        call(twin(body, len(arguments)), parts, *arguments, through=in_region)


def in_region(function, *arguments):
    """Call what enters the parallel loop, when no other thread is in one."""
    with region:
        function(*arguments)


@cache
def twin(body, count):
    """A kernel (parts, *arguments) that does all parts of `body` in a parallel loop.

    Numba takes no *arguments in such a loop, so the text of the function is made for their number.
    """
    names = ", ".join(f"a{k}" for k in range(count))
    text = f"""
def make(body):
    def in_parallel(parts, {names}):
        for part in prange(parts):
            body(part, parts, {names})

    return in_parallel
"""
    space = {"prange": numba.prange, "__name__": __name__}
    exec(text, space)
    made, own = space["make"](body), body.py_func
    made.__name__, made.__module__ = f"{own.__name__}_on_threads", own.__module__  # what a note says while it compiles
    return kernel(made, parallel=True)


def partial_sums(parts, size):
    """Scratch for what all parts but the first add up: (parts - 1, size)."""
    return scratch("partial sums", max(1, (parts - 1) * size))


def add_partial_sums(parts, sums, *totals):
    """Add them, in their order, to the flat arrays that lie one behind the other in each."""
    if parts > 1:
        call(_add_partial_sums, parts, sums, *totals)


def _add_partial_sums(parts, sums, *totals):
    size, at = sum(total.size for total in totals), 0
    for part in range(parts - 1):
        at = part * size
        for total in totals:
            total += sums[at : at + total.size]
            at += total.size
