"""`Replay`: a network whose layers decide once, and then do again what they decided."""

import numpy as np

from ..kernels.parts import here, joined, threads_here, wake
from ..kernels.tape import play, recording
from .layer import Parameter, own_parameters
from .one_layer import built_in
from .passes import Pass
from .tree import named_layers

PLAIN = int, float, str
TELLS = Pass.tell_forward, Pass.tell_backward


class Replay:
    """A network's `forward`, and the backward it hands back, without the Python between the kernels.

    What a layer does to arrays depends on shapes alone, and a pass hands out the same buffers each time.  So the calls of the
    first step with an input are written down (`kernels.tape`), and made again in the steps that follow.  A network with a
    layer that does not say that it `replays`, such as one of the user's own, or with a forward that somebody has put in the
    place of the layer's, runs as it always does.

    Parameters
    ----------
    net : Layer
        A built network.

    Notes
    -----
    Before every epoch a training calls `refresh`: until then what is changed at a layer by hand (a padding, not a weight) has no
    effect.  To write a step down takes as long as a few steps, to look whether that is needed 50 microseconds for ten layers.

    Examples
    --------
    >>> import numpy as np
    >>> from dtnn.nn import Linear, Pass, Sequential
    >>> net = Sequential(Linear(2))
    >>> net.build((3,), np.random.default_rng(0))
    (2,)
    >>> x, step, replay = np.ones((3, 4), np.float32), Pass(), Replay(net)
    >>> for number in range(3):
    ...     step.begin(number, 0, 4, 4, x=x)
    ...     y, backward = replay.forward(x, step)
    ...     dx = backward(np.ones((2, 4), np.float32))
    >>> len(replay.tapes)
    1
    """

    def __init__(self, net):
        self.net, self.tapes, self.state = net, {}, None
        self.refresh()

    def refresh(self):
        """Ask the layers again, if anything is no longer as it was."""
        layers = layers_of(self.net)
        state = [part for layer in layers for part in (layer, type(layer).forward, *parts_of(vars(layer)))]
        if self.state is None or len(state) != len(self.state) or not all(map(same, state, self.state)):
            self.state = state
            self.tapes.clear()
            self.able = all(built_in(type(layer)) and layer.replays and unchanged(layer) and usual(layer) for layer in layers)

    def forward(self, x, step):
        """y, and the backward that takes dy to dx and adds to the parameters' gradients; see `Layer.forward`."""
        if not self.able or x.dtype != np.float32 or x.shape[-1] == 0:
            return self.net.forward(x, step)
        tape = self.tapes.get(x.shape[-1])
        if tape is None or not tape.fits(x, step):
            tape = self.tapes[x.shape[-1]] = Tape(x, step)
        return tape.forward(self.net)


def layers_of(net):
    """The network and all layers in it."""
    return [net, *(layer for _, layer, _ in named_layers(net))]


def parts_of(attributes):
    """All that is held by a layer's attributes, lists and parameters taken apart; which attribute it is comes first."""
    for name, held in attributes.items():
        yield name
        if isinstance(held, list | tuple):
            yield from held
        elif isinstance(held, Parameter):
            yield from (held, held.value, held.grad, held.trainable, held.learns)
        else:
            yield held


def same(now, then):
    """Whether it is the same object, or an equal number or text."""
    return now is then or (type(now) is type(then) and isinstance(now, PLAIN) and now == then)


def unchanged(layer):
    """Whether a built-in layer's forward is the one it came with, none that was put in its place to look on or to do more."""
    module = getattr(type(layer).forward, "__globals__", {}).get("__name__", "")  # what mocks a function may have none
    return "forward" not in vars(layer) and module.startswith(f"{__package__}.")


def usual(layer):
    """Whether kernels work on a layer's parameters themselves; of an array of another type or layout they would get a copy."""
    arrays = [array for _, parameter in own_parameters(layer) for array in (parameter.value, parameter.grad)]
    return all(array.dtype == np.float32 and array.flags.c_contiguous for array in arrays)


class Tape:
    """The calls of one forward and one backward: for one input array, in the buffers of one pass, and one thread's scratch."""

    def __init__(self, x, step):
        self.x, self.step, self.threads, self.thread = x, step, threads_here(), here.key
        self.there, self.back = None, None  # the calls, once all of them are known
        self.y = self.backward = self.dy = self.dx = None

    def fits(self, x, step):
        """Whether the calls would be the same ones."""
        same = self.threads == threads_here() and self.thread is here.key
        return same and x is self.x and step is self.step

    def forward(self, net):
        """y, backward; the first time they are written down, and in training until a backward is: its buffers follow these."""
        if self.there is None or (self.back is None and self.step.training):
            with recording([]) as calls:
                self.y, self.backward = net.forward(self.x, self.step)
            self.there = told_or_not(calls)
        else:
            wake()
            play(self.there[self.step.watcher is None])
        return self.y, self.back_from

    def back_from(self, dy):
        """Backward, from a dy that may lie anywhere."""
        if self.back is None:
            self.dy = self.step.copy(dy, self.y.dtype)
            with recording([]) as calls:
                self.dx = self.backward(self.dy)
            self.back = told_or_not(calls)
        else:
            self.dy[...] = dy
            play(self.back[self.step.watcher is None])
        return self.dx


def told_or_not(calls):
    """(the calls for a step that somebody watches, those for one that nobody does, in which no layer is told to be done)"""
    return joined(calls), joined([each for each in calls if getattr(each[0], "__func__", None) not in TELLS])
