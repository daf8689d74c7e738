"""16 float32 values in a register, for Numba code: `load`, `store`, `add`, `larger` ...

Code that says "16 images at once" explicitly gets 512-bit instructions where the machine has them; loops left to
LLVM's vectoriser get 256-bit ones.  An index counts floats in a flat, C-contiguous array.  The `_first` forms touch only
the first lanes of memory, for the end of a batch.

(A vector must not be returned from an ordinary kernel: where LLVM does not inline it, it goes through memory.  So what
returns one is an intrinsic.)
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from .cache import FLAGS
from .llvm import F32, VECTOR, ZERO, at_least, first_lanes, load_at, masked_load, masked_store, pointer, splat, store_at


class Vector(types.Type):
    """Numba's name for <16 x float>."""

    def __init__(self):
        super().__init__(name="Vector16")


vector = Vector()


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    """It is what LLVM says it is."""

    def __init__(self, manager, fe_type):
        super().__init__(manager, fe_type, VECTOR)


@intrinsic
def load(_, a, i):
    """a[i : i+16]"""

    def code(c, b, s, v):
        return load_at(b, pointer(c, b, s.args[0], v[0], v[1]))

    return vector(a, types.intp), code


@intrinsic
def load_first(_, a, i, count):
    """a[i : i+count], zeros in the other lanes."""

    def code(c, b, s, v):
        return masked_load(b, pointer(c, b, s.args[0], v[0], v[1]), first_lanes(b, v[2]))

    return vector(a, types.intp, types.intp), code


@intrinsic
def store(_, a, i, x):
    """a[i : i+16] = x"""

    def code(c, b, s, v):
        store_at(b, v[2], pointer(c, b, s.args[0], v[0], v[1]))
        return c.get_dummy_value()

    return types.void(a, types.intp, vector), code


@intrinsic
def store_first(_, a, i, x, count):
    """a[i : i+count] = the first lanes of x"""

    def code(c, b, s, v):
        masked_store(b, v[2], pointer(c, b, s.args[0], v[0], v[1]), first_lanes(b, v[3]))
        return c.get_dummy_value()

    return types.void(a, types.intp, vector, types.intp), code


@intrinsic
def spread(_, x):
    """One number in all lanes."""

    def code(c, b, s, v):
        return splat(b, v[0])

    return vector(types.float32), code


@intrinsic
def zero(_):
    """0 in all lanes."""

    def code(c, b, s, v):
        return ZERO

    return vector(), code


def binary(build):
    """An intrinsic of two vectors; `build(builder, x, y)` makes the code."""

    @intrinsic
    def function(_, x, y):
        def code(c, b, s, v):
            return build(b, *v)

        return vector(vector, vector), code

    return function


def keep_nan(b, second_wins, x, y):
    """y where it wins or is NaN, else x."""
    return b.select(b.or_(second_wins, b.fcmp_unordered("uno", y, y)), y, x)


add = binary(lambda b, x, y: b.fadd(x, y, flags=FLAGS))
multiply = binary(lambda b, x, y: b.fmul(x, y, flags=FLAGS))
larger = binary(lambda b, x, y: keep_nan(b, b.fcmp_ordered(">=", y, x), x, y))  # NaN if one of them is
where_positive = binary(lambda b, z, x: b.select(b.fcmp_ordered(">", z, ZERO), x, ZERO))  # x where z > 0, else 0


def comparing(build):
    """An intrinsic (x, y, d): d where x >= y (or both are NaN) goes to build(builder, where, d)."""

    @intrinsic
    def function(_, x, y, d):
        def code(c, b, s, v):
            both_nan = b.and_(b.fcmp_unordered("uno", v[0], v[0]), b.fcmp_unordered("uno", v[1], v[1]))
            return build(b, b.or_(b.fcmp_ordered(">=", v[0], v[1]), both_nan), v[2])

        return vector(vector, vector, vector), code

    return function


where_at_least = comparing(lambda b, where, d: b.select(where, d, ZERO))  # d where x >= y, else 0
where_below = comparing(lambda b, where, d: b.select(where, ZERO, d))  # d elsewhere


@intrinsic
def not_below(_, x, floor):
    """max(x, floor), floor a number; a NaN stays."""

    def code(c, b, s, v):
        return at_least(b, v[0], splat(b, v[1]))

    return vector(vector, types.float32), code


@intrinsic
def total(_, x):
    """Sum of the lanes."""

    def code(c, b, s, v):
        kind = ir.FunctionType(F32, [F32, VECTOR])
        function = cgutils.get_or_insert_function(b.module, kind, "llvm.vector.reduce.fadd.v16f32")
        return b.call(function, [ir.Constant(F32, 0.0), v[0]], fastmath=FLAGS)

    return types.float32(vector), code
