"""The disk cache: never stale, safe when many start cold, silent but for one note where nothing can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dtnn.kernels import cache

pytestmark = pytest.mark.processes

PACKAGE = Path(cache.__file__).parents[1]
TURN = """
import numpy as np
from dtnn.kernels.cache import compiling
from dtnn.kernels.turn_tile import turn
names = []
with compiling(lambda name, number: names.append((name, number))):
    x, y = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    turn(0, 1, x, 2, 3, y)
print(names, y.tolist())
"""
RELU = """
import numpy as np
from dtnn.kernels.activations import relu
from dtnn.kernels.cache import compiling
names = []
with compiling(lambda name, number: names.append((name, number))):
    x, y = np.arange(-1, 2, dtype=np.float32), np.zeros(3, np.float32)
    relu(x, y)
print(names, y.tolist())
"""
AROUND = """
import sys
from dtnn.kernels.activations import relu_pass
from dtnn.kernels.cache import kernel

print("numba.np.linalg" in sys.modules)

@kernel
def negative(x, y, zero):
    relu_pass(x, y, zero)
    for i in range(x.size):
        y[i] = -y[i]

negative(x, y, np.float32(0))
print("numba.np.linalg" in sys.modules, y.tolist())
"""
INTERRUPTED = """
from numba.core.codegen import CPUCodeLibrary

take = CPUCodeLibrary._object_compiled_hook.__func__

def interrupted(cls, module, code):
    if "relu_pass" in module.name and not seen:
        seen.append(module.name)
        raise KeyboardInterrupt  # a rank's job is interrupted while LLVM works: Python notices here, called back by it
    take(cls, module, code)

seen = []
CPUCodeLibrary._object_compiled_hook = classmethod(interrupted)
import numpy as np
from dtnn.kernels.activations import relu
x, y = np.arange(-1, 2, dtype=np.float32), np.zeros(3, np.float32)
try:
    relu(x, y)
except KeyboardInterrupt:
    print("interrupted", y.tolist())
relu(x, y)
print(y.tolist())
"""
INLINED = """
import numpy as np
from dtnn.kernels import normalization

x, one, zero = np.arange(4, dtype=np.float32).reshape(1, 4), np.ones(1, np.float32), np.zeros(1, np.float32)
sums, products = np.zeros(1, np.float32), np.zeros(1, np.float32)
normalization.gradient_sums(0, 1, x, one, zero, zero, one, x, False, False, x, sums, products, np.float32(0))
print(sums.tolist(), products.tolist(), len(normalization.gradient_sums.overloads), len(normalization.masked_sums.overloads))
"""
COMPILED, LOADED = "[('activations.relu_pass', 1)] [0.0, 0.0, 1.0]", "[] [0.0, 0.0, 1.0]"


def python(code, folder, path=PACKAGE.parent, stdin=None, **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DTNN", "NUMBA", "XDG"))}
    environment |= {"PYTHONPATH": str(path), "DTNN_CACHE_DIR": str(folder), **more}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=path,
    )


def finish(process):
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out.strip(), err


def test_compiled_once_on_a_machine(tmp_path):
    assert finish(python(RELU, tmp_path))[0] == COMPILED
    assert finish(python(RELU, tmp_path))[0] == LOADED


def test_what_comes_from_the_disk_needs_nothing_of_the_compilers(tmp_path):
    """That is 25 MB and 0.7 s a process; and it is there when something has to be compiled after all, around loaded kernels."""
    finish(python(RELU, tmp_path))
    assert finish(python(RELU + AROUND, tmp_path))[0].splitlines() == [LOADED, "False", "True [-0.0, -0.0, -1.0]"]


def test_an_edited_intrinsic_is_seen(tmp_path):
    copy = tmp_path / "dtnn"
    copy.mkdir()
    (copy / "__init__.py").write_text("")
    shutil.copytree(PACKAGE / "kernels", copy / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    before, _ = finish(python(TURN, tmp_path / "cache", tmp_path))
    llvm = copy / "kernels" / "llvm.py"  # turn_tile.py, whose code is cached, stays as it is
    text = llvm.read_text()
    assert "def shuffle(builder, x, y, lanes):" in text
    llvm.write_text(text.replace("def shuffle(builder, x, y, lanes):", "def shuffle(builder, y, x, lanes):"))
    after, _ = finish(python(TURN, tmp_path / "cache", tmp_path))
    assert before.startswith("[('turn_tile.turn', 1)] [0.0, 3.0,")
    assert after.startswith("[('turn_tile.turn', 1)]")
    assert after != before


@pytest.mark.slow
@pytest.mark.limit(120)
def test_many_processes_cold_at_once(tmp_path):
    running = [python(RELU, tmp_path) for _ in range(8)]  # case 79
    assert {finish(p)[0] for p in running} <= {COMPILED, LOADED}
    assert not [p for p in tmp_path.rglob("*") if p.name.startswith(".")]  # no half-written files stay


PROCESSES, ROUNDS = 8, 10
ROUND = """
import os, sys
import numpy as np
from dtnn.kernels import activations, cache, turn_tile

def cold():
    cache.folder.cache_clear()  # as a process that has only begun: it looks for the folder, and knows no machine code
    return [cache.kernel(function.py_func) for function in (activations.relu_pass, turn_tile.turn)]

