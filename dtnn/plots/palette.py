"""The colours of every picture: few, told apart by colour-blind eyes, and the same meaning everywhere.

The hues are those of Okabe and Ito's palette ("Color Universal Design", 2008), some paler or darker.  Cold colours are
a rank's own work, warm ones are communication: the split is seen before any label is read.  Pictures have an opaque
white ground, so they read the same on a light and on a dark page.
"""

INK = "#1F2933"  # text and axes
FAINT = "#5F6B7A"  # secondary text; contrast with PAPER is 5.4, above the 4.5 asked for by WCAG 2.1
RULE = "#D5DAE1"  # grid lines
PAPER = "#FFFFFF"

TRAINING = "#0072B2"
VALIDATION = "#D55E00"
STEPS = "#9CC3DE"  # single steps, behind the epochs
IDEAL = "#8A94A1"  # what theory promises: ideal speed-up

PHASES = {
    "data": "#CFE3F1",
    "forward": "#56B4E9",
    "backward": "#0072B2",
    "update": "#08415C",
    "other": "#B8BEC6",
    "pack": "#8C2D04",
    "transfer": "#D55E00",
    "wait": "#F5C242",
}
OWN = ("data", "forward", "backward", "update", "other")  # a rank's own work, in the order of the bars
COMMUNICATION = ("pack", "transfer", "wait")

STATES = {
    "waiting": "#8A6D00",
    "running": "#0072B2",
    "paused": "#7A4A88",
    "done": "#00704F",
    "stopped": "#5F6B7A",
    "interrupted": "#A34700",
    "failed": "#B3261E",
}
RANKS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#5F6B7A", "#8A6D00")


def on(colour):
    """INK or PAPER, whichever is read better on this colour (relative luminance of WCAG 2.1).

    >>> on("#08415C") == PAPER, on("#CFE3F1") == INK
    (True, True)
    """
    return INK if contrast(colour, INK) >= contrast(colour, PAPER) else PAPER


def contrast(one, other):
    """Contrast ratio of two colours, 1 to 21 (WCAG 2.1).

    >>> round(contrast("#000000", "#FFFFFF"))
    21
    """
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def linear(colour):
    """The colour's red, green and blue as shares of the screen's light, without the sRGB curve."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return tuple(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def _luminance(colour):
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
