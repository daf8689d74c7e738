"""What must be true of engines before anything runs on them."""

import re
import warnings

from .engine import versions as own_versions
from .launchers import REMEDY, mpiexec
from .obituary import tail

CAUSES = (
    (r"No module named 'mpi4py'", "mpi4py is not installed; remedy: python -m pip install mpi4py"),
    (r"cannot load MPI library|libmpi\S*: cannot open", f"There is no MPI library that mpi4py finds; remedy: {REMEDY}"),
    (
        r"unsupported PMI version|PMIX? (?:ERROR|version)|PMI2?_Init failed",
        f"Launcher and library are of different vendors (`dtnn doctor` tells which); remedy: one of them has to go, {REMEDY}",
    ),
    (r"not enough slots", "The launcher counts fewer places than ranks; remedy: fewer ranks, or MPICH's launcher, " + REMEDY),
    (
        r"run as (?:the )?root|allow-run-as-root",
        "The launcher refuses root; remedy: another user, or MPICH's launcher, " + REMEDY,
    ),
)


class VersionWarning(UserWarning):
    """The ranks and the client don't run the same versions."""


def too_few(came, asked, present, log):
    """What to say when engines are missing.

    >>> print(too_few(1, 2, [0], "no space left"))
    1 of 2 engines came; missing: rank 1. Nothing was started. The end of their log:
        no space left
    """
    missing = ", ".join(f"rank {rank}" for rank in range(asked) if rank not in present)
    return (
        f"{came} of {asked} engines came; missing: {missing}. Nothing was started.{cause(log)} The end of their log:\n{tail(log)}"
    )


def cause(log):
    """What is wrong, and the remedy, where the log of engines that never came tells; "" where it doesn't.

    >>> print(cause("ModuleNotFoundError: No module named 'mpi4py'"))
     mpi4py is not installed; remedy: python -m pip install mpi4py.
    """
    found = next((text for pattern, text in CAUSES if re.search(pattern, log)), "")
    return f" {found}." if found else ""


def one_world(hellos, size):
    """See that the engines are all the ranks of one MPI world.

    Raises
    ------
    RuntimeError
        They are several worlds (each would train its own model), or not all.
    """
    worlds = {hello["size"] for hello in hellos}
    if worlds != {size}:
        raise RuntimeError(
            f"{len(hellos)} engines, but MPI world size {', '.join(map(str, sorted(worlds)))}: they don't know of each other, "
            f"each would train alone. They run with {hellos[0]['library']}; the launcher here is {_or_text(mpiexec)}. "
            f"Library and launcher must be of one vendor, and the engines started by it; remedy: {REMEDY}"
        )
    ranks = sorted(hello["rank"] for hello in hellos)
    if ranks != list(range(size)):
        raise RuntimeError(f"the engines have the MPI ranks {ranks}, not 0 to {size - 1} once each; start the cluster anew")


def versions(hellos):
    """Warn, in one table, if the ranks' versions differ from the client's."""
    text = version_table(own_versions(), [hello["versions"] for hello in hellos])
    if text:
        warnings.warn(text, VersionWarning, stacklevel=2)


def version_table(client, ranks):
    """A table of the versions that differ, "" if none does.

    >>> print(version_table({"numpy": "2.0"}, [{"numpy": "2.0"}, {"numpy": "1.26"}]))
    the ranks don't run what this notebook runs; results may differ, or pickles not arrive. Use one environment for all:
                  client      rank 0      rank 1
       numpy         2.0         2.0        1.26
    """
    names = [name for name in client if any(rank.get(name) != client[name] for rank in ranks)]
    if not names:
        return ""
    head = ["", "client", *(f"rank {number}" for number in range(len(ranks)))]
    rows = [[name, client[name], *(rank.get(name, "none") for rank in ranks)] for name in names]
    lines = [f"{row[0]:>8}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in [head, *rows]]
    advice = (
        "the ranks don't run what this notebook runs; results may differ, or pickles not arrive. Use one environment for all:"
    )
    return "\n".join([advice, *lines])


def _or_text(function):
    try:
        return function()
    except RuntimeError as error:
        return str(error)
