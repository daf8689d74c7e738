"""The command line: ``dtnn demo | lab | train | warmup | doctor | info | list | clean``."""

import argparse
import difflib
import importlib.util
import os
import shutil
import sys
from importlib import metadata
from pathlib import Path

from . import __version__

COMMANDS = ("demo", "lab", "train", "warmup", "doctor", "info", "list", "clean")
FORMATTER = argparse.ArgumentDefaultsHelpFormatter


def main(arguments=None):
    """Run a command of dtnn.

    Parameters
    ----------
    arguments : list of str, optional
        Those of the process without it.

    Returns
    -------
    int
        0 if all went well; 1 if not; 2 if the arguments were wrong; 130 after an interrupt.

    Examples
    --------
    >>> main(["--version"])
    dtnn 0.1.0
    0
    """
    try:
        asked = _parsed(sys.argv[1:] if arguments is None else arguments)
    except SystemExit as end:  # argparse has said what is to be said
        return end.code
    try:
        return asked.command(asked)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except PermissionError as error:
        print(f"dtnn: {error.filename}: {error.strerror.lower()}; give one that is open to you", file=sys.stderr)
        return 1
    except (RuntimeError, ValueError, TypeError, OSError) as error:
        print(f"dtnn: {error}", file=sys.stderr)
        return 1


def _parsed(arguments):
    """The arguments, or argparse's words and the end; of a misspelt command the nearest right one is named."""
    parser, first = _parser(), arguments[0] if arguments else "-"
    near = difflib.get_close_matches(first, COMMANDS, 1)
    if first not in COMMANDS and not first.startswith("-"):
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(COMMANDS)}"
        parser.error(f"there is no command {first!r}: {hint}")
    return parser.parse_args(arguments)


def _parser():
    parser = argparse.ArgumentParser("dtnn", description="Distributed deep learning for the classroom and the lab.")
    parser.add_argument("--version", dest="command", action="store_const", const=version, help="the version of dtnn")
    parser.set_defaults(command=lambda asked: parser.print_help() or 2)
    commands = parser.add_subparsers(metavar="COMMAND")
    add = commands.add_parser(
        "demo", help="train LeNet-5 on real digits on MPI engines of this machine", formatter_class=FORMATTER
    )
    add.add_argument("--ranks", type=_count, default=2, help="MPI engines to start")
    add.add_argument("--epochs", type=_count, default=10, help="passes over the 4,000 digits")
    add.add_argument("--out", type=Path, default=Path("dtnn-demo"), help="folder for the picture and the run's JSON")
    add.set_defaults(command=demo)
    add = commands.add_parser("lab", help="copy the notebooks to a folder of yours and open JupyterLab there")
    add.add_argument("folder", nargs="?", type=Path, default=Path("dtnn-notebooks"), help="where to (dtnn-notebooks)")
    add.add_argument("--copy-only", action="store_true", help="do not open JupyterLab")
    add.add_argument("jupyter", nargs="*", metavar="-- OPTION", help="options for JupyterLab, behind --: -- --no-browser")
    add.set_defaults(command=lab)
    _add_train(commands.add_parser("train", help="train without a notebook; under mpiexec, on all of its ranks"))
    add = commands.add_parser("warmup", help="compile the kernels now, so that nobody waits at a first step")
    add.add_argument("nets", nargs="*", metavar="NET", help="networks of dtnn.zoo; all of them, if none is named")
    add.add_argument(
        "--threads", type=_count, help="also for ranks with so many threads each (as two ranks would have on this machine)"
    )
    add.set_defaults(command=warmup)
    commands.add_parser("doctor", help="say what is installed and what is wrong").set_defaults(command=doctor)
    commands.add_parser("info", help="describe this machine").set_defaults(command=info)
    commands.add_parser("list", help="your clusters that run, or were left behind, on this host").set_defaults(command=clusters)
    add = commands.add_parser("clean", help="end what is left of clusters whose notebook or script is gone")
    add.add_argument("--all", action="store_true", help="end all your clusters on this host, those in use too")
    add.set_defaults(command=clean)
    return parser


