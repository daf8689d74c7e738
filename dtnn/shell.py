"""The IPython shell in which this runs, of a notebook or a terminal, asked without importing IPython."""

import sys


def shell():
    """The shell; None for a script, whose author knows what runs."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def in_kernel():
    """The shell of a Jupyter kernel, where pictures have somewhere to appear; None elsewhere, also in a terminal's."""
    found = shell()
    return found if getattr(found, "kernel", None) is not None else None
