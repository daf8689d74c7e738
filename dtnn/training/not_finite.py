"""How a training ends because its numbers left the finite ones."""


class NotFinite(ArithmeticError):
    """The loss became NaN or infinite; the weights are those of the step before.

    Parameters
    ----------
    step : int
        The step whose loss is not finite.
    layer : str
        The first layer whose output is not finite, or "the loss" where all outputs are.
    """

    def __init__(self, step, layer):
        super().__init__(step, layer)
        self.step, self.layer = step, layer

    def __str__(self):
        return (
            f"the loss of step {self.step} is not finite, and the first place that is not is {self.layer}. "
            "The weights are those before this step. A smaller learning rate is the usual remedy; "
            "also look for NaN in the inputs and for a logarithm or division of your own."
        )
