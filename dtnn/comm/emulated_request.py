"""A request of `Emulated`: under way for as long as the emulated link would need."""

from .accidents import DAMAGED, LOST, damage_one_bit


class EmulatedRequest:
    """A request that has not ended before a moment, however fast the real one was; the link carries one at a time.

    One that is lost takes part all the same, for others may be under way behind it; but it never ends.
    """

    def __init__(self, link, request, array, fate, moment):
        self.link, self.request, self.array, self.fate, self.moment = link, request, array, fate, moment

    def Test(self):
        if self.fate == LOST:
            return False
        ended = self.request.Test() and self.link.clock() >= self.moment
        if ended:
            self._end()
        return ended

    def Wait(self):
        with self.link._call():
            if self.fate == LOST:
                self.link.wait_in_vain(self.array, "Iallreduce")
            self.request.Wait()
            self.link._sleep(self.moment - self.link.clock())
        self._end()

    def _end(self):
        if self.fate == DAMAGED:
            damage_one_bit(self.array)
        self.fate = ""
