"""Attaching to a cluster that has outlived its client: which one, and its run."""

import functools
import os
import platform

from . import here, leftovers, signature, waiting
from .asked import again
from .run import Run
from .started import Started


def attach(cls, name=None, timeout=60.0, on_wait=None):
    """The cluster that has outlived its notebook's kernel, or its script: with its run, and all that has told so far.

    Parameters
    ----------
    name : str, optional
        Of its folder, as `dtnn list` shows it; else this notebook's own, else the only one.
    timeout, on_wait
        As for a `Cluster` that is started.

    Returns
    -------
    Cluster
        Running; its `last_run` is the `Run` that goes on, or that has ended meanwhile: watch it, stop it, take its result
        (``model.load_state_dict(cluster.last_run.result()["weights"])`` of a training). Records of over 10 kB, and every
        second step of a very long past, may be missing. In the process that has attached to it already, the same again.

    Raises
    ------
    RuntimeError
        There is none (only one with `keep_alive` outlives its client, and only for so long), or there are several.
    """
    ours = here.called(name)
    if ours is not None:  # the cell is run again
        return ours
    started, self = take_over(name, timeout, on_wait), cls.__new__(cls)
    self._take(started.asked, timeout, on_wait)
    self._hold(started)
    return self


def take_over(name, timeout, on_wait):
    """What goes on without a client, taken over from its watchdog, with its run; see `attach`."""
    from .engines import Engines
    from .processes import Processes

    path, asked = choose(name)
    crew = waiting.ready(Engines(Processes(asked, path), asked.size, timeout), on_wait)
    started = Started(crew, asked)
    started.last = _run_on(crew)
    return started


def _run_on(crew):
    """The run that goes on there, or the last one; None if there was none."""
    told = crew.last_told()
    if told is None:
        return None
    number, name, takes_commands = told
    run = Run(crew.size, name, crew.rows(), takes_commands)
    run._start(functools.partial(crew.follow, number))
    return run


def choose(name=None):
    """The folder of the cluster that is meant, and with which arguments it was started.

    Parameters
    ----------
    name : str, optional
        Of its folder, or the whole path, as `dtnn list` shows it; else this notebook's, else the only one.

    Raises
    ------
    RuntimeError
        There is none, or there are several.
    """
    kept = [found for found in leftovers.found() if found.kept_until]
    meant = [found for found in kept if name in (None, found.folder, os.path.basename(found.folder))]
    own = [found for found in meant if signature.signed(found.folder).get("session") == (here.session() or None)]
    meant = own if name is None and len(own) == 1 else meant
    if len(meant) == 1:
        return meant[0].folder, _asked(meant[0].folder)
    names = [os.path.basename(found.folder) for found in meant or kept]
    if meant:
        raise RuntimeError(f"several clusters wait for a client: {', '.join(names)}; name one: Cluster.attach({names[0]!r})")
    raise RuntimeError(_none(name, names))


def _asked(path):
    try:
        return again(signature.signed(path)["asked"])
    except (KeyError, TypeError, ValueError):
        text = f"what is written in {path} is damaged, so it can't be attached to; `dtnn clean --all` ends it"
        raise RuntimeError(text) from None


def _none(name, others):
    if others:
        return f"no cluster called {name!r} waits for a client; there are {', '.join(others)}"
    return (
        f'no cluster waits for a client on {platform.node()}: only one that was started with Cluster(..., keep_alive="2h") '
        "outlives its notebook, and for so long; one that is in use can't be attached to. `dtnn list` shows yours"
    )
