"""Numbers as a person would say them."""

import time


def seconds(value):
    """Seconds in the unit that fits.

    >>> seconds(0.0000421), seconds(0.00312), seconds(0.25), seconds(4.2), seconds(75)
    ('42 µs', '3.1 ms', '250 ms', '4.2 s', '1 min 15 s')
    """
    if value < 0.001:
        return f"{1e6 * value:.0f} µs"
    if value < 1:
        return f"{1000 * value:.{0 if value >= 0.01 else 1}f} ms"
    return f"{value:.1f} s" if value < 60 else f"{value // 60:.0f} min {value % 60:.0f} s"


def share(part):
    """A share in per cent.

    >>> share(0.314), share(0.004)
    ('31 %', 'under 1 %')
    """
    return f"{100 * part:.0f} %" if part >= 0.005 else "under 1 %"


def size(count):
    """Bytes.

    >>> size(312), size(246824), size(44700000), size(8.5588e9)
    ('312 bytes', '247 kB', '44.7 MB', '8.6 GB')
    """
    if count < 1000:
        return f"{count:.0f} bytes"
    if count < 1e6:
        return f"{count / 1000:.0f} kB"
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"


def ranks(count):
    """How many ranks.

    >>> ranks(1), ranks(4)
    ('1 rank', '4 ranks')
    """
    return counted(count, "rank")


def counted(count, what):
    """How many of something whose plural has an s.

    >>> counted(1, "core"), counted(4000, "sample")
    ('1 core', '4,000 samples')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"


def age(since, now=None):
    """How long ago a moment was, in words; "?" if it isn't known.

    >>> age(0.0, 59.0), age(0.0, 3700.0), age(0.0, 200_000.0)
    ('59 s', '1 h 1 min', '2 d 7 h')
    """
    if since is None:
        return "?"
    seconds = int(max(0.0, (time.time() if now is None else now) - since))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 1:
        return f"{seconds} s"
    if hours < 1:
        return f"{minutes} min"
    return f"{hours} h {minutes % 60} min" if days < 1 else f"{days} d {hours % 24} h"
