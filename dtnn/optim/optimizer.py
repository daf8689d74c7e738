"""What all optimizers share: checked settings, the rate of the moment, clipping, and a repr that is a constructor call."""

import difflib
import inspect
import math
from dataclasses import fields
from functools import partial

from ..allowed import shown
from ..kernels.aligned import aligned
from ..kernels.updates_adaptive import clip
from ..nn.numbers import plain
from .schedule import is_schedule


class Optimizer:
    """Settings of an update rule; frozen.  What changes while training is in the dict that `state` makes.

    A rule of your own needs the three methods `state`, `update` and `rate`, or is a frozen dataclass that inherits this
    class and defines `state` and `change`.

    Notes
    -----
    Fields that mean the same wherever they occur: `lr`, a number or a schedule; `weight_decay`, which skips biases and
    normalisation unless `decay_all`; `clip_norm`, the largest 2-norm of the gradient of all weights
    together, summed over the ranks.

    `layerwise` (no field) says whether the rule takes a layer's weights as a whole, as LARS does; a rule of your own that
    treats each weight by itself may say ``layerwise = False``, so that ranks can divide the weights evenly (`Sharded`).

    Raises
    ------
    ValueError
        A setting makes no sense; the message names the optimizer, the setting, the value, and what it may be.
    """

    layerwise = True

    def __new__(cls, *given, **named):
        settings = inspect.signature(cls.__init__).parameters
        if not any(setting.kind is setting.VAR_KEYWORD for setting in settings.values()):
            for name in named.keys() - settings.keys():
                raise TypeError(f"{cls.__name__} has no setting {name!r}; {_hint(name, [*settings][1:])}")
        return super().__new__(cls)

    def __post_init__(self):
        for field in fields(self):  # NumPy's numbers become Python's, which a repr can be made of again
            object.__setattr__(self, field.name, plain(getattr(self, field.name)))
        for name, (holds, words) in RULES.items():
            if hasattr(self, name) and not _true(holds, getattr(self, name)):
                raise ValueError(f"{type(self).__name__}: {name}={shown(getattr(self, name))} must be {words}")

    def __repr__(self):
        changed = (f for f in fields(self) if f.name == "lr" or getattr(self, f.name) != f.default)
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in changed)})"

    def rate(self, progress):
        """The learning rate of this moment, a float.

        Raises
        ------
        ValueError
            The schedule gave something else; the message says what, and at which step.
        """
        if not callable(self.lr):
            return float(self.lr)
        rate = self.lr(progress)
        if not _true(_not_negative, rate):
            raise ValueError(
                f"{type(self).__name__}: the schedule lr={self.lr!r} gave {rate!r} at step {progress.step}; "
                "it must give a number >= 0"
            )
        return float(rate)

    def update(self, parameters, state, progress):
        """Change `parameters.value` by `parameters.grad`, in place, and set the gradient to zero.

        Parameters
        ----------
        parameters : Parameters
            Only value[:trainable] and grad[:trainable] are touched.
        state : dict
            What `state(parameters)` gave; changed in place.
        progress : Progress
        """
        value, grad = parameters.value[: parameters.trainable], parameters.grad[: parameters.trainable]
        if self.clip_norm is not None:
            clip(grad, self.clip_norm)
        self.change(parameters, value, grad, state, self.rate(progress))

    def updates(self, parameters, state):
        """A function of a `Progress` that makes one `update` after the other of these; valid as long as the arrays are the same.

        A rule that does the same to them each time may leave out the Python that decides on it.
        """
        return partial(self.update, parameters, state)

    def _mask(self, parameters):
        return None if self.decay_all else parameters.decay


def _hint(name, settings):
    """What to write instead of a setting that there isn't."""
    if ELSEWHERE.get(name) in settings:
        return f"it is called {ELSEWHERE[name]} here"
    near = difflib.get_close_matches(name, settings, 1, 0.5)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(settings)}"


def zeros(parameters):
    """A vector of zeros like the trainable parameters."""
    return aligned(parameters.trainable, parameters.value.dtype)


def moments(parameters):
    """The running means of the gradient and of its square, and how many updates they have seen: the state of Adam's family."""
    return {"mean": zeros(parameters), "square": zeros(parameters), "step": 0}


def _true(holds, value):
    try:
        return bool(holds(value)) and (value is not True or holds is _flag)
    except (TypeError, ValueError, OverflowError):
        return False


def _not_negative(x):
    return 0 <= float(x) < math.inf and not isinstance(x, str)


def _rate(x):
    return is_schedule(x) or _not_negative(x)


def _below_one(x):
    return 0 <= x < 1


def _positive(x):
    return 0 < x < math.inf


def _flag(x):
    return x is True or x is False


# What other libraries call it.
ELSEWHERE = {
    "learning_rate": "lr", "eta": "lr", "beta_1": "betas", "beta_2": "betas", "beta1": "betas", "beta2": "betas",
    "epsilon": "eps", "decay": "weight_decay", "l2": "weight_decay", "rho": "alpha", "clipnorm": "clip_norm",
    "global_clipnorm": "clip_norm",
}  # fmt: skip
RULES = {
    "lr": (_rate, "a number >= 0, such as 0.01, or a schedule such as optim.cosine(0.1)"),
    "momentum": (_below_one, "a number >= 0 and < 1, such as 0.9"),
    "alpha": (_below_one, "a number >= 0 and < 1, such as 0.99"),
    "betas": (lambda x: len(x) == 2 and all(map(_below_one, x)), "two numbers >= 0 and < 1, such as (0.9, 0.999)"),
    "eps": (_positive, "a small number > 0, such as 1e-8"),
    "weight_decay": (_not_negative, "a number >= 0, such as 1e-4"),
    "trust": (_positive, "a number > 0, such as 0.001"),
    "initial": (_not_negative, "a number >= 0"),
    "momentum_decay": (_not_negative, "a number >= 0, such as 0.004"),
    "clip_norm": (lambda x: x is None or _positive(x), "a number > 0, such as 1.0, or None"),
    "decay_all": (_flag, "True or False"),
    "nesterov": (_flag, "True or False"),
    "centered": (_flag, "True or False"),
}
