"""`settings_of`: what a run was told, and `changes`: in what two runs were told something else."""

import difflib
import re

from ..records import Start
from .brief import brief

NOT_SETTINGS = "recipe", "layers", "weights", "out_of_step"  # say the same as model and strategy once more
FUNCTION = re.compile(r"<function (?:[\w.<>]*\.)?(\w+|<lambda>) at 0x[0-9a-f]+>")  # what a setting may have in its repr


def settings_of(records):
    """The settings of a run, as its first record told them, with its number of ranks; {} where it has told none.

    Parameters
    ----------
    records : Recorder

    Examples
    --------
    >>> from dtnn.records import Recorder
    >>> settings_of(Recorder([Start(0.0, 2, {"strategy": "AllReduce(algorithm=<function job.<locals>.mine at 0x7f12ab>)"})]))
    {'ranks': 2, 'strategy': 'AllReduce(algorithm=mine)'}
    """
    started = records.last(Start)
    if started is None:
        return {}
    told = {key: _named(value) for key, value in started.settings.items() if key not in NOT_SETTINGS}
    return {"ranks": started.ranks, **told}


def differences(mine, theirs):
    """In which settings two runs differ: a dict of pairs; a setting that a run doesn't have is None."""
    return {key: (mine.get(key), theirs.get(key)) for key in {**mine, **theirs} if mine.get(key) != theirs.get(key)}


def changes(pairs):
    """`differences` in words, a line for each setting; of models only the layers that differ.

    Examples
    --------
    >>> changes({"lr": (None, 0.1), "model": ("Model(\\n  A(),\\n)", "Model(\\n  B(),\\n)")})
    ['lr: - → 0.1', 'model:', '  - A(),', '  + B(),']
    """
    lines = []
    for key, (mine, theirs) in pairs.items():
        if key == "model":
            lines += ["model:", *(f"  {line}" for line in _changed(str(mine), str(theirs)))]
        else:
            lines.append(f"{key}: {brief(mine)} → {brief(theirs)}")
    return lines


def _named(value):
    """A setting, functions in it by their names alone: their addresses differ from run to run."""
    return FUNCTION.sub(r"\1", value) if isinstance(value, str) else value


def _changed(one, other):
    """The lines of two texts that differ: "- " before those of the first alone, "+ " before those of the second."""
    lines = difflib.ndiff(one.splitlines(), other.splitlines())
    return [" ".join(line.split()) for line in lines if line[:2] in ("- ", "+ ")]
