"""However busy a rank is, who ends a run has the notebook back within three seconds; the cluster stays."""

import time

import pytest

from .conftest import needs_mpi
from .soak import CLOCK, PATIENCE

pytestmark = [needs_mpi, pytest.mark.slow, pytest.mark.limit(180)]

ASKED = 3.0  # seconds


def holds_the_interpreter():
    """No other thread of the rank has its turn meanwhile, so it hears nothing."""
    sum(range(300_000_000))


def imports(path, name):
    """An interrupt in the middle of an import would leave half a module behind, so it waits."""
    import importlib
    import sys

    sys.path.insert(0, path)
    try:
        importlib.import_module(name)
    finally:
        sys.path.remove(path)


def compiles():
    """An interrupt would leave Numba's lock locked, so it waits, too."""
    import numba

    lines = "\n".join(f"    x[{number}] = x[{number + 1}] * {number}.5 + x[{number + 2}] / x[0]" for number in range(500))
    names = {}
    exec(f"def long(x):\n{lines}\n", names)
    numba.njit("(float64[:],)")(names["long"])


def one_is_busy(comm, busy, *args):
    """Rank 1 does something long, for which rank 0 waits."""
    yield "begun" if comm.rank == 0 else None
    if comm.rank == 1:
        busy(*args)
    comm.Barrier()
    while True:
        time.sleep(0.01)
        yield None


@pytest.mark.parametrize("ends", ["end", "interrupt"])
@pytest.mark.parametrize("busy", [holds_the_interpreter, imports, compiles])
def test_who_ends_a_run_is_free_soon(engines, tmp_path, busy, ends):
    name = f"takes_its_time_{ends}"
    (tmp_path / f"{name}.py").write_text("import time\nfor _ in range(80):\n    time.sleep(0.1)\n")
    run = engines.run(one_is_busy, busy, *([str(tmp_path), name] if busy is imports else []))
    next(iter(run))
    time.sleep(0.5)
    began = CLOCK.now()
    getattr(run, ends)()
    run.wait(PATIENCE)
    took = CLOCK.now() - began
    print(f"{busy.__name__}, {ends}: {took:.2f} s, not at an end: {run.stuck}")
    assert run.state == "interrupted"
    assert took < ASKED
    assert engines.run(lambda comm: comm.Allreduce(comm.rank + 1)).result(PATIENCE) == 3  # it waits until rank 1 is free
