"""Models as files: what they are made of as plain values, what they have learnt as arrays."""

import operator

from . import allowed
from .description import build_row, describe_row
from .model import Model
from .nn.tree import named_parameters
from .training import Checkpoint
from .weights import read, write

TRAINING = "training/"  # before the names of the optimizer's arrays in a file


def save(model, path):
    """Write a model as one ``.npz`` file without pickle; see `Model.save`."""
    about = {
        "layers": describe_row(model.layers),
        "input_shape": list(model.input_shape),
        "seed": model.seed,
        "dtype": model.dtype,
        "steps": model.steps,
        "frozen": [name for name, _, trainable in named_parameters(model.net) if not trainable],
    }
    arrays = model.state_dict()
    if model.training is not None:
        about["training"], state = model.training.parts()
        arrays |= {TRAINING + name: array for name, array in state.items()}
    write(path, about, arrays)


def load(path, layers=()):
    """The model that `Model.save` wrote.

    Parameters
    ----------
    path : path
        The file; nothing in it is executed.
    layers : sequence of classes
        The layers of your own that the model uses.

    Returns
    -------
    Model

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        It is no model of dtnn, is damaged, or uses a layer that is none of dtnn's and not in `layers`.

    Examples
    --------
    >>> import dtnn, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dtnn.zoo.mlp().save(os.path.join(folder, "mlp.npz"))
    ...     dtnn.load(os.path.join(folder, "mlp.npz")).input_shape
    (28, 28, 1)
    """
    path = allowed.path("path", path)
    layers = allowed.listed("layers", layers, "your own layer classes, such as [Mine]")
    about, state = read(path)
    try:
        model = made(about, layers)
        if "training" in about:
            names = [name for name in state if name.startswith(TRAINING)]
            model.training = Checkpoint.of(about["training"], {name.removeprefix(TRAINING): state.pop(name) for name in names})
        model.steps = operator.index(about["steps"])
    except (KeyError, TypeError, AttributeError, MemoryError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path} is not a model saved by dtnn, or is damaged: {error!r}") from error
    model.load_state_dict(state)
    return model


def made(about, layers=()):
    """The model of these plain values, with the first weights of its seed; `layers` as for `load`."""
    row = build_row(about["layers"], layers)
    model = Model(*row, input_shape=tuple(about["input_shape"]), seed=about["seed"], dtype=about["dtype"])
    frozen = set(about["frozen"])
    for name, parameter, _ in named_parameters(model.net):
        parameter.trainable = name not in frozen
    model.refresh()
    return model
