"""Where each trainable weight array lies in the flat vectors, as tables that a kernel reads."""

import numpy as np


def segments(parameters):
    """(starts, ends, adapted) of the trainable segments; adapted are those that weight decay acts on.

    Examples
    --------
    >>> from types import SimpleNamespace as Some
    >>> weight = Some(start=0, size=6, decay=True, trainable=True)
    >>> bias = Some(start=16, size=3, decay=False, trainable=True)
    >>> segments(Some(segments=(weight, bias)))
    (array([ 0, 16]), array([ 6, 19]), array([ True, False]))
    """
    trained = [s for s in parameters.segments if s.trainable]
    starts = np.array([s.start for s in trained], np.int64)
    return starts, starts + np.array([s.size for s in trained], np.int64), np.array([s.decay for s in trained], bool)
