"""How a job ended on one rank, and how that travels."""

import pickle
from dataclasses import dataclass

from .parcel import pack, unpack


@dataclass(frozen=True)
class Outcome:
    """How a job ended on one rank.

    Parameters
    ----------
    rank : int
    state : str
        "done"; "failed" (it raised); "interrupted"; "abandoned" (a rank it waited for failed or was interrupted);
        "dead" (its process went away).
    value : object
        What the job returned.
    error : BaseException or None
        What it raised.
    trace : str
        The traceback of `error`, or what is known of the end.
    waited : str
        What an abandoned rank was waiting for, and where.
    """

    rank: int
    state: str
    value: object = None
    error: BaseException | None = None
    trace: str = ""
    waited: str = ""


def pack_outcome(outcome):
    """An outcome as bytes, the error apart: it may be one that doesn't survive the journey."""
    error, plain = outcome.error, Outcome(outcome.rank, outcome.state, None, None, outcome.trace, outcome.waited)
    try:
        value = pack(outcome.value)
    except TypeError as problem:
        failed = Outcome(outcome.rank, "failed", trace=f"the job's result can't travel back: {problem}\n")
        return pickle.dumps((failed, pack(None), None))
    try:
        error = pack(error.with_traceback(None)) if error is not None else None
    except TypeError:
        error = None
    return pickle.dumps((plain, value, error))


def unpack_outcome(data, rank):
    """The outcome that `pack_outcome` packed; on the client."""
    plain, value, error = pickle.loads(data)
    try:
        error = unpack(error)[0] if error is not None else None
    except Exception:
        error = None
    return Outcome(rank, plain.state, unpack(value)[0], error, plain.trace, plain.waited)
