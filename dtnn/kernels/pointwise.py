"""Activations number by number: y = f(x) and dx = dy f'(x), each a scalar function that becomes a loop.

An activation is a function of the float type F that returns f (x, a) and its derivative (x, y, a); constants are F(...), so that
float32 stays float32.  `a` is the activation's own parameter (a slope, a scale), where it has one.
"""

from functools import cache

import numpy as np
from numba.extending import register_jitable

from .cache import kernel
from .exponential import erf, exp, tanh
from .tape import call


def forward(activation, x, y, a=0.0):
    """y = f(x)"""
    call(value_kernel(activation, x.dtype.type), x.reshape(-1), y.reshape(-1), x.dtype.type(a))


def gradient(activation, x, y, dy, a=0.0):
    """dy *= f'(x), in place"""
    call(slope_kernel(activation, x.dtype.type), x.reshape(-1), y.reshape(-1), dy.reshape(-1), x.dtype.type(a))


@cache
def value_kernel(activation, number):
    """The loop over f."""
    f = register_jitable(activation(number)[0])

    @kernel(exact=True)
    def pointwise(x, y, a):
        for i in range(x.size):
            y[i] = f(x[i], a)

    return pointwise


@cache
def slope_kernel(activation, number):
    """The loop over its derivative."""
    f = register_jitable(activation(number)[1])

    @kernel(exact=True)
    def pointwise_gradient(x, y, dy, a):
        for i in range(x.size):
            dy[i] = dy[i] * f(x[i], y[i], a)

    return pointwise_gradient


def leaky_relu(F):
    """x, or a x below zero"""

    def value(x, a):
        return a * x if x < F(0) else x

    def slope(x, y, a):
        return a if x < F(0) else F(1)

    return value, slope


def elu(F):
    """x, or a (e^x - 1) below zero"""

    def value(x, a):
        return a * (exp(x) - F(1)) if x < F(0) else x

    def slope(x, y, a):
        return y + a if x < F(0) else F(1)

    return value, slope


def sigmoid(F):
    """1 / (1 + e^-x)"""

    def value(x, a):
        return F(1) / (F(1) + exp(-x))

    def slope(x, y, a):
        return y * (F(1) - y)

    return value, slope


def silu(F):
    """x / (1 + e^-x)"""

    def value(x, a):
        return x / (F(1) + exp(-x))

    def slope(x, y, a):
        s = F(1) / (F(1) + exp(-x))
        return s + y * (F(1) - s)

    return value, slope


def hyperbolic_tangent(F):
    """tanh x"""

    def value(x, a):
        return tanh(x)

    def slope(x, y, a):
        return F(1) - y * y

    return value, slope


def gelu(F):
    """x times the share of the normal distribution below x"""

    def value(x, a):
        return F(0.5) * x * (F(1) + erf(x * F(0.7071067811865476)))

    def slope(x, y, a):
        density = F(0.3989422804014327) * exp(F(-0.5) * x * x)
        return F(0.5) * (F(1) + erf(x * F(0.7071067811865476))) + x * density

    return value, slope


def arctanh(F):
    """The number whose tanh is x, for -1 < x < 1"""

    def value(x, a):
        return np.arctanh(x)

    def slope(x, y, a):
        return F(1) / (F(1) - x * x)

    return value, slope


def logarithm(F):
    """log x, for x > 0"""

    def value(x, a):
        return np.log(x)

    def slope(x, y, a):
        return F(1) / x

    return value, slope
