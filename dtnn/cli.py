"""The command line: ``dtnn demo | lab | train | warmup | doctor | info | list | clean``."""

import argparse
import difflib
import sys
from pathlib import Path

from . import __version__
from .train_options import add_train, count

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
    """What argparse has to know of all commands."""
    parser = argparse.ArgumentParser("dtnn", description="Distributed deep learning for the classroom and the lab.")
    parser.add_argument("--version", dest="command", action="store_const", const=version, help="the version of dtnn")
    parser.set_defaults(command=lambda asked: parser.print_help() or 2)
    commands = parser.add_subparsers(metavar="COMMAND")
    add = commands.add_parser(
        "demo", help="train LeNet-5 on real digits on MPI engines of this machine", formatter_class=FORMATTER
    )
    add.add_argument("--ranks", type=count, default=2, help="MPI engines to start")
    add.add_argument("--epochs", type=count, default=10, help="passes over the 4,000 digits")
    add.add_argument("--out", type=Path, default=Path("dtnn-demo"), help="folder for the picture and the run's JSON")
    add.set_defaults(command=demo)
    add = commands.add_parser("lab", help="copy the notebooks to a folder of yours and open JupyterLab there")
    add.add_argument("folder", nargs="?", type=Path, default=Path("dtnn-notebooks"), help="where to (dtnn-notebooks)")
    add.add_argument("--copy-only", action="store_true", help="do not open JupyterLab")
    add.add_argument("jupyter", nargs="*", metavar="-- OPTION", help="options for JupyterLab, behind --: -- --no-browser")
    add.set_defaults(command=lab)
    add = commands.add_parser("train", help="train without a notebook; under mpiexec, on all of its ranks")
    add_train(add)
    add.set_defaults(command=train)
    add = commands.add_parser("warmup", help="compile the kernels now, so that nobody waits at a first step")
    add.add_argument("nets", nargs="*", metavar="NET", help="networks of dtnn.zoo; all of them, if none is named")
    add.add_argument(
        "--threads", type=count, help="also for ranks with so many threads each (as two ranks would have on this machine)"
    )
    add.set_defaults(command=warmup)
    commands.add_parser("doctor", help="say what is installed and what is wrong").set_defaults(command=doctor)
    commands.add_parser("info", help="describe this machine").set_defaults(command=info)
    commands.add_parser("list", help="your clusters that run, or were left behind, on this host").set_defaults(command=clusters)
    add = commands.add_parser("clean", help="end what is left of clusters whose notebook or script is gone")
    add.add_argument("--all", action="store_true", help="end all your clusters on this host, those in use too")
    add.set_defaults(command=clean)
    return parser


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
    """Copy the notebooks, then open JupyterLab on them, see `dtnn.lab_command`."""
    from .lab_command import lab

    return lab(asked)


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
