"""What is installed is what is in the repository: setup.cfg, environment.yml, the hooks, and a wheel that is built and tried."""

import configparser
import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPEC = re.compile(r"(?P<name>[a-z0-9][a-z0-9_.-]*)(\[[a-z,]+\])?(?P<bounds>((>=|<)[0-9][0-9.]*)(,((>=|<)[0-9][0-9.]*))*)?")


def setup():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    return config


def requirements(*texts):
    """{name: bounds} of lists such as those in setup.cfg, without references to dtnn's own extras."""
    found = {}
    for line in "\n".join(texts).split("\n"):
        requirement = line.split(";")[0].split("#")[0].strip()
        if requirement and not requirement.startswith("dtnn["):
            match = SPEC.fullmatch(requirement)
            assert match, f"{requirement!r} is no requirement that we understand"
            found[match["name"]] = match["bounds"] or ""
    return found


# ---- the lists


def test_all_folders_are_packages():
    assert all((path.parent / "__init__.py").exists() for path in (ROOT / "dtnn").rglob("*.py"))


def test_all_data_files_are_listed():
    kinds = setup()["options.package_data"]
    for path in (ROOT / "dtnn").rglob("*"):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            patterns = kinds.get(".".join(path.parent.relative_to(ROOT).parts), "").split()
            assert any(path.match(pattern) for pattern in patterns), f"{path.relative_to(ROOT)} would be missing in a wheel"


def test_hard_dependencies():
    needed = requirements(setup()["options"]["install_requires"])
    assert set(needed) == {"numpy", "numba", "mpi4py", "ipyparallel", "ipywidgets", "matplotlib", "threadpoolctl", "tqdm"}
    assert all(bounds.startswith(">=") for bounds in needed.values())


def test_extras():
    extras = setup()["options.extras_require"]
    assert set(extras) == {"mpi", "lab", "test", "bench", "data", "io"}
    assert "dtnn[mpi]" in extras["lab"]
    assert "dtnn[lab,data]" in extras["test"]
    for extra in extras:
        requirements(extras[extra])


def test_versions_agree():
    import dtnn

    assert dtnn.__version__ == setup()["metadata"]["version"]


def test_pyproject_names_the_build_backend_and_nothing_else():
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    assert len(lines) == 3
    assert lines[0] == "[build-system]"


# ---- environment.yml, hooks


def test_environment_yml_asks_for_what_setup_cfg_asks_for():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert environment.keys() == {"name", "channels", "dependencies"}
    assert environment["channels"][0] == "conda-forge"
    *conda, pip = environment["dependencies"]
    assert pip == {"pip": ["-e ."]}
    assert all(SPEC.fullmatch(spec) for spec in conda)
    config = setup()
    extras = config["options.extras_require"]
    expected = requirements(config["options"]["install_requires"], extras["mpi"], extras["lab"])
    assert requirements(*conda) == {**expected, "python": config["options"]["python_requires"], "pip": ""}


def test_hooks_are_the_commands_of_ci():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    commands = {line.strip().removesuffix(' "$@" || {') for line in (ROOT / ".ci" / "run").read_text().splitlines()}
    assert {hook["id"] for hook in repository["hooks"]} == {"ruff-check", "ruff-format", "pytest"}
    for hook in repository["hooks"]:
        assert hook["entry"] in commands
        assert hook["language"] == "system"


# ---- a wheel


TRY = """
import importlib.metadata, json, pathlib, sys
import dtnn
from dtnn.lab_command import notebooks
from dtnn.data import mnist5k
home = pathlib.Path(dtnn.__file__).parent
command, = [e for e in importlib.metadata.distribution("dtnn").entry_points if e.name == "dtnn"]
print(json.dumps({
    "home": str(home),
    "digits": [len(mnist5k().train), len(mnist5k().test)],
    "notebooks": {path.name: json.loads(path.read_text())["nbformat"] for path in sorted(notebooks().glob("*.ipynb"))},
    "command": command.value,
}))
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the source archive and the wheel that is made from it; nothing is written beside the sources."""
    pytest.importorskip("build", reason="the package `build` is not installed")
    folder = tmp_path_factory.mktemp("built")
    ignored = shutil.ignore_patterns(".git", "__pycache__", "*.egg-info", "build", "dist", "venv", ".*_cache", "dtnn-demo")
    shutil.copytree(ROOT, folder / "source", ignore=ignored)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, folder / "source"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.processes
@pytest.mark.limit(120)
def test_wheel_holds_the_notebooks_and_the_digits(built):
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "dtnn/data/mnist5k.npz" in names
    whole = f"dtnn-{setup()['metadata']['version']}"
    notebooks = {f"{whole}.data/data/share/dtnn/notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert notebooks
    assert notebooks <= set(names)
    assert {name.split("/")[0] for name in names} == {"dtnn", f"{whole}.dist-info", f"{whole}.data"}
    assert any(name.endswith("licenses/LICENSE") or name.endswith("dist-info/LICENSE") for name in names)
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "dtnn").rglob("*.py")}
    assert sources == {name for name in names if name.startswith("dtnn/") and name.endswith(".py")}


@pytest.mark.processes
@pytest.mark.limit(120)
def test_source_archive_holds_the_tests(built):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.split("/", 1)[-1] for name in opened.getnames()}
    assert {"tests/conftest.py", "setup.cfg", "pyproject.toml", "environment.yml", "tools/make_mnist5k.py"} <= names


@pytest.mark.processes
@pytest.mark.limit(120)
def test_wheel_works_where_the_sources_are_not(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    def run(*command):
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=True).stdout

    # What dtnn needs is borrowed from the environment of the tests: a path in a .pth file, which brings no editable dtnn along.
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (site / "borrowed.pth").write_text("\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--ignore-installed", wheel)
    told = json.loads(run(python, "-c", TRY))
    assert Path(told["home"]) == site / "dtnn"
    assert told["digits"] == [4000, 1000]
    assert set(told["notebooks"]) == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert set(told["notebooks"].values()) == {4}
    assert told["command"] == "dtnn.cli:main"
    assert (python.parent / "dtnn").exists() or (python.parent / "dtnn.exe").exists()


@pytest.mark.processes
@pytest.mark.limit(120)
def test_an_editable_installation_is_found_from_the_folder_above(built, tmp_path):
    """There the copy of the project is itself a folder called dtnn, which must not be taken for the package."""
    shutil.copytree(built / "source", tmp_path / "dtnn")
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    def run(*command):
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path, check=True).stdout

    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (site / "borrowed.pth").write_text("\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}))
    options = ["--quiet", "--no-index", "--no-deps", "--ignore-installed", "--no-build-isolation"]
    run(python, "-m", "pip", "install", *options, "-e", "dtnn")
    told = run(python, "-c", "import dtnn; print(dtnn.__file__, dtnn.Cluster.__name__)")
    assert told.split() == [str(tmp_path / "dtnn" / "dtnn" / "__init__.py"), "Cluster"]
