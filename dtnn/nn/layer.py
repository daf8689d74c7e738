"""What a layer is: `build`, `forward`, and a backward that forward hands back."""

import inspect

import numpy as np

from .build_checks import check_built
from .describe import describe
from .passes import Pass


class Parameter:
    """An array that is trained: a value and the gradient of the loss with respect to it.

    Parameters
    ----------
    array : ndarray
        The first value.
    decay : bool
        Whether weight decay acts on it (biases and normalisation parameters: no).
    dtype : dtype, default float32

    Attributes
    ----------
    value, grad : ndarray
        C-contiguous, of one shape.  Once the layer is part of a model they are views into its flat vectors, and stay
        the model's: write into them (`value[...] = 0`), don't replace them.
    trainable : bool
        False: frozen, neither sent nor updated.
    learns : bool
        Whether its gradient is wanted: it is trainable and so are all layers around it.  Kept by `Parameters`.

    Examples
    --------
    >>> p = Parameter(np.ones((2, 3)))
    >>> p.value.dtype, p.grad.shape, p.decay
    (dtype('float32'), (2, 3), True)
    """

    def __init__(self, array, decay=True, dtype=np.float32):
        self.value = np.array(array, dtype, order="C")
        self.grad = np.zeros_like(self.value)
        self.decay = decay
        self.trainable = self.learns = True

    def __getstate__(self):
        return {**self.__dict__, "grad": None}  # a gradient lives for one step only

    def __setstate__(self, state):
        self.__dict__.update(state, grad=np.zeros_like(state["value"]))


class Layer:
    """One stage of a network; all layers, built in or the user's own, have these methods and no others are needed.

    Inside a network the batch is the last axis: a feature map is (C, H, W, N), a dense activation (D, N), a
    sequence (D, T, N).  Parameters and inner layers are attributes; they are found by looking.

    A layer of one's own needs only `forward`.  What it gets is its own copy, what it returns is copied.

    Examples
    --------
    >>> class Double(Layer):
    ...     def forward(self, x, step=None):
    ...         return 2 * x, lambda dy: 2 * dy
    >>> Double()(np.ones(3))
    array([2., 2., 2.])
    """

    trainable = True  # False: this layer and all inside it are frozen
    replays = False  # whether all that it does to arrays goes through `kernels.tape.call`, see `Replay`
    buffers = ()  # names of attributes with running statistics: kept with the weights, averaged over ranks

    def build(self, shape, rng):
        """Find the sizes, make the parameters.

        Parameters
        ----------
        shape : tuple of int
            Shape of one sample at the input, without the batch: (C, H, W), (D,) or (D, T).
        rng : numpy.random.Generator

        Returns
        -------
        tuple of int
            Shape of one sample at the output.

        Raises
        ------
        ValueError
            If the layer does not fit that shape; says what would.
        """
        return tuple(shape)

    def forward(self, x, step=None):
        """y, and the function that takes dy to dx and adds to the gradients of the parameters.

        Parameters
        ----------
        x : ndarray, (..., N)
        step : Pass, optional
            What a layer may know of the step it is in; None: alone, seed 0.

        Returns
        -------
        y : ndarray, (..., N)
        backward : function of dy, returning dx
        """
        raise NotImplementedError(f"{type(self).__name__} has no forward(self, x, step=None): it must return (y, backward)")

    def __call__(self, x):
        """y alone, as in inference: dropout off, running statistics on."""
        check_built(self)
        return call_forward(self, x, Pass(training=False))[0]

    def __repr__(self):
        return describe(self)


def call_forward(layer, x, step):
    """forward(x, step), or forward(x) for a layer that wants to know nothing of the step."""
    takes = inspect.signature(layer.forward).parameters
    return layer.forward(x, step) if len(takes) > 1 else layer.forward(x)


def inside(layer):
    """(name, position or None, layer) of each layer that is an attribute, or in a list or tuple that is one, in order.

    Examples
    --------
    >>> class Two(Layer):
    ...     def __init__(self):
    ...         self.body, self.rest = Layer(), [Layer()]
    >>> [(name, i) for name, i, _ in inside(Two())]
    [('body', None), ('rest', 0)]
    """
    for name, held in vars(layer).items():
        if isinstance(held, Layer):
            yield name, None, held
        elif isinstance(held, list | tuple):
            for i, item in enumerate(held):
                if isinstance(item, Layer):
                    yield name, i, item


def own_parameters(layer):
    """(name, parameter) of a layer itself, without those of the layers inside it."""
    return [(name, held) for name, held in vars(layer).items() if isinstance(held, Parameter)]
