"""What a step does with arrays, written down, so that it can be done again without the Python that decided on it.

    with recording(tape):
        call(kernel, x, y)       # done, and written down
    play(tape)                   # done again: whatever x holds now

Nearly all that a layer decides depends on shapes alone.  Of a step of LeNet-5 with 64 images that deciding is a sixth.
"""

import threading
from contextlib import contextmanager


class Recorder(threading.local):
    """Where this thread writes down what it does; None: nowhere."""

    tape = None


recorder = Recorder()


@contextmanager
def recording(tape):
    """Within it, each `call` of this thread is appended to `tape`, a list, as (function, arguments, what else must be there)."""
    before, recorder.tape = recorder.tape, tape
    try:
        yield tape
    finally:
        recorder.tape = before


def call(function, *arguments, holds=None):
    """function(*arguments), which works on the same arrays whenever it is called; written down if this thread records.

    `holds` are arrays that must be there, though the arguments do not show it.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.ones(2), np.zeros(2)
    >>> with recording([]) as tape:
    ...     call(np.add, x, x, y)
    array([2., 2.])
    >>> x[:] = 5
    >>> play(tape)
    >>> y
    array([10., 10.])
    """
    result = function(*arguments)
    if recorder.tape is not None:
        recorder.tape.append((machine_code(function, arguments), arguments, holds))
    return result


def machine_code(function, arguments):
    """What Numba calls for arguments of these types, without looking at them again each time; the function itself if it is none
    of Numba's, or is not compiled."""
    compiled = getattr(function, "overloads", {}).get(tuple(map(getattr(function, "typeof_pyval", type), arguments)))
    return getattr(compiled, "entry_point", function)


def play(tape):
    """Do again what is on the tape."""
    for function, arguments, _ in tape:
        function(*arguments)
