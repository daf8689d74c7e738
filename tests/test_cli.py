"""The command line: what it refuses, what it copies, what it reports."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from dtnn import cli, demo, lab_command


def test_version(capsys):
    import dtnn

    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"dtnn {dtnn.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "--ranks", "0"], ["--ranks", "'0'", "at least 1"]),
        (["demo", "--epochs", "two"], ["--epochs", "'two'", "whole number"]),
        (["dmeo"], ["'dmeo'", "did you mean 'demo'?"]),
        (["xyzzy"], ["'xyzzy'", "demo, lab, train, warmup, doctor, info, list, clean"]),
    ],
)
def test_mistakes_are_told(arguments, words, capsys):
    assert cli.main(arguments) == 2
    told = capsys.readouterr().err
    for word in words:
        assert word in told


def test_no_command_shows_help(capsys):
    assert cli.main([]) == 2
    assert "demo" in capsys.readouterr().out


@pytest.mark.processes
def test_python_minus_m_is_the_same_command():
    ran = subprocess.run([sys.executable, "-m", "dtnn", "--version"], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout.split()[0]) == (0, "dtnn")


def test_an_impossible_folder_is_told_before_the_training(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert cli.main(["demo", "--out", str(tmp_path / "file" / "out")]) == 1
    assert "file" in capsys.readouterr().err


def test_notebooks_are_copied_and_the_users_are_kept(tmp_path):
    names = [path.name for path in lab_command.notebooks().glob("*.ipynb")]
    assert "00_start.ipynb" in names
    assert set(lab_command.copy_notebooks(tmp_path / "mine")) == set(names)
    assert set(lab_command.copy_notebooks(tmp_path / "mine").values()) == {"there"}
    mine = tmp_path / "mine" / "00_start.ipynb"
    mine.write_text("my own work")
    assert lab_command.copy_notebooks(tmp_path / "mine")["00_start.ipynb"] == "kept"
    assert mine.read_text() == "my own work"


def test_lab_opens_jupyter_in_the_folder(tmp_path, monkeypatch, capsys):
    called = []
    monkeypatch.setattr(lab_command.os, "execv", lambda program, command: called.append(command))
    monkeypatch.setattr(lab_command.importlib.util, "find_spec", lambda name: object())
    cli.main(["lab", str(tmp_path), "--", "--no-browser"])
    assert called[0][:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={tmp_path}" in called[0]
    assert "--no-browser" in called[0]
    assert "copied" in capsys.readouterr().out


def test_lab_without_jupyterlab_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lab_command.importlib.util, "find_spec", lambda name: None)
    assert cli.main(["lab", str(tmp_path)]) == 1
    assert 'install "dtnn[lab]"' in capsys.readouterr().err


def test_without_mpi_the_demo_says_what_to_install_and_uses_threads(monkeypatch, capsys):

    class NoMPI:
        def __init__(self, ranks, launcher="mpi"):
            self.ranks, self.launcher = ranks, launcher

        def start(self):
            if self.launcher == "mpi":
                raise RuntimeError("no mpiexec was found")
            return self

    monkeypatch.setattr(demo, "Cluster", NoMPI)
    monkeypatch.setattr(demo, "_has_mpi", lambda: False)
    assert demo._cluster(2).launcher == "threads"
    told = capsys.readouterr().out
    assert "no mpiexec was found" in told
    assert 'install "dtnn[mpi]"' in told
    monkeypatch.setattr(demo, "_has_mpi", lambda: True)
    with pytest.raises(RuntimeError, match="no mpiexec"):  # with MPI there the reason is another, and is not covered up
        demo._cluster(2)


def test_doctor_fails_where_something_is_wrong(monkeypatch, capsys):
    doctor = pytest.importorskip("dtnn.cluster.doctor")
    monkeypatch.setattr(doctor, "diagnose", lambda: [SimpleNamespace(ok=True), SimpleNamespace(ok=False)])
    assert cli.main(["doctor"]) == 1
    monkeypatch.setattr(doctor, "diagnose", lambda: [SimpleNamespace(ok=True)])
    assert cli.main(["doctor"]) == 0


@pytest.mark.processes
@pytest.mark.limit(120)
def test_demo_on_threads_from_end_to_end(tmp_path):
    """The whole command in its own process, where no mpiexec can be found."""
    code = "import sys; from dtnn import cli, demo; demo._has_mpi = lambda: False\nimport dtnn.cluster.engines as e\n"
    code += "def no(*_): raise RuntimeError('no MPI')\ne.Engines.start = no\n"
    code += f"sys.exit(cli.main(['demo', '--epochs', '1', '--out', {str(tmp_path / 'out')!r}]))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert ran.returncode == 0, ran.stderr
    assert "test accuracy" in ran.stdout
    assert (tmp_path / "out" / "run.png").read_bytes()[1:4] == b"PNG"
    assert json.loads((tmp_path / "out" / "run.json").read_text())


def test_a_folder_that_is_somebody_elses_is_told_with_a_remedy(monkeypatch, capsys):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied", "theirs")

    monkeypatch.setattr(demo.Path, "mkdir", refused)
    assert cli.main(["demo", "--out", "theirs"]) == 1
    assert capsys.readouterr().err == "dtnn: theirs: permission denied; give one that is open to you\n"
