"""How long does a sum over two ranks take, against a bare in-place Allreduce of MPI of the same bytes?

    python benchmarks/bench_allreduce.py [--sizes 4,247000,10000000] [--algorithms ring,rabenseifner] [--json file]

Starts itself again as two ranks under mpiexec. Each way takes its turn at each size: MPI's own call; the public communicator as
under mpiexec (blocking) and as on a notebook's cluster (polled, where ranks compare what they ask for and hear of failures);
the algorithms written in Python over Send, Recv and Sendrecv (blocking). Every sum is checked before anything is timed.
What is asked: of the public communicator at most 1.15 times the bare call for a flat gradient; of ring and Rabenseifner at most 2
times for 10 MB.
"""

import os
import sys

import numpy as np
from options import append, parser
from ranks import in_turn, is_rank, pin, under_mpiexec, where

GOALS = {"blocking": 1.15, "polled": 1.15}, {"ring": 2.0, "rabenseifner": 2.0}  # for a gradient's bytes, and for 10 MB
SIZES = 4, 1_000, 64_000, 247_000, 1_000_000, 10_000_000, 40_000_000  # bytes; 247 KB is LeNet-5's gradient


def ways(world, algorithms):
    """{name: function that sums an array over all ranks in place}"""
    from mpi4py import MPI

    from dtnn import comm

    blocking, polled = comm.MPI(world.Dup(), blocking=True), comm.MPI(world.Dup(), world.Dup())
    own = {name: getattr(comm.collectives, name) for name in algorithms}
    return {
        "bare": lambda array: world.Allreduce(MPI.IN_PLACE, array),
        "blocking": blocking.Allreduce,
        "polled": polled.Allreduce,
        **{name: lambda array, algorithm=algorithm: algorithm(blocking, array) for name, algorithm in own.items()},
    }


def check(world, name, way, count):
    """The sum is right in every place."""
    numbers = np.arange(count, dtype=np.float32) % 1000
    array = numbers * (world.rank + 1)
    way(array)
    if not np.array_equal(array, numbers * (world.size * (world.size + 1) // 2)):
        raise AssertionError(f"{name}: the sum of {count} numbers is wrong on rank {world.rank}")


def measure(world, size, algorithms, rounds, seconds):
    """A row: seconds of each way for one size."""
    count, found = max(1, size // 4), ways(world, algorithms)
    for name, way in found.items():
        check(world, name, way, count)
    arrays = {name: np.zeros(count, np.float32) for name in found}
    calls = {name: lambda way=way, array=arrays[name]: way(array) for name, way in found.items()}
    times = in_turn(world, calls, rounds, seconds)
    return {"bytes": 4 * count, "ranks": world.size, **{name: times[name].median for name in found}}


def show(row, first):
    """A line of the table: the bare call in microseconds, the others as multiples of it."""
    names = [name for name in row if name not in ("bytes", "ranks", "bare")]
    if first:
        print(f"{'bytes':>12} {'bare us':>10}" + "".join(f"{name:>20}" for name in names))
    cells = [f"{row[name] / row['bare']:.2f}x{asked(name, row['bytes'])}" for name in names]
    print(f"{row['bytes']:12,} {1e6 * row['bare']:10.1f}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def asked(name, size):
    """What is asked, in brackets."""
    gradient, large = GOALS
    goals = gradient | large if size == 10_000_000 else gradient if size >= 200_000 else {}
    return f" ({goals[name]})" if name in goals else ""


def rank(options):
    """What each rank does."""
    from mpi4py import MPI

    from dtnn.comm import collectives

    world = MPI.COMM_WORLD
    pinned = pin(world.rank, world.size)
    own = [name for name in collectives.ALGORITHMS if name != "native"]
    algorithms = own if options.algorithms is None else [name for name in options.algorithms.split(",") if name]
    if world.rank == 0:
        print(where(pinned, world.size), flush=True)
    for number, size in enumerate(options.sizes.split(",")):
        row = measure(world, int(size), algorithms, options.rounds, options.seconds)
        if world.rank == 0:
            show(row, number == 0)
            append(row, options.json)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--sizes", default=",".join(map(str, SIZES)), help="bytes")
    arguments.add_argument("--algorithms", help="left out: all that are written in Python")
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--seconds", type=float, default=0.05, help="length of a sample")
    options = arguments.parse_args()
    if is_rank():
        return rank(options)
    command, environment = under_mpiexec(2)
    os.execve(command[0], command, environment)


if __name__ == "__main__":
    sys.exit(main())
