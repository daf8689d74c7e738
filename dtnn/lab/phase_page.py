"""`phase_page`: the phases of a step in a row, and how far it has come."""

from ..plots.phase_words import MEANING, phase_words
from ..records import Paused, Phase
from .looks import faint

RECENT = 40  # records among which the last pause and its phase are


def phase_page(phase):
    """The phases of a step in a row, those that are done with a mark, and what the last one has made, as HTML.

    >>> from dtnn.records import Phase
    >>> phase_page(Phase(7, 1, "backward", 1, 1, [0.002, 0.001], [0.25, 0.5], 0.0))[:89]
    '<span class="dtnn-faint">✓ forward → <b>✓ backward</b> → reduce → update</span><br><span '
    """
    names = list(MEANING)
    place = names.index(phase.name)
    done = [f"✓ {name}" if number <= place else name for number, name in enumerate(names)]
    done[place] = f"<b>{done[place]}</b>"
    return f"{faint(' → '.join(done))}<br>{faint(phase_words(phase))}"


def phase_of(run):
    """The phase after which a run waits; None if it doesn't, or has made a whole step."""
    if run.state != "paused":
        return None
    recent = run.records[-RECENT:]
    pause = next((record for record in reversed(recent) if isinstance(record, Paused)), None)
    phase = next((record for record in reversed(recent) if isinstance(record, Phase)), None)
    return phase if pause is not None and phase is not None and phase.step == pause.step else None
