"""Imports point downwards only, and `import dtnn` stays light: the walls of the house, checked."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import dtnn

ROOT = Path(dtnn.__file__).parent

# What each room may import of dtnn, floor by floor. A name that stands for a room includes all of its files.
GROUND = {"phrases", "kernels", "records", "commands", "machine", "named", "whole_file", "allowed", "absent", "sentence", "shell"}
FIRST = {"nn", "comm", "data", "plots", "gradients", "tracing", "explain", "history", "inject"}
SECOND = {"optim", "parallel"}
THIRD = {"training", "cluster"}
MAY_IMPORT = {
    "kernels": {"machine"},
    "allowed": set(),
    "absent": set(),
    "sentence": set(),
    "shell": set(),
    "records": {"allowed"},
    "commands": {"allowed", "records"},
    "machine": {"allowed"},
    "named": set(),
    "nn": {"absent", "allowed", "kernels"},
    "comm": {"allowed", "records", "machine"},
    "data": {"absent", "allowed", "kernels"},
    "tracing": {"allowed", "records", "whole_file"},
    "phrases": set(),
    "plots": {"allowed", "phrases", "records", "sentence", "shell", "tracing"},
    "explain": {"allowed", "phrases", "records", "tracing"},
    "history": {"allowed", "records", "plots", "explain"},
    "gradients": {"allowed", "records", "plots"},
    "injection": {"comm"},
    "inject": {"allowed", "injection"},
    "optim": {"absent", "allowed", "nn", "kernels"},
    "parallel": {"absent", "allowed", "nn", "comm", "records"},
    "training": {
        "allowed",
        "nn",
        "optim",
        "data",
        "comm",
        "parallel",
        "gradients",
        "records",
        "commands",
        "kernels",
        "machine",
        "named",
        "sentence",
    },
    "cluster": {
        "allowed",
        "comm",
        "inject",
        "gradients",
        "phrases",
        "records",
        "sentence",
        "shell",
        "commands",
        "machine",
        "history",
        "plots",
        "tracing",
        "explain",
        "named",
        "whole_file",
    },
    "same_run": {"records"},
    "comparison": {"allowed", "nn", "records", "history", "cluster", "plots", "same_run"},
    "description": GROUND | FIRST,
    "spelled": set(),
    "recipe": GROUND | FIRST | SECOND | {"training", "description", "spelled"},
    "whole_file": {"allowed"},
    "arrays_file": {"allowed"},
    "weights": {"allowed", "whole_file", "arrays_file"},
    "reuse": {"nn"},
    "input_shape": {"allowed"},
    "known": {"allowed", "comm", "nn", "optim", "parallel", "named"},
    "advice": {"nn"},
    "fitting": GROUND | FIRST | SECOND | THIRD | {"advice", "known", "recipe"},
    "readiness": {"nn"},
    "evaluating": {"comm", "data", "known", "training"},
    "learnt": set(),
    "running": GROUND | FIRST | SECOND | THIRD | {"known"},
    "model": GROUND
    | FIRST
    | SECOND
    | THIRD
    | {"description", "evaluating", "fitting", "input_shape", "learnt", "readiness", "reuse", "running", "model_file", "known"},
    "model_file": {"allowed", "nn", "description", "model", "training", "weights"},
    "check": GROUND | FIRST | SECOND | THIRD | {"known", "model"},
    "views": {"allowed", "nn", "data", "plots", "training"},
    "scaling": GROUND | FIRST | SECOND | THIRD | {"known", "model", "fitting"},
    "zoo": {"absent", "allowed", "nn", "model"},
    "warmup": GROUND | FIRST | SECOND | THIRD | {"known", "model", "zoo"},
    "lab": None,  # anything
    "cli": None,
    "demo": None,
    "train_command": None,
    "train_options": set(),
    "lab_command": set(),
    "told": None,
    "__main__": None,
}


def room_of(path):
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imports_of_dtnn(path):
    """The rooms of dtnn that a file imports, wherever in the file."""
    package = ["dtnn", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = base + (node.module.split(".") if node.module else [])
            names = [module + [alias.name] for alias in node.names] if module == ["dtnn"] else [module]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        else:
            continue
        yield from (name[1] for name in names if name[0] == "dtnn" and len(name) > 1)


FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} is a new room: say in this test what it may import"
    if MAY_IMPORT[room] is None:
        return
    wrong = (
        {name for name in imports_of_dtnn(path) if (ROOT / name).is_dir() or (ROOT / f"{name}.py").exists()}
        - MAY_IMPORT[room]
        - {room}
    )
    assert not wrong, f"{path.relative_to(ROOT)} imports {sorted(wrong)}, which are not below {room}"


def test_the_test_sees_an_import_that_points_upwards(tmp_path):
    file = ROOT / "kernels" / "pretended.py"
    source = "from ..nn import Linear\nimport dtnn.model\nfrom dtnn import zoo\n"
    original = Path.read_text
    Path.read_text = lambda self, *a, **k: source if self == file else original(self, *a, **k)
    try:
        assert set(imports_of_dtnn(file)) == {"nn", "model", "zoo"}
    finally:
        Path.read_text = original


@pytest.mark.processes
@pytest.mark.parametrize(
    "statement", ["import dtnn", "import dtnn; dtnn.Model", "import dtnn; dtnn.comm, dtnn.cluster; dtnn.Cluster"]
)
def test_import_is_light(statement):
    heavy = "mpi4py", "ipyparallel", "matplotlib", "ipywidgets", "IPython"
    code = f"{statement}\nimport sys; print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == "[]"


def test_the_table_of_contents_is_right():
    assert all(getattr(dtnn, name) is not None for name in dtnn.__all__)
    with pytest.raises(AttributeError, match=r"dtnn has no 'Modell': did you mean Model\?"):
        dtnn.Modell  # noqa: B018
