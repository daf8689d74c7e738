"""Where a rank is: the line of the job that its thread is at, and what it waits for, seen from another thread."""

import os
import sys
import sysconfig
import time

import numpy as np

from . import rank
from .rank import COMM_FOLDER

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # of dtnn
LIBRARIES = tuple({sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})
COMPILER = os.sep + os.path.join("numba", "core", "")


def whereabouts(thread):
    """Where a thread is that does a job.

    Parameters
    ----------
    thread : int
        Its identifier.

    Returns
    -------
    dict
        "verb": what it waits for ("Recv"), "" if it doesn't communicate; "file", "line", "function": where in the job;
        "compiles": whether kernels are being compiled; "mark": a text that is the same as long as it is the same wait; "bytes"
        that are waited for.
    """
    frames = _of_job(sys._current_frames().get(thread))
    place, verb = _place(frames)
    mark, size = _under_way() if verb and _polls(frames) else (time.monotonic(), 0)
    where = {"file": "", "line": 0, "function": ""}
    if place is not None:
        where = {"file": place[0].co_filename, "line": place[1] or 0, "function": place[0].co_name}
    return {"verb": verb, **where, "compiles": _compiles(), "mark": f"{mark} {where}", "bytes": size}


def _of_job(frame):
    """(code, line) of each frame from the job's first to the innermost."""
    frames = []
    while frame is not None and frame.f_code is not rank.do.__code__:
        frames.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return frames[::-1] if frame is not None else []


def _place(frames):
    """The frame to show, and the verb: where the job entered a communicator, else its innermost own line."""
    for number, (code, _) in enumerate(frames):
        if code.co_filename.startswith(COMM_FOLDER):
            verb = next((code.co_name for code, _ in frames[number:] if code.co_name[0].isupper()), "")
            if verb:
                return (frames[number - 1] if number else frames[0]), verb
    return next((frame for frame in reversed(frames) if _is_own(frame[0].co_filename)), None), ""


def _is_own(filename):
    return filename.startswith(ROOT) or not filename.startswith((*LIBRARIES, "<frozen"))


def _polls(frames):
    """Whether it really waits, and doesn't copy or sleep, as an emulated link does."""
    return any(code.co_filename.startswith(COMM_FOLDER) and code.co_name == "wait" for code, _ in frames)


def _under_way():
    """A text that is another one after each operation that is begun, and the bytes of the newest one under way."""
    pending = sys.modules.get("dtnn.comm.pending")
    held = dict(pending.HELD) if pending else {}
    return f"{pending and pending.NUMBERS} {sorted(held)}", _bytes(held[max(held)]) if held else 0


def _bytes(buffers):
    if isinstance(buffers, np.ndarray):
        return buffers.nbytes
    return sum(map(_bytes, buffers)) if isinstance(buffers, list | tuple) else 0


def _compiles():
    """Whether a thread of this process is in Numba's compiler."""
    return any(COMPILER in frame.f_code.co_filename for frame in map(_innermost_own, sys._current_frames().values()) if frame)


def _innermost_own(frame):
    """The innermost frame of a thread that belongs to Numba, or None."""
    while frame is not None and COMPILER not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame
