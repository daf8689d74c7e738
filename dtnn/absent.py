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


# What models of other libraries have.
METHODS = {
    "compile": "optimizer, loss and metrics are settings of fit",
    "add": "all layers are given at once, Model(*model.layers, Linear(10), input_shape=...)",
    "forward": "predict(x) gives the outputs",
    "call": "predict(x) gives the outputs",
    "predict_proba": "predict(x) gives the outputs, of a classifier before the softmax",
    "predict_classes": "predict(x).argmax(1)",
    "train": "fit(data) trains; predict and evaluate never drop anything",
    "eval": "predict and evaluate never drop anything, so there is nothing to switch",
    "score": "evaluate(data) gives loss and accuracy",
    "weights": "state_dict() gives all of them, model.layers[0].weight.value those of a layer",
    "get_weights": "state_dict() gives all of them, model.layers[0].weight.value those of a layer",
    "set_weights": "load_state_dict(weights) takes what state_dict() gave",
    "load": "dtnn.load(path) makes the model of a file",
    "load_weights": "dtnn.load(path) makes the model of a file, whose state_dict() load_state_dict takes",
    "save_weights": "save(path) writes all that is needed",
    "to": "it computes on the cores of this computer, or on those of fit(cluster=)",
    "cuda": "it computes on the cores of this computer, or on those of fit(cluster=)",
    "zero_grad": "fit does each step; dtnn.training.train is the loop itself",
    "backward": "fit does each step; dtnn.training.train is the loop itself",
    "named_parameters": "state_dict() gives the values by name",
    "count_params": "summary() shows how many parameters there are",
}


def no_method(name):
    """The error for what a model doesn't have, with what to use instead if that is known.

    >>> print(no_method("compile"))
    a Model has no 'compile': optimizer, loss and metrics are settings of fit
    """
    return AttributeError(f"a Model has no {name!r}{f': {METHODS[name]}' if name in METHODS else ''}")


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
    lower = {each.lower(): each for each in sorted(names, reverse=True)}  # of Adam and adam, its file, the class
    usual = ELSEWHERE.get(name.lower(), "").lower()
    near = [usual] if usual in lower else difflib.get_close_matches(name.lower(), lower, 1, 0.6)
    hint = f"did you mean {lower[near[0]]}?" if near else f"it has {', '.join(sorted(lower.values()))}"
    return AttributeError(f"{module} has no {name!r}: {hint}")
