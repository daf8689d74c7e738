"""An ipyparallel engine without ipykernel's debugger, which nobody can reach in an engine: 8 MB less.

Run as a program (``python lean_engine.py ARGUMENTS``).
"""

import contextlib
import sys

DEBUGGER = "debugpy"


@contextlib.contextmanager
def not_installed(name):
    """Within it, a package can't be imported."""
    sys.modules[name] = None
    try:
        yield
    finally:
        del sys.modules[name]


if __name__ == "__main__":
    with not_installed(DEBUGGER), contextlib.suppress(ImportError):
        import ipykernel.debugger  # noqa: F401  it notes that there is none; a job may import one all the same
    from ipyparallel.engine.app import main

    main()
