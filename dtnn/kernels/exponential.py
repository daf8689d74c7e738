"""exp, tanh and erf that LLVM vectorises: polynomials for float32, the C library for float64.

Within 2 units in the last place for float32 (erf: 2e-7 absolute).  A NaN stays, overflow is infinity.  Kernels that use them
must be `@kernel(exact=True)`, or LLVM may reorder the careful subtractions.

Cody and Waite's reduction with the coefficients of Moshier's Cephes library, 1992; erf: Abramowitz and Stegun 7.1.26.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

F = np.float32


@intrinsic
def float_of_bits(typing, bits):
    """The float32 that has these 32 bits."""

    def code(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), code


def power_of_two(n):
    """2^n for -126 <= n <= 127"""
    return float_of_bits(np.int32((n + np.int32(127)) << np.int32(23)))


@overload(power_of_two)
def _(n):
    return power_of_two


def exp(x):
    """e^x"""
    return np.exp(x)


@overload(exp)
def _(x):
    if x != types.float32:
        return lambda x: np.exp(x)

    def exp32(x):
        x = F(-104) if x < F(-104) else (F(89) if x > F(89) else x)
        n = np.floor(x * F(1.44269504088896341) + F(0.5))
        r = x - n * F(0.693359375)
        r = r - n * F(-2.12194440e-4)
        p = F(1.9875691500e-4)
        p = p * r + F(1.3981999507e-3)
        p = p * r + F(8.3334519073e-3)
        p = p * r + F(4.1665795894e-2)
        p = p * r + F(1.6666665459e-1)
        p = p * r + F(5.0000001201e-1)
        p = p * (r * r) + r + F(1)
        k = np.int32(n if n == n else F(0))
        half = np.int32(k >> np.int32(1))
        return p * power_of_two(half) * power_of_two(np.int32(k - half))  # two steps: 2^n itself may not be a float

    return exp32


def tanh(x):
    """(e^2x - 1) / (e^2x + 1)"""
    return np.tanh(x)


@overload(tanh)
def _(x):
    if x != types.float32:
        return lambda x: np.tanh(x)

    def tanh32(x):
        z = x * x
        p = F(-5.70498872745e-3)
        p = p * z + F(2.06390887954e-2)
        p = p * z + F(-5.37397155531e-2)
        p = p * z + F(1.33314422036e-1)
        p = p * z + F(-3.33332819422e-1)
        near = p * z * x + x
        a = abs(x)
        far = F(1) - F(2) / (exp(a + a) + F(1))
        return near if a < F(0.625) else (-far if x < F(0) else far)

    return tanh32


def erf(x):
    """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x"""
    return math.erf(x)


@overload(erf)
def _(x):
    if x != types.float32:
        return lambda x: math.erf(x)

    def erf32(x):
        a = abs(x)
        t = F(1) / (F(1) + F(0.3275911) * a)
        p = F(1.061405429)
        p = p * t + F(-1.453152027)
        p = p * t + F(1.421413741)
        p = p * t + F(-0.284496736)
        p = p * t + F(0.254829592)
        far = F(1) - p * t * exp(-a * a)
        return -far if x < F(0) else far

    return erf32
