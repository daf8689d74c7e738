"""What ranks say to each other: the verbs that every communicator has, with MPI's own names.

In the costs below alpha is the time to start a message, beta the time for one byte, gamma the time to add one byte to
another, P the number of ranks and n the bytes of the array.
"""

from typing import Protocol

from .request import Request


class Communicator(Protocol):
    """`size` ranks, of which this is number `rank`.

    Arrays are NumPy arrays of any layout: what is not contiguous in C order is copied to C order and back, so element
    [i, j] of one rank always meets element [i, j] of another.  All ranks pass the same shape and dtype, and what arrives
    is written into the array that was passed.  Collectives (`Bcast`, `Allreduce`, `Iallreduce`, `Gather`, `Barrier`) must be
    called by all ranks in the same order.

    Every call that waits ends with `RankFailed` as soon as a rank has failed, and with `KeyboardInterrupt` when this
    rank is interrupted.  After either of them the communicator is good for nothing but `fail`.

    Attributes
    ----------
    rank, size : int
    bytes : int
        Bytes of the arrays that this rank has handed to the verbs so far; 0 where there is nobody to send to.
    """

    rank: int
    size: int
    bytes: int

    def Send(self, array, dest, tag=0):
        """Send an array to the rank `dest`, which must `Recv` it; `array` may be changed once this returns.

        On threads it returns when the other has received (so two ranks that first send to each other are a deadlock, and
        reported); MPI may return earlier for short arrays: never rely on it.

        Raises
        ------
        ValueError
            There is no rank `dest`.
        RankFailed, KeyboardInterrupt, Deadlock

        Notes
        -----
        Cost: alpha + n beta.
        """

    def Recv(self, array, source, tag=0):
        """Receive into `array` what the rank `source` sends with the same tag; messages of one sender and tag arrive in order.

        Raises
        ------
        ValueError
            There is no rank `source`, or `array` is read-only.
        Mismatch
            What was sent has another shape or dtype (on MPI see `Letterheads`).
        RankFailed, KeyboardInterrupt, Deadlock

        Notes
        -----
        Cost: alpha + n beta.
        """

    def Probe(self, tag=0) -> int:
        """Wait until somebody has sent a message with this tag that was not received yet; the rank that did.

        Of several the one that came first; then `Recv` it. So a server serves whoever is ready.

        Raises
        ------
        RankFailed, KeyboardInterrupt, Deadlock
        """

    def Sendrecv(self, sent, dest, received, source, tag=0):
        """Send one array and receive another at the same time; a ring of ranks doing so cannot deadlock.

        The two may go to and come from different ranks and have different shapes; they must not overlap in memory.

        Raises
        ------
        ValueError, Mismatch, RankFailed, KeyboardInterrupt, Deadlock
            As `Send` and `Recv`.

        Notes
        -----
        Cost: alpha + n beta for the longer of the two (links work both ways at once).
        """

    def Bcast(self, array, root=0):
        """Copy root's array into everybody's, and return it.

        Raises
        ------
        ValueError, Mismatch, RankFailed, KeyboardInterrupt, Deadlock

        Notes
        -----
        Cost, binomial tree: ceil(log2 P) (alpha + n beta).
        """

    def Allreduce(self, array, op="sum"):
        """Sum (or "max", "min") over the ranks, in place; bit-equal on all ranks.

        Parameters
        ----------
        array : ndarray, float or int
            A plain number is reduced too; there being no place to write to, use what is returned.
        op : {"sum", "max", "min"}

        Returns
        -------
        ndarray, float or int
            The array that was passed, or the reduced number: the same type for every number of ranks.

        Raises
        ------
        ValueError, TypeError
            Unknown `op`; something that is no numeric array; a read-only array.
        Mismatch, RankFailed, KeyboardInterrupt, Deadlock

        Notes
        -----
        Cost at best: 2 ceil(log2 P) alpha + 2 (P-1)/P n beta + (P-1)/P n gamma (Rabenseifner).
        """

    def Iallreduce(self, array, op="sum") -> Request:
        """The same, begun; the array must not be touched before the request has ended.

        Whoever drops the request without waiting keeps nothing in danger: it holds its buffers itself.
        """

    def Gather(self, array, root=0):
        """On root, the arrays of all ranks stacked along a new first axis, shape (size, *array.shape); None elsewhere.

        Raises
        ------
        ValueError, Mismatch, RankFailed, KeyboardInterrupt, Deadlock

        Notes
        -----
        Cost: ceil(log2 P) alpha + (P-1)/P (P n) beta.
        """

    def Barrier(self):
        """Return when all ranks have come here.

        Raises
        ------
        RankFailed, KeyboardInterrupt, Mismatch, Deadlock

        Notes
        -----
        Cost: ceil(log2 P) alpha.
        """

    def Split(self, color, key=0):
        """The ranks that give the same `color` as a communicator of their own, ordered by `key`, then rank; collective.

        Its waits also end when a rank of this communicator fails or is interrupted.

        Parameters
        ----------
        color : int or None
            At least 0; None takes no part.
        key : int

        Returns
        -------
        Communicator or None
            None where `color` is None. Give it back with `Free`: MPI has only so many.
        """

    def Free(self):
        """Give back a communicator that `Split` made, when all its ranks have done with it; collective among them."""

    def fail(self, reason):
        """Tell all other ranks that this one failed, so that their waits end with `RankFailed`; never waits itself.

        Parameters
        ----------
        reason : str
            A traceback, or one line; what the others' error will say.
        """
