"""`outputs_only`: layers are told what comes out; who also tells what goes in, as elsewhere, is told that."""

import inspect
from functools import wraps

FOUND = "what goes in is found when the network is built"
ELSEWHERE = {  # what other libraries' constructors take
    **dict.fromkeys(("in_channels", "in_features", "input_dim", "input_size"), FOUND),
    "activation": "put a layer behind it, such as ReLU()",
    "input_shape": "give it to the model, Model(..., input_shape=(28, 28, 1))",
    "units": "give it by position, Linear(128)",
    "out_features": "give it by position, Linear(128)",
    "filters": "give it by position, Conv2d(16, 3)",
    "out_channels": "give it by position, Conv2d(16, 3)",
    "strides": "it is called stride here",
    "kernel": "it is called kernel_size here",
    "dilation_rate": "it is called dilation here",
    "use_bias": "it is called bias here",
    "kernel_initializer": "it is called init here",
    "bias_initializer": "it is called bias_init here",
}


def outputs_only(constructor):
    """A constructor that says what to write instead, if it is given more by position than it takes.

    Else ``Conv2d(1, 6, 5)``, which is PyTorch's for 1 channel in, 6 out and a window of 5, would be 1 channel out, a window of
    6 and a stride of 5.

    Examples
    --------
    >>> class Wide:
    ...     @outputs_only
    ...     def __init__(self, features, *, bias=True):
    ...         pass
    >>> Wide(784, 10)
    Traceback (most recent call last):
    TypeError: Wide(784, 10): by position it takes features alone, of what comes out; what goes in is found when ...
    """
    settings = inspect.signature(constructor).parameters
    by_position = [p.name for p in settings.values() if p.kind is p.POSITIONAL_OR_KEYWORD][1:]

    @wraps(constructor)
    def checked(self, *given, **named):
        if len(given) > len(by_position):
            raise TypeError(
                f"{type(self).__name__}({', '.join(map(repr, given))}): by position it takes {' and '.join(by_position)} alone, "
                "of what comes out; what goes in is found when the network is built, and all else is given by name, such as "
                "bias=False"
            )
        for name in named.keys() & ELSEWHERE.keys() - settings.keys():
            raise TypeError(f"{type(self).__name__} has no setting {name!r}: {ELSEWHERE[name]}")
        constructor(self, *given, **named)

    return checked
