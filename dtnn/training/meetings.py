"""`Meetings`: in which steps ranks tell each other how it goes, and what they tell of the steps in between."""

import math


class Meetings:
    """Of most strategies every step is a meeting; where ranks are `Exchange.apart`, most steps may be quiet.

    In a quiet step no rank knows what the others do: not the loss of the global batch, nor what somebody was told. Each keeps the
    sum of its own losses, and at the next meeting those of all steps since the last one are summed, in the same reduction.

    Parameters
    ----------
    exchange : Exchange
    size : int
        Ranks.

    Attributes
    ----------
    places : int
        So many numbers of the tail are for the losses of quiet steps.
    quiet : bool
        Whether the step is.
    last : int
        The last step of the epoch, which is a meeting.
    losses : list of float
        The sums of the losses of all ranks that became known in this step, that of this step last; none in a quiet one.
    broken : int or None
        The quiet step in which this rank's own loss or gradient was not finite: it does nothing from then on.
    """

    def __init__(self, exchange, size):
        self.exchange, self.apart = exchange, exchange.apart and size > 1
        self.places = exchange.rarely - 1 if self.apart else 0
        self.quiet, self.last, self.broken, self.kept, self.losses = False, 0, None, [], []

    def begin(self, progress, prompt, soon):
        """Whether the step is a quiet one.

        Parameters
        ----------
        progress : Progress
        prompt : bool
            What ranks tell must be known before the update.
        soon : bool
            ... or by the end of the step: somebody waits for it.
        """
        if not self.apart:
            return
        told = prompt or soon or progress.step == self.last or len(self.kept) == self.places or self.exchange.meets(progress)
        self.quiet = self.exchange.quiet = not told
        self.exchange.prompt = prompt

    def combined(self, step, loss):
        """The exchange has looked at this rank's gradient; its own loss is NaN, if that was not finite."""
        self.losses = []
        if self.exchange.frozen and self.broken is None:
            self.broken = step
        if self.quiet:
            self.kept.append(loss)

    def met(self, past, loss):
        """Summed are the losses `past`, of the quiet steps, and that of this step."""
        self.losses = [*past[: len(self.kept)].tolist(), loss]
        self.kept.clear()

    def failed(self, step):
        """The first step whose loss is not finite, given the last one, or None; what ranks do from now on is no matter."""
        for ago, loss in enumerate(self.losses):
            if not math.isfinite(loss):
                return step - len(self.losses) + 1 + ago
        return None
