"""Records as events of the format that Perfetto and Chrome's tracing read."""

from ..records import Clock, Place, Trace
from .steps import known

STEPS, MESSAGES = 0, 1  # threads of a process: the phases of the steps with their layers; from 1 on what a communicator did


class Events:
    """Turns records, in the order in which they come, into events; each rank is a process.

    A step is a slice ``ProfilerStep#n``, the mark that tools for PyTorch's traces look for, with its phases inside, and in these
    the layers. Times are microseconds on rank 0's clock since it was first read, just before the first step. A rank whose clock
    is not aligned is a process that says so, begins at 0 by itself, and has no arrows to others.

    Parameters
    ----------
    rank : int, optional
        Only this rank's.
    """

    def __init__(self, rank=None):
        self.rank, self.hosts, self.clocks, self.named = rank, {}, {}, {}
        self.origin, self.own_origins = None, {}

    def of(self, record):
        """The events, plain dicts, that a record brings: none for most."""
        if isinstance(record, Place):
            self.hosts[record.rank] = record.machine.get("host", "")
        elif isinstance(record, Clock):
            self.clocks[record.rank] = record
            if record.rank == 0 and self.origin is None:
                self.origin = record.moment
        elif isinstance(record, Trace) and self.rank in (None, record.rank):
            return [*self._names(record), *self._step(record)]
        return []

    def _names(self, trace):
        """What each process and thread is called, where that is new."""
        rank, clock = trace.rank, self.clocks.get(trace.rank)
        name = f"rank {rank}" + (f" on {self.hosts[rank]}" if self.hosts.get(rank) else "")
        if not known(clock):
            name += " (clock not aligned: times are its own)"
        elif clock.uncertainty:
            name += f" (clock ± {1e6 * clock.uncertainty:.0f} µs)"
        before, there = self.named.get(rank, ("", 0))
        threads = max(there, MESSAGES + len(_communication(trace)))
        self.named[rank] = name, threads
        if name != before:
            yield _named("process_name", rank, STEPS, name=name)
            yield _named("process_sort_index", rank, STEPS, sort_index=rank)
        for thread in range(there, threads):
            yield _named("thread_name", rank, thread, name="communication" if thread else "steps")

    def _step(self, trace):
        begin, merged = self._begin(trace)
        marks = {"step": trace.step}
        if merged:
            marks["clock_uncertainty_us"] = 1e6 * self.clocks[trace.rank].uncertainty
        yield _slice(f"ProfilerStep#{trace.step}", trace.rank, STEPS, begin, trace.seconds, "step", marks)
        for span in trace.spans:
            if span.phase:
                kind = "phase" if span.phase == span.name else "layer"
                yield _slice(span.name, trace.rank, STEPS, begin + span.time, span.seconds, kind, {"step": trace.step})
        for thread, line in enumerate(_communication(trace), MESSAGES):
            for name, size, since, seconds, arrow in line:
                yield _slice(name, trace.rank, thread, begin + since, seconds, "communication", {"bytes": size})
                if arrow and merged and self.rank is None:
                    yield _arrow(*arrow, trace, thread, begin + since, seconds)

    def _begin(self, trace):
        """When a trace begins, in seconds since the origin, and whether that can be compared with other ranks'."""
        clock = self.clocks.get(trace.rank)
        if known(clock) and self.origin is not None:
            return max(0.0, trace.begin + clock.offset - self.origin), True
        return trace.begin - self.own_origins.setdefault(trace.rank, trace.begin), False


def _communication(trace):
    """What a communicator did: (name, bytes, time, seconds, arrow), in as many lines as overlap.

    An arrow is (sender, receiver, number among the messages from one to the other).
    """
    numbers, found = {}, []
    for span in trace.spans:
        if not span.phase:
            source = int(span.name[len("Recv from ") :]) if span.name.startswith("Recv from ") else None
            found.append((span.name, span.bytes, span.time, span.seconds, _next(numbers, source, trace.rank)))
    for sent in trace.messages:
        arrow = _next(numbers, sent.source, sent.dest)
        found.append((f"Send to {sent.dest}", sent.bytes, sent.time, sent.seconds, arrow))
    return in_lines(found, begin=lambda entry: entry[2], end=lambda entry: entry[2] + entry[3])


def _next(numbers, source, dest):
    if source is None:
        return None
    numbers[source, dest] = numbers.get((source, dest), -1) + 1
    return source, dest, numbers[source, dest]


def in_lines(entries, begin, end):
    """The entries in as few lines as there are of them at once, none in a line before the one to its left has ended.

    >>> in_lines([(0, 3), (1, 2), (3, 4)], begin=lambda entry: entry[0], end=lambda entry: entry[1])
    [[(0, 3), (3, 4)], [(1, 2)]]
    """
    lines = []
    for entry in sorted(entries, key=begin):
        line = next((line for line in lines if end(line[-1]) <= begin(entry)), None)
        if line is None:
            lines.append(line := [])
        line.append(entry)
    return lines


def _named(what, rank, thread, **args):
    return {"ph": "M", "name": what, "pid": rank, "tid": thread, "ts": 0, "args": args}


def _slice(name, rank, thread, begin, seconds, kind, args):
    first, last = round(1e9 * begin), round(1e9 * (begin + max(0.0, seconds)))  # so what is inside stays inside
    return {
        "ph": "X", "name": name, "cat": kind, "pid": rank, "tid": thread,
        "ts": first / 1000, "dur": (last - first) / 1000, "args": args,
    }  # fmt: skip


def _arrow(source, dest, number, trace, thread, begin, seconds):
    """One end of the arrow from where a message was sent to where it had arrived; both ends have the same number."""
    sends = trace.rank == source
    ends = {"ph": "s"} if sends else {"ph": "f", "bp": "e"}
    moment = round(1e9 * (begin if sends else begin + seconds)) / 1000
    identity = ((trace.step * 4096 + source) * 4096 + dest) * 4096 + number
    return {**ends, "name": "message", "cat": "message", "id": identity, "pid": trace.rank, "tid": thread, "ts": moment}
