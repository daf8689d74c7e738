"""`Batch`: what a batch system is told of a job."""

import dataclasses
from dataclasses import dataclass

from ..allowed import listed, whole


@dataclass(frozen=True)
class Batch:
    """What a batch system has to be told.

    Parameters
    ----------
    account, partition : str, optional
    time : str or int, optional
        Limit, as Slurm writes it: minutes, or "hours:minutes:seconds".
    nodes : int, optional
    lines : sequence of str
        More lines for the script, as they are: ``#SBATCH --qos=short``, ``module load ...``.

    Examples
    --------
    >>> print(Batch(partition="main", time="1:00:00", lines=["#SBATCH --qos=short", "module load gcc"]).head("dtnn", 4, 2, "log"))
    #!/bin/bash
    #SBATCH --job-name=dtnn
    #SBATCH --ntasks=4
    #SBATCH --cpus-per-task=2
    #SBATCH --output=log
    #SBATCH --partition=main
    #SBATCH --time=1:00:00
    #SBATCH --qos=short
    module load gcc
    """

    account: str | None = None
    partition: str | None = None
    time: str | int | None = None
    nodes: int | None = None
    lines: tuple = ()

    def __post_init__(self):
        lines = (
            [self.lines] if isinstance(self.lines, str) else listed("lines", self.lines, "lines, such as ['#SBATCH --qos=short']")
        )
        object.__setattr__(self, "lines", tuple(lines))
        for name in ("account", "partition", "time", "nodes"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str | int) or isinstance(value, bool) or _breaks(str(value))):
                raise ValueError(f"{name}={value!r} can't stand in a batch script; give one word or number")
        for name in ("time", "nodes"):
            if isinstance(getattr(self, name), int):
                whole(name, getattr(self, name), 1)
        if any(not isinstance(line, str) or "\n" in line for line in self.lines):
            raise ValueError(f"lines={self.lines!r}: give a list of lines, such as ['#SBATCH --qos=short']")

    def head(self, name, ranks, threads, log):
        """The beginning of a script for Slurm."""
        told = {"job-name": name, "ntasks": ranks, "cpus-per-task": threads, "output": log}
        asked = {name: getattr(self, name) for name in ("account", "partition", "time", "nodes")}
        options = [f"#SBATCH --{key}={value}" for key, value in {**told, **asked}.items() if value is not None]
        own = sorted(self.lines, key=lambda line: not line.startswith("#SBATCH"))  # sbatch reads none behind a command
        return "\n".join(["#!/bin/bash", *options, *own])


def batch_of(given, what):
    """The `Batch` of these settings; one that isn't known is told with those that are."""
    known = [field.name for field in dataclasses.fields(Batch)]
    strange = sorted(given.keys() - set(known))
    if strange:
        raise TypeError(f"{what} has no setting {strange[0]!r}; a batch system is told {', '.join(known)}")
    return Batch(**given)


def _breaks(text):
    return not text or any(character.isspace() for character in text)
