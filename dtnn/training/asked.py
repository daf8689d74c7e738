"""What a training is asked to do, looked at before anything is computed."""

from ..allowed import flag, number, shown, whole


def check_model(model):
    """The model, if it can be trained and looked into; else a `TypeError` that says where to get one."""
    if not hasattr(model, "net") or not hasattr(model, "parameters"):
        raise TypeError(f"model={shown(model)}: give a Model, such as dtnn.zoo.lenet5()")
    return model


def check_train(comm, model, data, validation, loss, metrics, optimizer, strategy):
    """Raise a `TypeError` for an argument of `train` that is nothing of its kind."""
    _has("comm", comm, ("rank", "size", "Allreduce"), "a communicator, such as dtnn.comm.Serial()")
    check_model(model)
    rows = "Samples, such as dtnn.data.mnist5k().train or dtnn.data.samples(x, y)"
    _has("data", data, ("gather_inputs", "gather_targets"), rows)
    if getattr(data, "y", data) is None:
        raise ValueError(f"data={data!r}: these samples have no targets; make them with some, Samples(x, y)")
    if validation is not None:
        _has("validation", validation, ("gather_inputs", "gather_targets"), f"{rows}, or None")
    if not callable(loss) or isinstance(loss, type):
        raise TypeError(f"loss={shown(loss)}: give a function, such as dtnn.nn.cross_entropy")
    some = "a list of metrics, such as [dtnn.nn.accuracy]"
    if not isinstance(metrics, list | tuple):
        raise TypeError(f"metrics={shown(metrics)}: give {some}")
    for metric in metrics:
        _has("metrics", metric, ("sums", "value"), some)
    _has("optimizer", optimizer, ("state", "update", "rate"), "one of dtnn.optim, such as SGD(0.01)")
    _has("strategy", strategy, ("begin",), "one of dtnn.parallel, such as AllReduce()")


def check_sizes(epochs, seed, deterministic, evaluate_first, trace, keep_gradients_every):
    """Raise for a setting of `train` that is no such number, or neither True nor False."""
    whole("epochs", epochs)
    number("seed", seed, "a whole number", None)
    flag("deterministic", deterministic)
    flag("evaluate_first", evaluate_first)
    if trace is not None and not isinstance(trace, bool):
        whole("trace", trace, 0)
    whole("keep_gradients_every", keep_gradients_every)


def _has(name, value, verbs, wanted):
    if isinstance(value, type) or not all(hasattr(value, verb) for verb in verbs):
        raise TypeError(f"{name}={shown(value)}: give {wanted}")
