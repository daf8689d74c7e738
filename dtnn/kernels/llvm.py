"""Building blocks of LLVM code for vectors of 16 float32: what `vector.py` and the tiles are made of.

Every function takes an llvmlite builder and appends instructions.  A place in memory is an address; addresses count floats.
"""

from llvmlite import ir
from numba.core import cgutils

from .cache import FLAGS

LANES = 16
F32, I32, I64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
VECTOR, MASK = ir.VectorType(F32, LANES), ir.VectorType(ir.IntType(1), LANES)
ZERO = ir.Constant(VECTOR, [0.0] * LANES)


def number(n):
    """A 64-bit integer constant."""
    return ir.Constant(I64, n)


def constant(c):
    """The same float in all lanes."""
    return ir.Constant(VECTOR, [c] * LANES)


def pointer(context, builder, array_type, array, index=None):
    """Address of the first element of a Numba array, or of one behind it."""
    data = context.make_array(array_type)(context, builder, array).data
    return data if index is None else builder.gep(data, [index])


def splat(builder, value):
    """One value in all lanes."""
    kind = ir.VectorType(value.type, LANES)
    nothing = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(nothing, value, I32(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(I32, LANES), [0] * LANES))


def shuffle(builder, x, y, lanes):
    """Pick 16 of the 32 lanes of x and y."""
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, LANES), lanes))


def call(builder, name, result, arguments):
    """Call one of LLVM's own functions."""
    function_type = ir.FunctionType(result, [a.type for a in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), arguments)


def fma(builder, a, b, c):
    """a b + c, rounded once."""
    return call(builder, "llvm.fma.v16f32", VECTOR, [a, b, c])


def fence(builder):
    """Nothing, but LLVM moves no load across it (it would load too early, and run out of registers), nor unrolls its loop."""
    nothing = builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True)
    nothing.attributes.add("convergent")


def load_at(builder, address):
    """16 floats from any address."""
    value = builder.load(builder.bitcast(address, VECTOR.as_pointer()))
    value.align = 4
    return value


def store_at(builder, value, address):
    """16 floats to any address."""
    builder.store(value, builder.bitcast(address, VECTOR.as_pointer())).align = 4


def prefetch(builder, address, write):
    """Ask for the cache line at an address, which will be read or written soon; any address will do."""
    pointer = builder.bitcast(address, ir.IntType(8).as_pointer())
    call(builder, "llvm.prefetch.p0", ir.VoidType(), [pointer, I32(int(write)), I32(3 if write else 2), I32(1)])


def first_lanes(builder, count):
    """Mask of the first `count` (64-bit, any sign) lanes."""
    ids = ir.Constant(ir.VectorType(I32, LANES), list(range(LANES)))
    return builder.icmp_signed("<", ids, splat(builder, builder.trunc(count, I32)))


def masked_load(builder, address, mask, other=ZERO):
    """The lanes of the mask from memory, which is not touched in the others."""
    address = builder.bitcast(address, VECTOR.as_pointer())
    return call(builder, "llvm.masked.load.v16f32.p0", VECTOR, [address, I32(4), mask, other])


def masked_store(builder, value, address, mask):
    """The lanes of the mask to memory."""
    address = builder.bitcast(address, VECTOR.as_pointer())
    call(builder, "llvm.masked.store.v16f32.p0", ir.VoidType(), [value, address, I32(4), mask])


def at_least(builder, value, floor):
    """max(value, floor); a NaN in value stays."""
    return builder.select(builder.fcmp_ordered("<", value, floor), floor, value)


def plus(builder, x, y):
    """x + y"""
    return builder.fadd(x, y, flags=FLAGS)


def minus(builder, x, y):
    """x - y"""
    return builder.fsub(x, y, flags=FLAGS)


def times(builder, c, x, y=None):
    """c x (+ y), c a Python number"""
    return builder.fmul(constant(c), x, flags=FLAGS) if y is None else fma(builder, constant(c), x, y)
