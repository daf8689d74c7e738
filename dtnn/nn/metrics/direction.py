"""`less_is_better`: which way a metric improves, read off its name."""

LESS_IS_BETTER = ("loss", "error", "entropy", "perplexity", "mse", "mae", "hinge", "huber")  # in a metric's name


def less_is_better(name):
    """Whether it is a loss or an error, of which less is better; of everything else more is.

    Examples
    --------
    >>> less_is_better("val_loss"), less_is_better("val_accuracy")
    (True, False)
    """
    return any(word in name.lower() for word in LESS_IS_BETTER)
