"""`phase_words`: what a phase of a step has made, in a line."""

from ..phrases import seconds
from .headline import number

MEANING = {
    "forward": "loss of its samples",
    "backward": "norm of its gradient",
    "reduce": "norm of the gradient it goes on with",
    "update": "change of its weights",
}
FEW = 8  # ranks; of more only the least and the most are told


def phase_words(phase):
    """The phase, its step, and its value on each rank.

    Parameters
    ----------
    phase : Phase

    Returns
    -------
    str

    Examples
    --------
    >>> from dtnn.records import Phase
    >>> phase_words(Phase(7, 1, "backward", 1, 1, [0.002, 0.001], [0.25, 0.5], 0.0))
    'backward of step 7 in 2.0 ms · norm of its gradient, each rank: 0.250 | 0.500'
    >>> phase_words(Phase(7, 1, "forward", 2, 3, [0.002], [2.5], 0.0))
    'forward of step 7, piece 2 of 3, in 2.0 ms · loss of its samples, each rank: 2.50'
    """
    piece = f", piece {phase.piece} of {phase.pieces}," if phase.pieces > 1 and phase.name in ("forward", "backward") else ""
    values = [value for value in phase.values if value == value]
    if len(phase.values) > FEW and values:
        told = f"{number(min(values))} to {number(max(values))}"
    else:
        told = " | ".join("-" if value != value else number(value) for value in phase.values)
    took = seconds(max(phase.seconds, default=0.0))
    return f"{phase.name} of step {phase.step:,}{piece} in {took} · {MEANING[phase.name]}, each rank: {told}"
