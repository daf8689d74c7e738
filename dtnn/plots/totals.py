"""The numbers behind the bars of `breakdown`."""

from .palette import COMMUNICATION, OWN
from .story import Story


def totals(records, now=False):
    """The seconds of each rank in each phase, and what they add up to.

    Parameters
    ----------
    records : list of records or Story
    now : bool
        Of each rank's last seconds alone, instead of since the run began.

    Returns
    -------
    dict of dict
        For each rank: "samples", "bytes", "steps", "seconds"; the phases; "own" (the rank's own work: data, forward,
        backward, update, and what no clock was on: other) and "communication" (pack, transfer and wait: exposed). Apart from
        these "hidden": seconds of communication that went on behind backward.

    Examples
    --------
    >>> from dtnn.records import Ledger
    >>> told = [Ledger(0, 1, 1, 32, 4000, 0.1, 0.2, 0.3, 0.1, 0.2, 0.1, 1.0, 0.0)]
    >>> round(totals(told)[0]["own"], 3), round(totals(told)[0]["communication"], 3)
    (0.7, 0.3)
    """
    story = records if isinstance(records, Story) else Story(records)
    return {
        rank: {**time, "own": sum(time[phase] for phase in OWN), "communication": sum(time[phase] for phase in COMMUNICATION)}
        for rank, time in sorted((story.now if now else story.time).items())
    }
