"""The methods of `Model` that take out what it has learnt and put it in, by name, into a copy of it, or a pickle."""

KEPT = ("input_shape", "seed", "dtype", "steps")  # what a copy has beside its layers and their weights


def state_dict(model):
    """Copies of all parameters and buffers, by name."""
    model.settle()
    model.parameters.take_over()
    return model.parameters.state()


def load_state_dict(model, state):
    """Take over what `state_dict` gave; names and shapes must be this model's."""
    model.parameters.take_over()
    model.parameters.load(state)


def getstate(model):
    """What a copy or a pickle is made of: layers, weights, and how it was made; the history stays behind."""
    return {"layers": model.layers, "state": model.state_dict(), **{name: getattr(model, name) for name in KEPT}}


def setstate(model, kept):
    """Build it anew with these weights."""
    model.__init__(*kept["layers"], input_shape=kept["input_shape"], seed=kept["seed"], dtype=kept["dtype"])
    model.steps = kept["steps"]
    model.load_state_dict(kept["state"])
