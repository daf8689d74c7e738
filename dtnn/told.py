"""What a training without a notebook tells: lines for its log, and a file that `Run.load` reads."""

import contextlib
import heapq
import sys
import time
import traceback

from .cluster.run import Run
from .records import Epoch, Finish, Recorder
from .sentence import sentence

OFTEN = 60.0  # seconds between two looks at the run in its file
AFTER_YOU = 0.05  # seconds that each next rank waits before it says what all may have to say


class Told:
    """Takes the records of this rank; rank 0 prints the epochs and writes the run's file, as `Run.save` does.

    Parameters
    ----------
    comm : Communicator
    out : Path
        Folder for ``run.json``.

    Attributes
    ----------
    epochs : int
        How many there are to be.
    """

    def __init__(self, comm, out):
        self.comm, self.out, self.epochs = comm, out, 0
        self.records, self._written = Recorder(), time.monotonic()

    def __call__(self, record):
        if getattr(record, "rank", self.comm.rank) == self.comm.rank:
            self.records.append(record)
        if self.comm.rank == 0 and isinstance(record, Epoch):
            values = "  ".join(f"{name} {value:.4f}" for name, value in record.metrics.items())
            print(f"epoch {record.epoch}/{self.epochs}  {record.seconds:.1f} s  {values}", flush=True)
            if time.monotonic() - self._written > OFTEN:
                self._written = time.monotonic()
                self._write(self.records, "running")

    def end(self):
        """The whole run, with what the other ranks have told."""
        own = [record for record in self.records if self.comm.rank == 0 or hasattr(record, "rank")]
        world = getattr(self.comm, "world", None)
        parts = world.gather(own) if world is not None else [own]
        if self.comm.rank == 0:
            merged = heapq.merge(*map(_timed, parts), key=lambda pair: pair[0])
            records = Recorder(record for _, record in merged)
            self._write(records, records.last(Finish).reason)
            print(f"run            {self.out / 'run.json'}\nmodel          {self.out / 'model.npz'}", flush=True)

    def failed(self, error):
        """Say what happened on this rank, and leave it in the run's file."""
        time.sleep(AFTER_YOU * min(self.comm.rank, 10))  # a mistake of the user's is one on all ranks
        story = f"Rank {self.comm.rank} failed:\n{''.join(traceback.format_exception(error))}"
        if self.comm.size > 1:
            print(story, file=sys.stderr, flush=True)
        self.records.append(Finish("failed", time.time(), sentence(error)))
        with contextlib.suppress(OSError):  # no folder, no space: it has been said
            self._write(self.records, "failed", story)

    def _write(self, records, state, story=""):
        run = Run(self.comm.size, "train")
        run.records, run.state, run.story = records, state, story
        run.save(self.out / "run.json")


def _timed(records):
    """(time, record), the times never falling."""
    now = 0.0
    for record in records:
        now = max(now, getattr(record, "time", now))
        yield now, record