print("ready", flush=True)
for line in sys.stdin:
    os.environ["DTNN_CACHE_DIR"], names = line.strip(), []
    relu, turn = cold()
    with cache.compiling(lambda name, number: names.append(name)):
        x, y = np.arange(-3, 3, dtype=np.float32), np.zeros(6, np.float32)
        relu(x, y, np.float32(0))
        turn(0, 1, x, 2, 3, z := np.zeros(6, np.float32))
    print(len(names), y.tolist(), z.tolist(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.limit(240)
def test_many_processes_cold_at_once_ten_times(tmp_path):  # case 79
    """Processes that stay begin each round together in an empty folder: the race, without ten times the imports."""
    running = [python(ROUND, tmp_path, stdin=subprocess.PIPE) for _ in range(PROCESSES)]
    try:
        assert [p.stdout.readline() for p in running] == ["ready\n"] * PROCESSES
        for number in range(ROUNDS):
            shared = tmp_path / str(number)
            for p in running:
                p.stdin.write(f"{shared}\n")
                p.stdin.flush()
            told = [p.stdout.readline().split(" ", 1) for p in running]
            assert {result for _, result in told} == {"[0.0, 0.0, 0.0, 0.0, 1.0, 2.0] [-3.0, 0.0, -2.0, 1.0, -1.0, 2.0]\n"}
            assert 2 <= sum(int(compiled) for compiled, _ in told) <= 2 * PROCESSES
            assert len(list(shared.rglob("*.kernel"))) == 2
            assert not [p for p in shared.rglob("*") if p.name.startswith(".")]
        rest = [finish(p) for p in running]  # ends their input, and so them
    finally:
        for p in running:
            p.kill()
    assert rest == [("", "")] * PROCESSES


@pytest.mark.parametrize("damage", [b"not a kernel", None])
def test_a_damaged_file_is_compiled_again(tmp_path, damage):
    finish(python(RELU, tmp_path))
    (file,) = tmp_path.rglob("activations.relu_pass*")
    file.write_bytes(file.read_bytes()[:-7] if damage is None else damage)
    assert finish(python(RELU, tmp_path))[0] == COMPILED
    assert finish(python(RELU, tmp_path))[0] == LOADED


@pytest.mark.parametrize("blocked", [False, True])
def test_an_interrupt_while_llvm_works_is_an_interrupt(tmp_path, blocked):
    """Not a RuntimeError of Numba's; the next call is right, and a process that comes later finds nothing half-made."""
    if blocked:
        (tmp_path / "file").write_text("")
    out, _ = finish(python(INTERRUPTED, tmp_path / "file" if blocked else tmp_path))
    assert out.splitlines() == ["interrupted [0.0, 0.0, 0.0]", "[0.0, 0.0, 1.0]"]
    if not blocked:
        assert finish(python(RELU, tmp_path))[0] == COMPILED


MANY_INTERRUPTS = """
import os, signal, threading, time
import numpy as np
from dtnn.kernels.activations import relu

inside, ended, caught, x, y = False, [], 0, np.arange(-1, 2, dtype=np.float32), np.zeros(3, np.float32)

def hit(*where):
    if inside:
        raise KeyboardInterrupt

def impatient():
    while not ended:
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, hit)
threading.Thread(target=impatient).start()
while not ended:
    try:
        inside = True
        relu(x, y)
        inside = False
        ended.append(True)
    except KeyboardInterrupt:
        inside = False
        caught += 1
relu(x, y)
print(caught > 0, y.tolist())
"""


def test_many_interrupts_while_the_first_kernel_is_compiled_break_nothing(tmp_path):
    """They count as one, when it is done: in the middle one could leave Numba half imported, and all that follows would fail."""
    out, _ = finish(python(MANY_INTERRUPTS, tmp_path))
    assert out == "True [0.0, 0.0, 1.0]"


def test_nothing_writable_is_one_note(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")  # case 80: no folder can be made below a file, not even by root
    out, err = finish(python(RELU, blocked / "cache"))
    assert out == COMPILED
    assert err.count("RuntimeWarning") == 1
    assert "set DTNN_CACHE_DIR to a folder that can be written" in err


def test_the_users_numba_cache_is_left_alone(tmp_path):
    finish(python(RELU, tmp_path / "own", NUMBA_CACHE_DIR=str(tmp_path / "users")))
    assert not (tmp_path / "users").exists()
    assert list((tmp_path / "own").rglob("*.kernel"))


def test_folder_follows_xdg(monkeypatch):
    monkeypatch.delenv("DTNN_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache.base() == Path("/somewhere/dtnn")
    monkeypatch.setenv("DTNN_CACHE_DIR", "/elsewhere")
    assert cache.base() == Path("/elsewhere")


def test_kernels_over_numbers_only_share_a_name_safely():
    def make(n):
        @cache.kernel
        def scaled(x):
            return x * n

        return scaled

    assert [make(n)(np.float64(1)) for n in (2, 3, 2)] == [2, 3, 2]


def test_what_is_inlined_is_not_compiled_by_itself(tmp_path):
    assert finish(python(INLINED, tmp_path))[0] == "[6.0] [14.0] 1 0"
