"""What ranks are told while they train, and how all of them come to know it after the same step."""

import math
import time
from collections import deque

import numpy as np

from ..commands import Advance, Pause, Rate, Resume, Show, ShowWeights, Stop, from_text, listed, to_text

PERIOD = 0.03  # seconds between two looks of a rank that pauses: 30 a second cost a core 1 %


class Orders:
    """The commands of one training: each rank hears its own, all ranks obey them at the same moment.

    Whether a rank has heard something is one number in the tail of each step's reduction.  Where the sum is not zero, the
    ranks `agree`: an exchange of its own, which other steps do without.

    Parameters
    ----------
    comm : Communicator

    Attributes
    ----------
    told : deque
        What this rank has heard, and not all know yet.
    stop : Stop or None
        What ends the training.
    rate : Rate
        The learning rate to train with.
    left : float
        Steps to make before the next pause; infinite in a training that runs, 0 in one that pauses.
    phases : float
        Phases to make before the next pause; infinite where steps are made whole, which `by_phase` says.
    text : str
        Why it pauses.
    shown : list of str
        Layers whose gradients are to be told of the next step.
    weights : list of ShowWeights
        What is to be told of the weights as soon as may be.

    Examples
    --------
    >>> from dtnn.comm import Serial
    >>> orders = Orders(Serial())
    >>> orders.hear([Rate(0.5), Stop("enough")])
    >>> orders.agree()
    >>> orders.rate, orders.stop
    (Rate(lr=0.5, factor=1.0), Stop(text='enough'))
    """

    def __init__(self, comm):
        self.comm, self.told = comm, deque()
        self.stop, self.rate, self.text, self.shown, self.weights = None, Rate(), "", [], []
        self.make()

    def make(self, steps=math.inf, phases=math.inf):
        """From now on, until the next pause."""
        self.left, self.phases, self.by_phase = steps, phases, phases < math.inf

    def hear(self, answer):
        """Take in the answer to a record: a command, several, or None."""
        if answer is not None:
            self.told.extend(listed(answer))

    def agree(self):
        """Make what one rank has heard known to all, and obey it; collective.

        The lowest rank that has heard something goes first; the others' turn comes at the next step, but for what is the
        same: a loop over `train` that sends a command on all ranks means it once.
        """
        rank, size = self.comm.rank, self.comm.size
        speaker = int(self.comm.Allreduce(float(rank if self.told else size), "min"))
        if speaker == size:
            return
        for command in from_text(self._said(to_text(self.told), speaker)):
            if self.told and self.told[0] == command:
                self.told.popleft()
            self._obey(command)

    def _said(self, text, speaker):
        """The speaker's text, on all ranks."""
        letters = np.frombuffer(text.encode(), np.uint8)
        length = int(self.comm.Bcast(np.array([letters.size], np.int64), speaker)[0])
        letters = letters.copy() if self.comm.rank == speaker else np.empty(length, np.uint8)
        return self.comm.Bcast(letters, speaker).tobytes().decode()

    def _obey(self, command):
        if isinstance(command, Stop):
            self.stop = self.stop or command
        elif isinstance(command, Pause):
            self.left, self.text = 0, command.text
        elif isinstance(command, Resume):
            self.make()
        elif isinstance(command, Advance):
            self.make(command.steps, math.inf) if command.phases is None else self.make(math.inf, command.phases)
            self.text = self.text or Pause().text
        elif isinstance(command, Rate):
            self.rate = command
        elif isinstance(command, ShowWeights):
            self.weights.append(command)
        elif isinstance(command, Show):
            self.show(command.layer)

    def show(self, layer):
        """The next step is made for it, should it pause: who asks may have heard of that too late, here it is known."""
        self.shown.append(layer)
        if self.left <= 0:
            self.make(1)

    def made_a_step(self):
        """One step less to the next pause; what was to be shown has been."""
        self.left -= 1
        self.shown.clear()

    def made_a_phase(self):
        """One phase less to the next pause."""
        self.phases -= 1
        if self.phases <= 0:
            self.left = 0

    @property
    def pauses(self):
        """Whether no step may be made now."""
        return self.left <= 0 and self.stop is None

    def wait(self):
        """Until there is something to do again, or to be told; collective.

        Rank 0 asks, the others wait for what it hears; all of them asleep most of the time, and none of them deaf for
        failures and interrupts.

        Yields
        ------
        None
            On rank 0: nothing is told, commands are asked for.
        """
        while self.pauses and not self.weights:
            while self.comm.rank == 0 and not self.told:
                self.hear((yield None))
                if not self.told:
                    time.sleep(PERIOD)
            rest = getattr(self.comm, "rest", _nothing)  # of a rank that is to compute slower (`Emulated`): this is no computing
            rest()
            news = self.comm.Iallreduce(np.zeros(1), "max")  # ends when rank 0 joins in; sums may be made otherwise (`Ordered`)
            while not news.Test():
                time.sleep(PERIOD)
            rest()
            self.agree()


def _nothing():
    pass
