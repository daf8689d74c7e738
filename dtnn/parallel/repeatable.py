"""`check_repeatable`: whether a strategy gives the same bits in every run."""


def check_repeatable(strategy):
    """Raise where a strategy, or one inside it, says that its results differ from run to run.

    Parameters
    ----------
    strategy : Strategy

    Raises
    ------
    ValueError
        It has a text `unrepeatable`, which tells why and what to use.

    Examples
    --------
    >>> from dtnn.parallel import Accumulate, AllReduce
    >>> check_repeatable(Accumulate(4, AllReduce("ring")))
    >>> check_repeatable(Accumulate(4, AllReduce(overlap=True)))
    Traceback (most recent call last):
    ...
    ValueError: deterministic=True, but AllReduce(algorithm='native', bucket_bytes=None, overlap=True) leaves it to the ...
    """
    while strategy is not None:
        if reason := getattr(strategy, "unrepeatable", ""):
            raise ValueError(f"deterministic=True, but {strategy!r} {reason}")
        strategy = getattr(strategy, "strategy", None)
