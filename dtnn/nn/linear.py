"""`Linear`: the dense layer, Y = W X + b."""

from ..allowed import flag
from ..kernels import dense
from ..kernels.activations import sum_delta
from .build_checks import check_samples, keeps_weights
from .first_values import first_bias, first_values, initialiser
from .layer import Layer, Parameter
from .numbers import whole
from .outputs_only import outputs_only
from .passes import Pass, checked


class Linear(Layer):
    """y = W x + b, for x (D, N), W (M, D), b (M,), y (M, N); also called dense or fully connected.

    A sequence (D, T, N) is a batch of T N tokens.

    Parameters
    ----------
    features : int
        M, the number of outputs; D is found when the layer is built.
    bias : bool
        Whether there is a b; without one b = 0.
    init : str or function (rng, shape) -> array
        First values of W, such as "he_uniform", see `dtnn.nn.init`.
    bias_init : str or function (rng, shape) -> array
        First values of b, such as `Constant(0.1)`.

    Notes
    -----
    M D + M parameters; 2 M D N floating-point operations forward, twice as many backward.  A ReLU that follows is free.
    Rumelhart, Hinton and Williams, "Learning representations by back-propagating errors", 1986.

    Examples
    --------
    >>> import numpy as np
    >>> layer = Linear(10)
    >>> layer.build((84,), np.random.default_rng(0))
    (10,)
    >>> layer(np.ones((84, 5), np.float32)).shape
    (10, 5)
    """

    replays = True

    @outputs_only
    def __init__(self, features, *, bias=True, init="he_uniform", bias_init="zeros"):
        self.features = whole(features, "features", "Linear")
        self.weight, self.bias, self.init, self.bias_init = None, bias, init, bias_init
        flag("Linear: bias", bias)
        initialiser(init, "Linear")
        initialiser(bias_init, "Linear: bias_init")

    def build(self, shape, rng):
        """(D,) -> (M,), or (D, T) -> (M, T)"""
        check_samples(self, shape, "(D,) or (D, T)", "put Flatten() before it")
        weight = (self.features, shape[0])
        if not keeps_weights(self, weight):
            self.weight = Parameter(first_values(self.init, type(self).__name__, rng, weight))
            self.bias = first_bias(self, rng, self.features)
        return (self.features, *shape[1:])

    def forward(self, x, step=None, relu=False):
        """y, backward; with `relu` y = max(0, W x + b)."""
        step = step or Pass()
        weight, bias, first = self.weight, self.bias, step.is_input(x)
        x = checked(x, (weight.value.shape[1], *x.shape[1:-1]), self, step, weight.value.dtype, slack=True)
        y = step.empty((self.features, *x.shape[1:]), x.dtype)
        flat_x, flat_y = flat(x), flat(y)
        dense.forward(flat_x, weight.value, bias.value if bias else None, flat_y, relu)

        def backward(dy, into=None):
            dy = checked(dy, y.shape[:-1], self, step, x.dtype, slack=True)
            flat_dy = flat(dy)
            sum_delta(flat_dy, flat_y if relu else None, bias.grad if bias and bias.learns else None)
            if weight.learns:
                dense.weight_gradient(flat_x, flat_dy, weight.grad)
            if first:
                return None
            dx = step.empty(x.shape, x.dtype) if into is None else into
            dense.data_gradient(flat_dy, weight.value, flat(dx), adds=into is not None)
            return dx

        return y, backward


def flat(x):
    """(D, T, N) as (D, T N)"""
    return x if x.ndim == 2 else x.reshape(len(x), x.size // len(x))
