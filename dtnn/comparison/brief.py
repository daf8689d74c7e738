"""`brief`: a setting or a result in few letters."""

MOST = 60  # letters


def brief(value):
    """A number with the digits that matter, anything else on one line that ends where it gets long.

    Examples
    --------
    >>> brief(0.98764), brief(123456.7), brief(None)
    ('0.9876', '123,457', '-')
    """
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    text = "-" if value is None else " ".join(str(value).split())
    return text if len(text) <= MOST else f"{text[: MOST - 1]}…"
