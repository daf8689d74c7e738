"""What ranks and their launcher wrote, as text: `Cluster.log`."""

import operator


def log(started, ranks, rank=None, lines=40):
    """The last lines that were written on a cluster, see `Cluster.log`; `started` is None before the first start."""
    rank, lines = _rank(rank, ranks), _lines(lines)
    if started is None:
        return ""
    output = started.last.output if started.last is not None else {}
    if rank is not None:
        return "\n".join(output.get(rank, "").splitlines()[-lines:])
    written = getattr(getattr(started.crew, "processes", None), "log", str)()  # threads have no launcher
    printed = [f"rank {number}: {line}" for number in sorted(output) for line in output[number].splitlines()[-lines:]]
    return "\n".join([*written.splitlines()[-lines:], *printed])


def _rank(rank, ranks):
    if rank is None:
        return None
    try:
        found = operator.index(None if isinstance(rank, bool) else rank)
    except TypeError:
        raise TypeError(f"log(rank={rank!r}): a rank is a whole number, 0 to {ranks - 1}; leave it out for all of them") from None
    if not 0 <= found < ranks:
        raise ValueError(f"log(rank={rank!r}): there is no such rank; give 0 to {ranks - 1}, or leave it out for all of them")
    return found


def _lines(lines):
    try:
        found = operator.index(None if isinstance(lines, bool) else lines)
    except TypeError:
        found = 0
    if found < 1:
        raise ValueError(f"log(lines={lines!r}): give a whole number of lines, 1 or more")
    return found
