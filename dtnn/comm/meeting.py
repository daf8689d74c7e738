"""A collective among ranks that are threads: all come, each does its share, all take the result."""

from .agreement import disagreement


class Meeting:
    """A collective under way: what each rank asked for, its array, and what its work gave."""

    def __init__(self, size):
        self.asked, self.arrays, self.parts = [None] * size, [None] * size, [None] * size
        self.done = 0

    def is_full(self):
        """Whether all have come."""
        return None not in self.asked

    def is_done(self):
        """Whether all have done their share."""
        return self.done == len(self.asked)

    def mismatch(self):
        """The error of ranks that ask for different things, or None."""
        return disagreement(self.asked) if len(set(self.asked)) > 1 else None

    def __str__(self):
        missing = [f"rank {rank}" for rank, asked in enumerate(self.asked) if asked is None]
        asked = next(asked for asked in self.asked if asked)
        return f"for {', '.join(missing) or 'the others'} to join in {asked}"


class Meet:
    """A rank's part in a collective: a request.

    When all have come, each does its `work` with everybody's arrays; when all have worked, each does its `finish` with what
    the work of each gave.
    """

    def __init__(self, comm, meeting, work, finish):
        self.comm, self.meeting, self.work, self.finish = comm, meeting, work, finish
        self.worked = self.ended = False
        comm.under_way.append(self)

    def Test(self):
        if not self.meeting.is_done():
            self.comm.look()
        if self.can_work():
            self.do_work()
        if self.meeting.is_done():
            self._end()
        else:
            self.comm.poll(self)
        return self.ended

    def Wait(self):
        self.comm.wait(self.meeting.is_done, self.meeting)
        self._end()

    def can_work(self):
        """Whether all have come, and this rank has not yet done its share."""
        return not self.worked and self.meeting.is_full()

    def do_work(self):
        """Do this rank's share, and say so."""
        self.worked = True
        self.comm.tell_done(self.meeting, self.work(self.meeting.arrays) if self.work else None)

    def _end(self):
        if not self.ended:
            self.ended = True
            self.comm.end_poll()
            self.comm.under_way.remove(self)
            if self.finish:
                self.finish(self.meeting.parts)
