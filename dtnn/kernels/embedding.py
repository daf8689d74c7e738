"""Rows of a table for tokens, and the sum of their gradients.  Any float type; the innermost loop runs over the batch."""

from .cache import kernel


@kernel
def look_up(table, tokens, y):
    """y[d, t, n] = table[tokens[t, n], d]"""
    D, T, N = y.shape
    for d in range(D):
        for t in range(T):
            for n in range(N):
                y[d, t, n] = table[tokens[t, n], d]


@kernel
def add_rows(dy, tokens, dtable):
    """dtable[tokens[t, n], d] += dy[d, t, n]"""
    D, T, N = dy.shape
    for d in range(D):
        for t in range(T):
            for n in range(N):
                dtable[tokens[t, n], d] += dy[d, t, n]
