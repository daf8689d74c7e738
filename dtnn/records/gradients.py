"""What the gradients of all ranks are like."""

from dataclasses import dataclass

from .shapes import shapes


@dataclass(frozen=True, slots=True)
class Gradients:
    """The gradients of all ranks in one step, as norms and angles; `gradients` (the module) reads them for people.

    A rank's gradient is its part of the mean over the global batch, so that the sum over the ranks is the whole. Of each of
    the `layers`: the 2-norm of each rank's own gradient (`before`), of what each rank holds after the reduction (`after`; one
    number where all hold it together), of the true sum (`total`), and of the difference between these two (`off`); and the
    `cosines` between the ranks' own gradients, a row for each rank. `samples` are each rank's; `local` is the sum over the
    ranks of the squared norm of a rank's mean gradient over its own samples, which rode in the tail of the reduction.
    `asked` is the layer that somebody asked for, "" if none.

    >>> angles = [[[1.0, 0.9], [0.9, 1.0]]]
    >>> told = Gradients(1, "", [32, 32], 0.5, ["linear_1"], [[1.0, 2.0]], [[3.0]], [3.0], [[0.0]], angles, 0.0)
    >>> dict(zip(told.layers, told.before))
    {'linear_1': [1.0, 2.0]}
    """

    step: int
    asked: str
    samples: list
    local: float
    layers: list
    before: list
    after: list
    total: list
    off: list
    cosines: list
    time: float


@dataclass(frozen=True, slots=True, repr=False)
class GradientValues:
    """The numbers themselves, of some parameters in one step: by name "shape", "dtype", "every", "before" and "after".

    The last two are base64 texts, one for each rank (one alone where all ranks hold the same). Of a large parameter only
    each `every`-th number is told.

    >>> GradientValues(step=1, parameters={"bias": {"shape": [10], "dtype": "float32", "every": 1}}, time=0.0)
    GradientValues(step=1, parameters={bias (10,) float32}, time=0.0)
    """

    step: int
    parameters: dict
    time: float

    def __repr__(self):
        return f"GradientValues(step={self.step!r}, parameters={shapes(self.parameters)}, time={self.time!r})"
