"""What a run came to, as text."""

from ..records import Epoch, Place, Recorder
from .given import records_of
from .story import Story
from .totals import totals


def report(records):
    """A table of each rank's time, then accuracy and speed.

    Parameters
    ----------
    records : Recorder
        A run's records.

    Returns
    -------
    str
        A line for each rank: samples; seconds of its own work (data, forward, backward, update), of communication
        (without waiting), and of waiting for the slowest rank.  Then the accuracy on the validation rows and samples/s.

    Examples
    --------
    >>> from dtnn.records import Ledger, Recorder
    >>> print(report(Recorder([Ledger(0, 1, 1, 32, 4000, 0.1, 0.2, 0.3, 0.1, 0.2, 0.1, 1.0, 0.0)])))
    rank  host  samples  compute s  communication s  waiting s
       0             32       0.70             0.20       0.10
    """
    records = Recorder(records_of(records))
    story, hosts = Story(records), {place.rank: place.machine.get("host", "") for place in records.of(Place)}
    lines = [["rank", "host", "samples", "compute s", "communication s", "waiting s"]]
    for rank, time in totals(story).items():
        seconds = [f"{time[name]:.2f}" for name in ("own", "transfer", "wait")]
        lines.append([str(rank), hosts.get(rank, ""), f"{time['samples']:,}", *seconds])
    widths = [max(map(len, column)) for column in zip(*lines)]
    table = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines]
    return "\n".join([*table, *_ends(story, records.of(Epoch))])


def _ends(story, passes):
    accuracy, seconds = story.latest("val_accuracy"), sum(each.seconds for each in passes)
    ends = [f"test accuracy  {100 * accuracy:.1f} %"] if accuracy is not None else []
    ends += [f"throughput     {sum(each.samples for each in passes) / seconds:,.0f} samples/s"] if seconds else []
    return ["", *ends] if ends else []
