"""How fast is each operation of a convolution?  GF/s of dtnn's algorithms and PyTorch's, beside the processor's peak.

    python benchmarks/bench_conv.py [--shapes r16,l2] [--batch 64] [--json file]

Every result is compared with the plain loops before it is timed.  One thread.  The last columns say which share of the peak,
measured in the same run, dtnn's own algorithms reach (Winograd, which needs fewer multiplications, may be above 1); in brackets
what the direct one should.
"""

import platform

import numpy as np
from options import append, parser
from peak import fma_peak
from timer import compare

from dtnn.kernels import conv_direct, conv_im2col, conv_plain, conv_winograd
from dtnn.kernels.aligned import aligned
from dtnn.kernels.conv_plan import Window

# name: channels, height = width, filters, kernel, stride, padding
SHAPES = {
    "sc1": (1, 28, 4, 3, 1, 1), "sc2": (4, 28, 4, 3, 1, 1), "l1": (1, 28, 6, 5, 1, 2), "l2": (6, 14, 16, 5, 1, 0),
    "r3": (3, 32, 16, 3, 1, 1), "r16": (16, 32, 16, 3, 1, 1), "r32": (32, 16, 32, 3, 1, 1), "r64": (64, 8, 64, 3, 1, 1),
    "s32": (16, 32, 32, 3, 2, 1), "s64": (32, 16, 64, 3, 2, 1), "p32": (16, 32, 32, 1, 2, 0),
    "v2": (64, 16, 128, 3, 1, 1), "v3": (128, 8, 256, 3, 1, 1), "v4": (256, 8, 256, 3, 1, 1), "v5": (512, 2, 512, 3, 1, 1),
}  # fmt: skip
GOALS = {(name, "forward"): 0.7 for name in ("r16", "r32", "r64")}  # direct / peak: 3 x 3 on 16, 32 and 64 channels


def random(rng, *shape):
    out = aligned(shape)
    out[...] = rng.standard_normal(shape)
    return out


def own(shape, batch):
    """{(algorithm, operation): function} of dtnn, checked."""
    C, H, M, K, S, P = shape
    rng, window, O = np.random.default_rng(0), Window((S, S), (P, P)), (H + 2 * P - K) // S + 1
    x, w, dy, y, dw, dx = (
        random(rng, *s) for s in ((C, H, H, batch), (M, C, K, K), *[(M, O, O, batch)] * 2, (M, C, K, K), (C, H, H, batch))
    )
    algorithms = {"direct": conv_direct, "im2col": conv_im2col}
    if conv_winograd.suits(w.shape, window):
        algorithms["winograd"] = conv_winograd
    check(algorithms, x, w, dy, window)
    functions = {}
    for name, algorithm in algorithms.items():
        functions[name, "forward"] = lambda a=algorithm: a.forward(x, w, None, y, window)
        functions[name, "data"] = lambda a=algorithm: a.data_gradient(dy, w, dx, window)
        functions[name, "filter"] = lambda a=algorithm: a.filter_gradient(x, dy, None, dw, None, window)
    return functions


def check(algorithms, x, w, dy, window):
    """All algorithms against the plain loops in float64, on the first 5 images (and the whole batch against each other)."""
    part = [np.ascontiguousarray(a[..., :5]) for a in (x, dy)]
    expected = results(conv_plain, part[0].astype(float), w.astype(float), part[1].astype(float), window)
    whole = results(conv_direct, x, w, dy, window)
    for name, algorithm in algorithms.items():
        for found, right in (
            *zip(results(algorithm, part[0], w, part[1], window), expected),
            *zip(results(algorithm, x, w, dy, window), whole),
        ):
            error = np.abs(found - right).max() / np.abs(right).max()
            assert error < 1e-4, f"{name} is wrong by {error:.1e} of the largest number"


def results(algorithm, x, w, dy, window):
    y, dx, dw = np.empty_like(dy), np.empty_like(x), np.zeros_like(w)
    algorithm.forward(x, w, None, y, window)
    algorithm.data_gradient(dy.copy(), w, dx, window)
    algorithm.filter_gradient(x, dy.copy(), None, dw, None, window)
    return y, dx, dw


def torchs(shape, batch):
    """The same of PyTorch, in both of its layouts; nothing where it is not installed."""
    try:
        import torch
    except ImportError:
        return {}
    torch.set_num_threads(1)
    C, H, M, K, S, P = shape
    O, functions = (H + 2 * P - K) // S + 1, {}
    for layout, form in (("torch", torch.contiguous_format), ("channels_last", torch.channels_last)):
        x, w, d = (torch.randn(*s).to(memory_format=form) for s in ((batch, C, H, H), (M, C, K, K), (batch, M, O, O)))

        def backward(mask, x=x, w=w, d=d):
            return torch.ops.aten.convolution_backward(d, x, w, [M], [S, S], [P, P], [1, 1], False, [0, 0], 1, mask)

        functions[layout, "forward"] = lambda x=x, w=w: torch.nn.functional.conv2d(x, w, None, S, P)
        functions[layout, "data"] = lambda backward=backward: backward([True, False, False])
        functions[layout, "filter"] = lambda backward=backward: backward([False, True, False])
    return functions


def measure(name, batch, rounds=7):
    """One row for each algorithm and operation: GF/s (padded taps counted)."""
    C, H, M, K, S, P = shape = SHAPES[name]
    operations = 2 * batch * ((H + 2 * P - K) // S + 1) ** 2 * M * C * K * K
    times = compare(own(shape, batch) | torchs(shape, batch), rounds, 0.02, 8)
    return [
        {
            "shape": name,
            "algorithm": a,
            "operation": o,
            "gflops": operations / t.median / 1e9,
            "seconds": t.median,
            "kept": t.kept,
        }
        for (a, o), t in times.items()
    ]


def line(name, operation, found, peak):
    """GF/s of all, and what those of dtnn are of the peak."""
    goal = f" ({GOALS[name, operation]:.2f})" if (name, operation) in GOALS else ""
    shares = {a: f"{a} {found[a] / peak:.2f}" for a in ("direct", "winograd") if a in found}
    text = f"     {operation:8}" + "".join(f"{a:>14} {g:4.0f}" for a, g in found.items())
    return f"{text}   of peak: {shares.pop('direct')}{goal}" + "".join(f", {share}" for share in shares.values())


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--shapes", default=",".join(SHAPES))
    arguments.add_argument("--batch", type=int, default=64)
    arguments.add_argument("--rounds", type=int, default=7)
    options = arguments.parse_args()
    peak = fma_peak() / 1e9
    print(f"{platform.processor() or platform.machine()}: multiply-add peak {peak:.0f} GF/s, batch {options.batch}, one thread")
    for name in options.shapes.split(","):
        rows = measure(name, options.batch, options.rounds)
        print(f"{name:4} {SHAPES[name]}")
        for operation in ("forward", "data", "filter"):
            print(line(name, operation, {r["algorithm"]: r["gflops"] for r in rows if r["operation"] == operation}, peak))
        for row in rows:
            share, goal = row["gflops"] / peak, GOALS.get((name, row["operation"])) if row["algorithm"] == "direct" else None
            append({**row, "peak": peak, "batch": options.batch, "of_peak": share, "goal": goal}, options.json)


if __name__ == "__main__":
    main()
