"""How the numbers inside a model are distributed: its weights, and what its layers give."""

from ..nn.tree import named_parameters
from ..plots.histograms import histograms
from ..training.asked import check_model
from .inner import layer_outputs


def weights(model, ax=None):
    """Draw a histogram of each layer's weights, the first layer at the top.

    Parameters
    ----------
    model : Model
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        A line for each layer; at the right mean and standard deviation.

    Examples
    --------
    >>> import dtnn
    >>> from matplotlib.figure import Figure
    >>> [line.get_label() for line in weights(dtnn.zoo.mlp(hidden=(8,)), ax=Figure().add_subplot()).lines]
    ['linear_1', 'linear_2']
    """
    return histograms(layer_weights(model), ax, "Weights of each layer", "weight")


def layer_weights(model):
    """The numbers of `weights`: by the layer's name a copy of its weights (of arrays that have at least two axes: no biases).

    >>> import dtnn
    >>> {name: value.shape for name, value in layer_weights(dtnn.zoo.mlp()).items()}
    {'linear_1': (256, 784), 'linear_2': (128, 256), 'linear_3': (10, 128)}
    """
    found = [(name, parameter.value) for name, parameter, _ in named_parameters(check_model(model).net)]
    matrices = [(name, value) for name, value in found if value.ndim > 1]
    return {name.removesuffix(".weight"): value.copy() for name, value in matrices or found}


def activations(model, x, ax=None):
    """Draw a histogram of what each layer gives for some inputs; beside it how many numbers are exactly zero, as a ReLU's.

    Parameters
    ----------
    model : Model
    x : array (N, *input_shape)
        Batch first; at most 256. `layer_outputs` gives the numbers.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        A line for each layer, the first at the top.

    Examples
    --------
    >>> import dtnn
    >>> from matplotlib.figure import Figure
    >>> ax = activations(dtnn.zoo.mlp(hidden=(8,)), dtnn.data.mnist5k().x_test[:20], ax=Figure().add_subplot())
    >>> [line.get_label() for line in ax.lines]
    ['flatten_1', 'linear_1', 'relu_1', 'linear_2']
    """
    found = layer_outputs(model, x)
    return histograms(found, ax, f"What each layer gives for {len(x):,} sample{'s' * (len(x) != 1)}", "output")
