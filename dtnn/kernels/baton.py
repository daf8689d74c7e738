"""How threads hand each other work within compiled code: by a few numbers in memory that all of them see, the box.

A leader writes down a job, which is a function that does any part of it, and does part 0; each helper does the part of its
number.  What a helper hasn't begun when the leader is through with its own, the leader does, too.  So nobody waits for a helper
that sleeps, or is not there any more.  To pass a job on takes as long as a cache line from one core to another, some 60 ns.
"""

import os

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .cache import kernel
from .llvm import I32, I64, call

# Places in the box: the job's number, what is to be done, the leader's part, and that helpers are to end, written while
# the leader may be at work; then each helper's line, at its number times LINE.
JOB, FUNCTION, ARGUMENTS, PARTS, LEADER, ENDED = range(6)
ROOM = 512  # numbers, for a kernel's arguments
LINE = 16  # numbers: two cache lines, because processors fetch two at once
BEGUN, DONE = range(2)  # in a helper's line: the last job whose part was begun, by whomever, and the last whose part is done
PAUSES, LOOKS = 1_000, 20_000  # looks for work in a row until others may have the core between two, and until a helper sleeps
BYTES = ir.IntType(8).as_pointer()
PAUSE = {"x86_64": ("llvm.x86.sse2.pause",), "aarch64": ("llvm.aarch64.hint", I32(1))}  # what a processor has for it
DOES_PART = ir.FunctionType(ir.VoidType(), [BYTES, I64, I64])


@intrinsic
def job_of(_, body, arguments, room):
    """Put the arguments into `room`, int64; returns the address of a function that does any part of body(part, parts, *arguments)
    with what lies there, and the address of the room."""
    does = body.dispatcher

    def part_of(part, parts, arguments):
        does(part, parts, *arguments)

    def code(context, builder, signature, values):
        kind, inner = values[1].type.as_pointer(), types.none(types.intp, types.intp, arguments)
        if context.get_abi_sizeof(values[1].type) > 8 * ROOM:
            raise ValueError(f"the arguments of {does} need more room than {8 * ROOM} bytes")
        compiled = context.compile_subroutine(builder, part_of, inner)
        function = ir.Function(builder.module, DOES_PART, builder.module.get_unique_name("does_part"))
        function.linkage = "internal"
        function.attributes.add("noinline")  # one version for all parts, or their bits might depend on who does them
        inside = ir.IRBuilder(function.append_basic_block())
        place, part, parts = function.args
        given = inside.load(inside.bitcast(place, kind), align=8)
        context.call_internal_no_propagate(inside, compiled.fndesc, inner, [part, parts, given])
        inside.ret_void()
        lent = values[1]
        for n, each in enumerate(arguments):
            if isinstance(each, types.Array):
                lent = builder.insert_value(lent, lent_array(context, builder, each, builder.extract_value(lent, n)), n)
        data = context.make_array(room)(context, builder, values[2]).data
        builder.store(lent, builder.bitcast(data, kind), align=8)
        addresses = builder.ptrtoint(function, I64), builder.ptrtoint(data, I64)
        return context.make_tuple(builder, signature.return_type, addresses)

    return types.UniTuple(types.int64, 2)(body, arguments, room), code


def lent_array(context, builder, kind, array):
    """The array without its owner, whose count of holders ends with this call, and would be written by all threads."""
    lent = context.make_array(kind)(context, builder, array)
    lent.meminfo, lent.parent = lent.meminfo.type(None), lent.parent.type(None)
    return lent._getvalue()


@intrinsic
def do_part(_, function, arguments, part, parts):
    """Call what `job_of` has made."""

    def code(context, builder, signature, values):
        function = builder.inttoptr(values[0], DOES_PART.as_pointer())
        builder.call(function, [builder.inttoptr(values[1], BYTES), values[2], values[3]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), code


def place_in(context, builder, signature, values):
    """The address of a number in the box."""
    return builder.gep(context.make_array(signature.args[0])(context, builder, values[0]).data, [values[1]])


@intrinsic
def seen(_, box, at):
    """box[at], and whatever was written before it."""

    def code(context, builder, signature, values):
        return builder.load_atomic(place_in(context, builder, signature, values), "acquire", 8)

    return types.int64(box, types.int64), code


@intrinsic
def show(_, box, at, number):
    """box[at] = number, after whatever was written before."""

    def code(context, builder, signature, values):
        builder.store_atomic(values[2], place_in(context, builder, signature, values), "release", 8)
        return context.get_dummy_value()

    return types.void(box, types.int64, types.int64), code


@intrinsic
def swapped(_, box, at, old, new):
    """box[at] = new if it was old; whether it was.  One of several that try at once succeeds."""

    def code(context, builder, signature, values):
        place = place_in(context, builder, signature, values)
        return builder.extract_value(builder.cmpxchg(place, values[2], values[3], "acq_rel", "acquire"), 1)

    return types.boolean(box, types.int64, types.int64, types.int64), code


@intrinsic
def pause(_):
    """A moment in which the core does nothing."""

    def code(context, builder, signature, values):
        name, *arguments = PAUSE.get(builder.module.triple.split("-")[0], ("llvm.donothing",))
        call(builder, name, ir.VoidType(), arguments)
        return context.get_dummy_value()

    return types.void(), code


let_others = types.ExternalFunction("SwitchToThread" if os.name == "nt" else "sched_yield", types.int32())


@kernel
def wait_a_little(looks):
    """Between two looks; after many of them whoever else wants the core gets it."""
    if looks < PAUSES:
        pause()
    else:
        let_others()


@kernel
def begin(box, line, job):
    """Whether the caller is to do a helper's part of a job: nobody has begun it."""
    begun = seen(box, line + BEGUN)
    return begun < job and swapped(box, line + BEGUN, begun, job)


@kernel
def help_leader(box, helper):
    """Do a helper's part of every job, until there was none for a while."""
    line, last, looks = helper * LINE, np.int64(0), 0
    while looks < LOOKS:
        job = seen(box, JOB)
        if seen(box, ENDED):
            return
        if job == last:
            looks += 1
            wait_a_little(looks)
            continue
        function, arguments, parts = box[FUNCTION], box[ARGUMENTS], box[PARTS]
        if begin(box, line, job):  # if not, they may already be another job's
            if helper < parts:
                do_part(function, arguments, helper, parts)
            show(box, line + DONE, job)
        last, looks = job, 0


@kernel
def do_all(box, function, arguments, parts):
    """Do a job: show it to the helpers, do the leader's part, and those of helpers that haven't begun; wait for the others."""
    job = box[JOB] + 1
    box[FUNCTION], box[ARGUMENTS], box[PARTS] = function, arguments, parts
    show(box, JOB, job)
    do_part(function, arguments, seen(box, LEADER), parts)  # 0, but LLVM must not know, and make a version for it
    for helper in range(1, box.size // LINE):
        line, looks = helper * LINE, 0
        if begin(box, line, job):
            if helper < parts:
                do_part(function, arguments, helper, parts)
            continue
        while seen(box, line + DONE) != job:
            looks += 1
            wait_a_little(looks)


@kernel
def do_row(box, jobs):
    """Do one job after the other: (function, arguments, parts) of each."""
    for k in range(len(jobs)):
        do_all(box, jobs[k, 0], jobs[k, 1], jobs[k, 2])
