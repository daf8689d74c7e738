"""`dtnn lab`: the notebooks in a folder of the user's, open in JupyterLab."""

import importlib.util
import os
import shutil
import sys
from importlib import metadata
from pathlib import Path


def lab(asked):
    """Copy the notebooks, then open JupyterLab on them.

    Parameters
    ----------
    asked : namespace
        The command line's arguments, see `dtnn.cli`.
    """
    if not asked.copy_only and importlib.util.find_spec("jupyterlab") is None:
        raise RuntimeError('JupyterLab is not installed; install it with:  python -m pip install "dtnn[lab]"')
    for name, what in copy_notebooks(asked.folder).items():
        print(f"{what:8} {asked.folder / name}", flush=True)
    if asked.copy_only:
        return 0
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={asked.folder.resolve()}", *asked.jupyter]
    os.execv(sys.executable, [*command, "--LabApp.default_url=/lab/tree/00_start.ipynb"])  # a signal to us is one to it


def copy_notebooks(folder):
    """Copy dtnn's notebooks into a folder; one that is there and differs is the user's work, and stays.

    Parameters
    ----------
    folder : path
        Made where it isn't.

    Returns
    -------
    dict
        For each notebook's name "copied", "there" (the same already) or "kept" (the user's own version).
    """
    folder, done = Path(folder), {}
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(notebooks().glob("*.ipynb")):
        target = folder / source.name
        if not target.exists():
            shutil.copyfile(source, target)
            done[source.name] = "copied"
        else:
            done[source.name] = "there" if target.read_bytes() == source.read_bytes() else "kept"
    return done


def notebooks():
    """The folder of the notebooks: beside the package in a copy of the project, else where its installation put them."""
    beside = Path(__file__).parent.parent / "notebooks"
    if (beside / "00_start.ipynb").exists():
        return beside
    files = metadata.files("dtnn") or ()
    found = next((Path(file.locate()).resolve().parent for file in files if file.name == "00_start.ipynb"), None)
    if found is None or not found.exists():
        raise RuntimeError(f"no notebooks in {beside} nor where dtnn is installed: install it again, or use the project's folder")
    return found
