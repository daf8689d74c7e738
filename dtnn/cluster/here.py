"""The clusters of this notebook.

A cell that is run twice uses the one that runs; a new kernel hears what became of the last one's.
"""

import contextlib
import hashlib
import os
import weakref

from .. import phrases
from ..shell import shell
from . import folder, leftovers, signature, watchdog

CLUSTERS = weakref.WeakSet()  # those of this process that have been started


def session():
    """A short name for this notebook, the same for each of its kernels; "" where there is none."""
    notebook = shell()
    if notebook is None:
        return ""
    name = os.environ.get("JPY_SESSION_NAME") or notebook.user_ns.get("__vsc_ipynb_file__") or os.getcwd()
    return hashlib.sha256(str(name).encode()).hexdigest()[:12]


def same(cluster):
    """What runs here and was started with the arguments of `cluster`, and a word about it; or None, and a word about others.

    Scripts and ranks as threads start what they ask for: the first know what they do, the second have nothing to leave behind.
    """
    if shell() is None or cluster.launcher == "threads":
        return None, ""
    others = [other for other in CLUSTERS if other is not cluster and other.state == "running" and other.launcher != "threads"]
    for other in others:
        if other._started.asked == cluster._asked:
            return other._started, _used_again(other)
    return None, " ".join(map(_beside, others))


def called(name=None):
    """The cluster of this process that may outlive it and whose folder is called so, or the only one; None if there is none."""
    ours = {other._crew.folder: other for other in CLUSTERS if other.state == "running" and other._asked.keep_alive}
    found = [other for path, other in ours.items() if name in (None, path, os.path.basename(path))]
    return found[0] if len(found) == 1 else None


def word_of_the_last_kernel():
    """What became of the cluster of this notebook's kernel before this one; "" if there was none. Told once."""
    name = session()
    place = folder.place()
    leftovers.forget_old_words()
    ends = [_took_note(os.path.join(place, watchdog.note_of(name)))] if name else []
    ends += [signature.signed(path) for path in folder.clusters(place) if name and _is_being_stopped(path, name)]
    recent = [values for values in ends if isinstance(values.get("ranks"), int)]
    if not recent:
        return ""
    size = phrases.ranks(recent[0]["ranks"])
    return (
        f"The cluster of this notebook's earlier kernel ({size}) was stopped when that kernel ended. "
        'Cluster(..., keep_alive="2h") lets one outlive its kernel, and Cluster.attach() finds it again.'
    )


def _used_again(other):
    how = phrases.age(other._started.since)
    return (
        f"A cluster like this one runs here already, since {how}: it is used again. stop() ends it, restart() starts a new one."
    )


def _beside(other):
    name = _name(other)
    end = f"{name}.stop() ends it, and so does giving {name} another value." if name else "It ends when nothing refers to it."
    return f"Another cluster runs here, too: {phrases.ranks(other.ranks)} ({other._asked.kind}). {end}"


def _name(cluster):
    """What the notebook calls a cluster."""
    names = [name for name, value in shell().user_ns.items() if value is cluster]
    return min(names, key=lambda name: name.startswith("_"), default="")


def _is_being_stopped(path, name):
    values = signature.signed(path)
    return values.get("session") == name and signature.client(path, values) is None


def _took_note(path):
    """What a watchdog has noted, and no note any more."""
    values = signature.read(path)
    with contextlib.suppress(OSError):
        os.unlink(path)
    return values
