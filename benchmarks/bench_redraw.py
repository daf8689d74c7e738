"""How long does each picture of the lab take to be drawn again, at its largest, and how long a click in the builder?

    python benchmarks/bench_redraw.py [--rounds 20] [--only ranks]

Milliseconds from new numbers to the bytes of the PNG (of a click: to the updated list), median and largest; the bound is 60 ms.
On a machine that does other things the processor's time tells more.
"""

import statistics
import time

from options import append, parser
from pictures import KINDS

BOUND = 60  # milliseconds


def measure(kind, rounds):
    """One row, in milliseconds."""
    again, spent, worked = KINDS[kind](), [], []
    again()
    for _ in range(rounds):
        begin, began = time.perf_counter(), time.process_time()
        again()
        spent.append(1000 * (time.perf_counter() - begin))
        worked.append(1000 * (time.process_time() - began))
    figures = {"median_ms": statistics.median(spent), "largest_ms": max(spent), "processor_ms": statistics.median(worked)}
    return {"what": kind, **figures, "rounds": rounds}


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=20)
    arguments.add_argument("--only", default="", help="those with this word in their name")
    options = arguments.parse_args()
    for kind in (kind for kind in KINDS if options.only in kind):
        row = measure(kind, options.rounds)
        word = "" if row["median_ms"] <= BOUND else f"  more than {BOUND} ms"
        took = f"{row['median_ms']:6.1f} ms, at most {row['largest_ms']:6.1f}, of the processor {row['processor_ms']:6.1f}"
        print(f"{kind:28} {took}{word}", flush=True)
        append(row, options.json)


if __name__ == "__main__":
    main()
