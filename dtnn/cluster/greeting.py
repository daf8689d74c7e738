"""What a client and engines say to each other before any run: who they are, and whether they hear each other."""

import time

from . import checks, engine
from .listening import MESSAGE

AGAIN = 1.0  # seconds until an engine of which nothing was heard is asked to publish something again


def introduced(client, size, adopted, timeout):
    """Identities and descriptions of the engines, in the order of their ranks.

    Parameters
    ----------
    client : ipyparallel.Client
    size : int
        So many there have to be, all of one MPI world.
    adopted : bool
        Whether they may be at the run of a client before this one: then they answer on their control channels only.
    timeout : float
        Seconds that an answer may take.

    Raises
    ------
    RuntimeError
        They don't make one MPI world, see `checks.one_world`.
    """
    hellos = _asked_on_the_side(client, timeout) if adopted else _asked(client, timeout)
    checks.one_world(list(hellos.values()), size)
    ids = sorted(hellos, key=lambda ident: hellos[ident]["rank"])
    hellos = [hellos[ident] for ident in ids]
    checks.versions(hellos)
    return ids, hellos


def heard(client, ids, timeout, given_up):
    """Wait until what engines publish arrives here: before the subscriptions are through it would be lost without a word.

    Parameters
    ----------
    client : ipyparallel.Client
    ids : list of int
    timeout : float
        Seconds.
    given_up : callable
        Whether nobody wants to know any more.

    Returns
    -------
    bool
        False if that was given up.

    Raises
    ------
    RuntimeError
        Nothing arrives from some of them.
    """
    until, missing = time.monotonic() + timeout, set(ids)
    while missing and time.monotonic() < until:
        answers = {ident: client[ident].apply_async(engine.publish_something) for ident in missing}
        patience = time.monotonic() + AGAIN
        while missing and time.monotonic() < patience:
            missing -= {ident for ident, answer in answers.items() if answer.data}
            if missing and given_up():
                return False
            time.sleep(0.002)
    if missing:
        raise RuntimeError(f"engines {sorted(missing)} answer, but nothing they publish arrives here; restart the cluster")
    return True


def send(client, ident, content):
    """Send something over the control channel of an engine, which answers there whatever it does; the reply is a future."""
    address = client._build_targets(ident)[0][0]
    return client._send(client._control_stream, MESSAGE, content=content, ident=address)


def _asked(client, timeout):
    answers = {ident: client[ident].apply_async(engine.hello) for ident in client.ids}
    return {ident: answer.get(timeout) for ident, answer in answers.items()}


def _asked_on_the_side(client, timeout):
    answers = {ident: send(client, ident, {"what": "hello"}) for ident in client.ids}
    return {ident: answer.result(timeout)["content"]["hello"] for ident, answer in answers.items()}
