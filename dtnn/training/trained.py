"""`Trained`: what a training returns, in a line where it is shown."""


class Trained(dict):
    """Weights and buffers by name as "weights", the `Checkpoint` to go on from as "training", and "steps".

    Examples
    --------
    >>> import numpy as np
    >>> Trained(weights={"0.weight": np.zeros((10, 784))}, training=None, steps=1)
    <trained weights: 7,840 numbers in 1 array, after 1 step; ["weights"] has them, for model.load_state_dict>
    """

    def __repr__(self):
        weights, steps = self.get("weights", {}), self.get("steps", 0)
        numbers = f"{sum(array.size for array in weights.values()):,} numbers in {_counted(len(weights), 'array')}"
        return f'<trained weights: {numbers}, after {_counted(steps, "step")}; ["weights"] has them, for model.load_state_dict>'


def _counted(count, thing):
    return f"{count:,} {thing}{'s' * (count != 1)}"
