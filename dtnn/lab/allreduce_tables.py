"""What stands below the picture of an all-reduce, as HTML."""

import html

from .looks import faint

FEW = 160  # letters of an error in a table


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


def clock_line(name, formula, messages, took):
    """What was predicted in seconds, by the formula or from the messages (None: not), and the clock's, in a line."""
    told = "there is no formula for it"
    if messages is not None:
        told = f"its messages take {1e3 * messages:.1f} ms on such links"
    if formula is not None:
        told = f"the formula says {1e3 * formula:.1f} ms"
    return faint(f"{html.escape(name)}: {told}, the clock {1e3 * took:.1f} ms (threads of one process need some of it)")


def bits_table(found):
    """What each algorithm made of numbers whose sum depends on the order.

    Parameters
    ----------
    found : dict
        By name: (sum, bits, whether all ranks have the same), or what went wrong in words.
    """
    rows = [(html.escape(name), *_bits(told)) for name, told in found.items()]
    words = "1e8 + 1 − 1e8 + 1 in float32, one number a rank: the sum depends on the order"
    return faint(words) + table(("algorithm", "sum", "bits", "on all ranks"), rows)


def _bits(told):
    if isinstance(told, str):
        short = " ".join(told.split())
        short = short if len(short) <= FEW else f"{short[: FEW - 1]}…"
        return (f'<span class="dtnn-wrong" title="{html.escape(told)}">{html.escape(short)}</span>',)
    value, bits, same = told
    return f"{value:g}", bits, "the same" if same else "<b>different</b>"


def table(head, rows):
    """A plain table; a row that is shorter than the head goes on in its last cell.

    >>> table(("a",), [("1",)]).count("<tr>")
    2
    """
    cells = "".join(f"<tr>{_cells(row, len(head))}</tr>" for row in rows)
    heads = "".join(f'<th style="text-align: left; padding: 0 14px 0 0">{name}</th>' for name in head)
    return f'<table class="dtnn-faint"><tr>{heads}</tr>{cells}</table>'


def _cells(row, columns):
    first = "".join(f'<td style="padding: 0 14px 0 0">{text}</td>' for text in row[:-1])
    wide = f' colspan="{columns - len(row) + 1}"' if len(row) < columns else ""
    return f'{first}<td{wide} style="padding: 0 14px 0 0">{row[-1]}</td>'
