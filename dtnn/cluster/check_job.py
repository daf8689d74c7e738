"""`check_job`: whether something can be a job, looked at before it travels to the ranks."""

import inspect

from ..allowed import shown

OF_A_MODEL = ("fit", "start", "evaluate", "predict")


def check_job(job, args=(), kwargs=None):
    """Raise a `TypeError` for what is no function, or can't be called with a communicator and these arguments.

    Parameters
    ----------
    job : callable
        ``job(comm, *args, **kwargs)``
    args, kwargs : tuple, dict

    Examples
    --------
    >>> check_job(lambda comm, x: x, (3,))
    >>> def job():
    ...     return 1
    >>> check_job(job)
    Traceback (most recent call last):
    TypeError: the job 'job' can't be called so: too many positional arguments; a communicator comes first, job(comm, ...)
    """
    if not callable(job):
        raise TypeError(f"a job is a function that takes a communicator, not {shown(job)}; pass the function itself")
    name = getattr(job, "__name__", type(job).__name__)
    if name in OF_A_MODEL and hasattr(getattr(job, "__self__", None), "fit"):
        raise TypeError(f"model.{name} is no job of its own; a model is trained on the ranks by model.fit(..., cluster=cluster)")
    try:
        signature = inspect.signature(job)
    except (TypeError, ValueError):  # a built-in function that doesn't tell
        return
    try:
        signature.bind(None, *args, **(kwargs or {}))
    except TypeError as error:
        raise TypeError(f"the job {name!r} can't be called so: {error}; a communicator comes first, job(comm, ...)") from None
