"""Numba kernels on plain arrays, batch last: no layers, no parameters, no communication."""
