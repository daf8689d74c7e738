"""Numbers as a person would say them."""


def time(seconds):
    """Seconds in the unit that fits.

    >>> time(0.0000421), time(0.00312), time(0.25), time(4.2)
    ('42 µs', '3.1 ms', '250 ms', '4.2 s')
    """
    if seconds < 0.001:
        return f"{1e6 * seconds:.0f} µs"
    if seconds < 1:
        return f"{1000 * seconds:.{0 if seconds >= 0.01 else 1}f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def share(part):
    """A share in per cent.

    >>> share(0.314), share(0.004)
    ('31 %', 'under 1 %')
    """
    return f"{100 * part:.0f} %" if part >= 0.005 else "under 1 %"


def size(count):
    """Bytes.

    >>> size(312), size(246824), size(44700000)
    ('312 bytes', '247 kB', '44.7 MB')
    """
    if count < 1000:
        return f"{count:.0f} bytes"
    return f"{count / 1000:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def ranks(count):
    """How many ranks.

    >>> ranks(1), ranks(4)
    ('1 rank', '4 ranks')
    """
    return f"{count} rank{'s' * (count != 1)}"