def _add_train(add):
    """The arguments of ``dtnn train``; what is made by a call is written as that call, and never executed as code."""
    add.add_argument("model", help="a model's file (.npz), its description (.json), or a network of dtnn.zoo: lenet5")
    add.add_argument("--data", default="mnist5k", help="a data set of dtnn.data, or a .npz file of x_train ... (mnist5k)")
    add.add_argument("--out", type=Path, default=Path("dtnn-run"), help="folder for run.json and model.npz (dtnn-run)")
    add.add_argument("--epochs", type=_count, default=1, help="passes over the data (1)")
    add.add_argument("--batch-size", type=_count, help="samples a step over all ranks (32)")
    add.add_argument("--batch-size-per-rank", type=_count, help="or samples a step of each rank")
    add.add_argument("--optimizer", help='such as adam, or "SGD(cosine(0.1), momentum=0.9)"')
    add.add_argument("--loss", help="such as cross_entropy")
    add.add_argument("--metric", action="append", default=[], help="such as accuracy; may be given again")
    add.add_argument("--strategy", help='how ranks are kept together, such as "LocalSGD(8)"')
    add.add_argument("--callback", action="append", default=[], help="such as \"EarlyStopping('val_loss')\"; may be given again")
    add.add_argument("--layer", action="append", default=[], help="module:Class of a layer of yours; may be given again")
    add.add_argument("--seed", type=int, help="of the samples' order and of dropout (0)")
    add.add_argument("--no-validation", action="store_true", help="no evaluation after each epoch")
    add.add_argument("--deterministic", action="store_true", help="bit-equal from run to run")
    add.add_argument("--evaluate-first", action="store_true", help="also before the first epoch")
    add.add_argument("--resume", action="store_true", help="go on after the last epoch of the model's file, if it has one")
    add.add_argument("--ranks", type=_count, help="how many there have to be; fewer are an error")
    add.add_argument("--threads", type=_count, default=1, help="threads of each rank (1)")
    add.set_defaults(command=train)


def _count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


# ---- demo


def demo(asked):
    """The main job, see `dtnn.demo`."""
    from .demo import demo

    return demo(asked.ranks, asked.epochs, asked.out)


# ---- train


def train(asked):
    """Train without a notebook, see `dtnn.train_command`."""
    from .train_command import train

    return train(asked)


# ---- lab


def lab(asked):
    """Copy the notebooks, then open JupyterLab on them."""
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


# ---- warmup, doctor, info, version


def warmup(asked):
    """Fill the cache of compiled kernels, see `dtnn.warmup`."""
    from .warmup import warmup

    print(warmup(*asked.nets, threads=asked.threads, say=lambda text: print(text, flush=True)))
    return 0


def doctor(asked):
    """Print what is installed and what is wrong, one remedy a line; 1 if something is."""
    from .cluster.doctor import diagnose

    findings = diagnose()
    for finding in findings:
        print(finding)
    return 0 if all(finding.ok for finding in findings) else 1


def info(asked):
    """Print the description of this machine that results files carry."""
    from .machine import describe

    for name, value in {"dtnn": __version__, **describe()}.items():
        print(f"{name:14} {', '.join(map(str, value)) if isinstance(value, list) else value}")
    return 0


def version(asked):
    """Print the version."""
    print(f"dtnn {__version__}")
    return 0


# ---- list, clean


def clusters(asked):
    """Print this user's clusters on this host, a line each."""
    from .cluster import leftovers

    found = leftovers.found()
    print(leftovers.table(found) if found else "no clusters of yours on this host")
    if any(cluster.orphan for cluster in found):
        print("`dtnn clean` ends what was left behind")
    return 0


def clean(asked):
    """End what is left of clusters whose client is gone, or all; print what was ended, and what was left alone."""
    from .cluster import leftovers

    for cluster in leftovers.clean(asked.all):
        print(f"ended {cluster}")
    for cluster in leftovers.found():
        print(f"left  {cluster}" + (": `dtnn clean --all` ends it" if cluster.here else ""))
    return 0
