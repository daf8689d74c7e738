"""`absent`: what to say of a name that a module does not have."""

import difflib

# What other libraries call it, in lower case.
ELSEWHERE = {
    "dense": "Linear", "fc": "Linear", "conv": "Conv2d", "convolution2d": "Conv2d", "maxpooling2d": "MaxPool2d",
    "averagepooling2d": "AvgPool2d", "globalaveragepooling2d": "GlobalAvgPool2d", "batchnormalization": "BatchNorm2d",
    "batchnorm": "BatchNorm2d", "layernormalization": "LayerNorm", "add": "Residual", "concat": "Concatenate",
    "crossentropyloss": "cross_entropy", "mseloss": "mse", "l1loss": "mae", "bcewithlogitsloss": "binary_cross_entropy",
    "swish": "SiLU", "lenet": "lenet5", "vgg": "vgg11", "resnet": "resnet20", "cnn": "simplecnn", "load_mnist": "mnist",
}  # fmt: skip


def absent(module, name, names):
    """The error for a name that there isn't, with what was probably meant.

    Parameters
    ----------
    module : str
        Name of the module.
    name : str
        The name that was asked for.
    names : iterable of str
        Those that there are.

    Returns
    -------
    AttributeError

    Examples
    --------
    >>> print(absent("dtnn.nn", "Dense", ["Linear", "ReLU"]))
    dtnn.nn has no 'Dense': did you mean Linear?
    >>> print(absent("dtnn.nn", "Relu", ["Linear", "ReLU"]))
    dtnn.nn has no 'Relu': did you mean ReLU?
    """
    lower = {each.lower(): each for each in names}
    usual = ELSEWHERE.get(name.lower(), "").lower()
    near = [usual] if usual in lower else difflib.get_close_matches(name.lower(), lower, 1, 0.6)
    hint = f"did you mean {lower[near[0]]}?" if near else f"it has {', '.join(sorted(lower.values()))}"
    return AttributeError(f"{module} has no {name!r}: {hint}")
