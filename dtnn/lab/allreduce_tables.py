"""What stands below the picture of an all-reduce, as HTML."""

import html

from .looks import faint


def counts_table(seen, cost, least, between=None):
    """Messages and bytes: counted, of the formula if there is one, and the least possible.

    Parameters
    ----------
    seen : Rounds
    cost : Cost or None
    least : Cost
    between : tuple of int, optional
        How many of the counted ones go from node to node.
    """
    rows = [("counted", f"{seen.messages:,}", f"{seen.bytes:,}")]
    rows += [("of these from node to node", *(f"{number:,}" for number in between))] if between else []
    rows += [("formula", f"{cost.messages:,.0f}", f"{cost.bytes:,.0f}")] if cost else []
    rows.append(("least possible", f"{least.messages:,.0f}", f"{least.bytes:,.0f}"))
    return table(("over all ranks", "messages", "bytes"), rows)


def clock_line(name, cost, latency, bandwidth, took):
    """The time that the formula predicts, and the clock's, in a line."""
    told = f"the formula says {1e3 * cost.seconds(latency, 1 / bandwidth):.1f} ms" if cost else "there is no formula for it"
    return faint(f"{html.escape(name)}: {told}, the clock {1e3 * took:.1f} ms (threads of one process need some of it)")


def bits_table(found):
    """What each algorithm made of numbers whose sum depends on the order: {name: (sum, bits, same on all ranks)}."""
    rows = [
        (html.escape(name), f"{value:g}", bits, "the same" if same else "<b>different</b>")
        for name, (value, bits, same) in found.items()
    ]
    words = "1e8 + 1 − 1e8 + 1 in float32, one number a rank: the sum depends on the order"
    return faint(words) + table(("algorithm", "sum", "bits", "on all ranks"), rows)


def table(head, rows):
    """A plain table.

    >>> table(("a",), [("1",)]).count("<tr>")
    2
    """
    cells = "".join("<tr>" + "".join(f'<td style="padding: 0 14px 0 0">{cell}</td>' for cell in row) + "</tr>" for row in rows)
    heads = "".join(f'<th style="text-align: left; padding: 0 14px 0 0">{name}</th>' for name in head)
    return f'<table class="dtnn-faint"><tr>{heads}</tr>{cells}</table>'
