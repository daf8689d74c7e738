"""`Compared`: an all-reduce of the user's own, the first time beside the communicator's."""

import numpy as np

from ..comm.agreement import by_speaker, texts_of_ranks
from ..comm.collectives import WrongSum

AT_ONCE = 1 << 20  # numbers: so many are compared at once, to need little memory beside the gradient
MOST_ASKED = 16  # ranks: of more, nobody looks whose numbers they are
TRIES = 1, -2  # times the numbers: what is left over of the first try can't pass for right in the second
UNCHANGED = "all were left as they were"
MOST_TOLD = 3  # different things that ranks say in an error


class Compared:
    """A function that sums over ranks; before the first sum of each length it is tried, and compared with the native sum.

    It is tried on the numbers that it is to sum, and on others where these are 0 on a rank, as between parameters: a sum of zeros
    says nothing. Then on other numbers: MPI may let go a rank that has sent a message too many, which the next call receives.
    Where any rank finds another number than it should be, all raise.

    Parameters
    ----------
    function : callable
        ``function(comm, array)`` sums in place.
    parameters : Parameters
        Whose gradients are summed: an error names the one in which the first wrong number lies.

    Raises
    ------
    WrongSum
        On all ranks: which number is wrong on which of them, what it should be, and what that looks like.

    Notes
    -----
    Cost, once a length: a copy, two more calls, and four native sums of as many numbers.  P numbers may be added in any order, so
    what is off by less than ``P eps sum |x|`` is right.
    """

    def __init__(self, function, parameters):
        self.function, self.parameters, self.known, self.returned = function, parameters, set(), None

    def __call__(self, comm, array):
        if array.size not in self.known:
            for times in TRIES:
                self._try(comm, array, array.dtype.type(times))
            self.known.add(array.size)
        self.function(comm, array)

    def _try(self, comm, array, times):
        found = filled(array, comm.rank) * times
        self.returned = self.function(comm, found)
        for start in range(0, array.size, AT_ONCE):
            part, ends = array[start : start + AT_ONCE], start + AT_ONCE >= array.size
            self._compare(comm, part, filled(part, comm.rank) * times, found[start : start + AT_ONCE], ends)

    def _compare(self, comm, part, given, found, ends):
        """Raise `WrongSum` on all ranks if a number is wrong on any."""
        right = comm.Allreduce(given.copy())
        bound = comm.Allreduce(np.abs(given)) * (comm.size * np.finfo(given.dtype).eps)
        with np.errstate(all="ignore"):
            wrong = ~(np.abs(found - right) <= bound)
            if comm.Allreduce(int(wrong.any()), "max"):
                others = others_hint(comm, given, found, right, bound)  # which asks them, so all ranks have to
                hint = own_hint(given, found, right, bound, wrong, comm.size, ends) or others
                if hint == UNCHANGED and isinstance(self.returned, np.ndarray):
                    hint += "; what the function returns is not looked at: write it into the array, array[:] = ..."
                self._tell(comm, part, found, right, wrong, hint)

    def _tell(self, comm, part, found, right, wrong, hint):
        text = "all right"
        if wrong.any():
            place = int(wrong.argmax())
            text = f"{self._name(part, place)} is {found[place]:.7g} where the sum is {right[place]:.7g}"
            text += f"; {np.count_nonzero(wrong)} of {wrong.size} are wrong" + f": {hint}" * bool(hint)
        texts = texts_of_ranks(comm, text)
        names = list(dict.fromkeys(texts))
        texts = [said if said in names[:MOST_TOLD] else "others that are wrong" for said in texts]
        function = getattr(self.function, "__name__", repr(self.function))
        raise WrongSum(
            f"AllReduce({function}): no sum over {comm.size} ranks: {by_speaker(texts)}. "
            f"The smallest example: dtnn.comm.collectives.check_allreduce({function}). "
            f"To see what it does to a training: AllReduce({function}, checked=False)"
        )

    def _name(self, part, place):
        """Which number of the gradient that is, in words."""
        grad = self.parameters.grad
        place += (part.ctypes.data - grad.ctypes.data) // grad.itemsize
        inside = (s.name for s in self.parameters.segments if s.start <= place < s.start + s.size)
        return f"number {place}" + "".join(f" ({name})" for name in inside)


def filled(array, rank):
    """A copy in which there is ``rank + 1`` where a number is 0, or none, or too large or too small to be added up safely.

    >>> filled(np.array([0.5, 0.0, np.nan]), 1).tolist()
    [0.5, 2.0, 2.0]
    """
    limits = np.finfo(array.dtype)
    size = np.abs(array)
    return np.where((size > limits.tiny) & (size < np.sqrt(limits.max)), array, array.dtype.type(rank + 1))


def own_hint(given, found, right, bound, wrong, ranks, ends):
    """What a wrong sum looks like to the rank that has it, or ""; `ends` says whether the last number is the array's.

    >>> one = np.ones(3)
    >>> own_hint(one, one, 2 * one, 1e-9, one > 0, 2, True)
    'it looks like the mean: divided by 2'
    """
    if close(found * ranks, right, bound * ranks):
        return f"it looks like the mean: divided by {ranks}"
    if close(found, right * ranks, bound * ranks):
        return f"it looks like {ranks} times the sum"
    places = np.flatnonzero(wrong)
    if not places.size or not np.array_equal(found[wrong], given[wrong]):
        return ""
    if places.size == wrong.size:
        return UNCHANGED
    if places.size == 1:
        return f"the {'last number' if ends and wrong[-1] else 'number'} was left as it was"
    return f"{places.size} numbers were left as they were"


def others_hint(comm, given, found, right, bound):
    """Whose numbers they are, or whose are missing or came twice, or ""; collective."""
    hints = [""]
    for rank in range(comm.size if comm.size <= MOST_ASKED else 0):
        theirs = comm.Bcast(given.copy(), rank)
        if close(found, theirs, bound):
            hints.append(f"they are rank {rank}'s, to which nothing was added")
        elif close(found, right - theirs, bound):
            hints.append(f"what is missing is rank {rank}'s part")
        elif close(found, right + theirs, bound):
            hints.append(f"rank {rank}'s part was added twice")
    return hints[-1]


def close(found, wanted, bound):
    return bool((np.abs(found - wanted) <= bound).all())
