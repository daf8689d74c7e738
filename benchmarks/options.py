"""What every benchmark may be told, and where it writes what it found."""

import argparse
import json


def parser(doc):
    """A parser for the command line of a benchmark with this docstring: it knows ``--json file``."""
    made = argparse.ArgumentParser(description=doc.splitlines()[0])
    made.add_argument("--json", help="append what was found to this file, one JSON object a line")
    return made


def append(row, file):
    """Write a row as a line at the end of the file that ``--json`` named, if it did."""
    if file:
        with open(file, "a") as opened:
            opened.write(json.dumps(row) + "\n")
