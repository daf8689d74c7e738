"""`add_train`: what ``dtnn train`` can be told."""

import argparse
from pathlib import Path


def add_train(add):
    """The arguments of ``dtnn train``; what is made by a call is written as that call, and never executed as code."""
    add.add_argument("model", help="a model's file (.npz), its description (.json), or a network of dtnn.zoo: lenet5")
    add.add_argument("--data", default="mnist5k", help="a data set of dtnn.data, or a .npz file of x_train ... (mnist5k)")
    add.add_argument("--out", type=Path, default=Path("dtnn-run"), help="folder for run.json and model.npz (dtnn-run)")
    add.add_argument("--epochs", type=count, default=1, help="passes over the data (1)")
    add.add_argument("--batch-size", type=count, help="samples a step over all ranks (32)")
    add.add_argument("--batch-size-per-rank", type=count, help="or samples a step of each rank")
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
    add.add_argument("--ranks", type=count, help="how many there have to be; fewer are an error")
    add.add_argument("--threads", type=count, default=1, help="threads of each rank (1)")


def count(text):
    """A number of things on the command line.

    >>> count("3")
    3
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)
