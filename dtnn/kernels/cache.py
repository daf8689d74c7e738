"""`kernel`: compile a function with Numba once on a machine, keep the machine code on disk, never use a stale copy.

Numba's own disk cache looks at the file of the function alone, so a change in a file that it imports goes
unnoticed.  Here the folder is named after a hash of *all* files of this package and of the versions involved; a
file in it is named after the function, its argument types and the CPU.  One file a kernel, written under
another name and then renamed: any number of processes may start cold together and there is no index to fight over.
The user's Numba settings, and the caches of other packages, are left alone.
"""

import hashlib
import os
import pickle
import platform
import signal
import sys
import tempfile
import threading
import warnings
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import numba
import numpy as np
from numba.core import event
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

# Sums may be reordered and fused, but a NaN or an infinity must stay visible: neither nnan nor ninf.
FLAGS = ("contract", "reassoc", "nsz", "arcp")


def kernel(function=None, *, exact=False, inlined=False):
    """Compile `function` at its first call, or take it from dtnn's cache on disk.

    It runs without the GIL, divides by zero as NumPy does, and keeps NaNs.  A function made inside another one may
    close over numbers (they become constants) and over functions of this package, over nothing else.

    Parameters
    ----------
    function : function
        What Numba's nopython mode can compile.
    exact : bool
        Keep the order of operations as written (`@kernel(exact=True)`).
    inlined : bool
        For what adds up numbers within another kernel, or decides something in its inner loop: it becomes part of it, and is not
        compiled by itself.  Else there are two versions of its machine code, one of its own and one made for the other kernel,
        whose sums may differ in order; which of them runs would depend on whether they were just compiled or came from the disk.

    Returns
    -------
    Numba dispatcher
    """
    if function is None:
        return partial(kernel, exact=exact, inlined=inlined)
    options = {"nogil": True, "error_model": "numpy", "inline": "always" if inlined else "never"}
    options["no_cfunc_wrapper"] = True  # nobody calls a kernel by its address
    dispatcher = numba.njit(fastmath=False if exact else set(FLAGS), **options)(function)
    if hasattr(dispatcher, "_cache"):  # not with NUMBA_DISABLE_JIT
        dispatcher._cache = Disk(function)
        dispatcher.compile = partial(uninterrupted, dispatcher.compile)
    return dispatcher


def uninterrupted(compile, signature):
    """compile(signature).  In the main thread an interrupt counts when that is done, a second or so later: in the middle it could
    leave parts of Numba half imported, and nothing could be compiled in this process any more."""
    handler, came = signal.getsignal(signal.SIGINT), []
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        return compile(signature)
    signal.signal(signal.SIGINT, lambda *where: came.append(where))
    try:
        return compile(signature)
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[-1])


class Disk:
    """The machine code of one kernel on disk; has the methods that Numba asks of a dispatcher's cache."""

    def __init__(self, function):
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self.constants = repr(closed_over(function))

    cache_path = property(lambda self: folder())

    def path(self, signature, codegen):
        """The file for one signature on this CPU."""
        key = repr((self.name, self.constants, str(signature), codegen.magic_tuple()))
        return folder() / f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.kernel"

    def load_overload(self, signature, target):
        """The compiled function, or None: not there, not readable, or not whole."""
        if folder() is None:
            return None
        rtsys.initialize(target)  # not target.refresh(): what only the compiler needs takes 0.7 s and 25 MB
        try:
            content = self.path(signature, target.codegen()).read_bytes()
            digest, payload = content[:32], content[32:]
            if hashlib.sha256(payload).digest() != digest:
                return None
            return CompileResult._rebuild(target, *pickle.loads(payload))
        except (OSError, EOFError, pickle.PickleError, AttributeError, TypeError, ValueError):
            return None

    def save_overload(self, signature, result):
        """Write it; a full or read-only disk is no reason to stop."""
        if result.library.has_dynamic_globals:
            return
        try:
            payload = dumps(result._reduce())
        except RuntimeError as error:
            if "no compiled object" not in str(error):
                raise
            # An interrupt during LLVM's work comes when it hands over the machine code: ctypes prints it there, and goes on.
            raise KeyboardInterrupt from None
        if folder() is None:
            return
        try:
            write(self.path(signature, result.codegen), hashlib.sha256(payload).digest() + payload)
        except OSError as error:
            note(str(error))

    def enable(self):
        """Nothing: dtnn's cache is always on where it can be written, and other files make another folder."""

    disable = flush = enable


def closed_over(function):
    """What makes a function made inside another one different from its sisters: numbers, and functions with their own."""
    closed = [cell.cell_contents for cell in getattr(getattr(function, "py_func", function), "__closure__", None) or ()]
    return [c if isinstance(c, int | float | str) else (f"{c.__module__}.{c.__qualname__}", closed_over(c)) for c in closed]


def write(path, content):
    """All of it or nothing, whoever else writes the same file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


@cache
def folder():
    """The folder of the compiled kernels, or None (after one note) where none can be written: one for each state of the sources.

    In `$DTNN_CACHE_DIR`, else `$XDG_CACHE_HOME/dtnn`, else `~/.cache/dtnn`.
    """
    try:
        path = base() / f"kernels-{state()[:20]}"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except (OSError, RuntimeError) as error:  # RuntimeError: no home folder
        note(str(error))
        return None
    return path


def base():
    """Where all of dtnn's caches lie."""
    if own := os.environ.get("DTNN_CACHE_DIR"):
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return Path(shared or Path.home() / ".cache") / "dtnn"


def state():
    """A hash of everything that machine code depends on, but for the CPU: this package's files, versions."""
    digest = hashlib.sha256(repr((numba.__version__, np.__version__, sys.version, platform.machine())).encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


@cache
def note(reason):
    """Say once that kernels cannot be kept, and what to do."""
    if not note_given:
        note_given.append(reason)
        warnings.warn(
            f"compiled kernels cannot be kept on disk ({reason}), so every process compiles them again; "
            f"set DTNN_CACHE_DIR to a folder that can be written",
            RuntimeWarning,
            stacklevel=2,
        )


note_given = []


@contextmanager
def compiling(callback):
    """While the block runs, call `callback(name, number)` before a kernel is really compiled (not when it is loaded).

    Parameters
    ----------
    callback : function
        Gets the name of the kernel ("conv_direct.product") and how many were compiled in this block, from 1.

    Examples
    --------
    >>> from dtnn.kernels.cache import compiling, kernel
    >>> plus = kernel(lambda a, b: a + b)
    >>> with compiling(lambda name, number: None):
    ...     plus(1, 2)
    3
    """

    class Listener(event.Listener):
        number = depth = 0

        def on_start(self, happened):
            self.depth += 1
            cache = getattr(happened.data["dispatcher"], "_cache", None)
            if self.depth == 1 and isinstance(cache, Disk):  # a kernel inside a kernel is a part of it
                self.number += 1
                callback(cache.name, self.number)

        def on_end(self, happened):
            self.depth -= 1

    with event.install_listener("numba:compile", Listener()):
        yield
