"""`Part`: some of the ranks as a communicator of their own, for algorithms that work in groups."""

from .checked import known_rank


class Part:
    """The ranks `members` of `comm`, renumbered from 0 in the order given.

    Making one is no communication, and it has only the verbs between two ranks. Its messages are those of `comm`: a
    message must be received by the part, or a part of the same pair, that it was sent by.

    Parameters
    ----------
    comm : Communicator
    members : sequence of int
        Ranks of `comm`, this one among them.

    Examples
    --------
    >>> from dtnn.comm import run_threads
    >>> def job(comm):
    ...     pair = Part(comm, [0, 2] if comm.rank % 2 == 0 else [1, 3])
    ...     return pair.rank, pair.size
    >>> run_threads(job, 4)
    [(0, 2), (0, 2), (1, 2), (1, 2)]
    """

    def __init__(self, comm, members):
        members = list(members)
        if comm.rank not in members:
            raise ValueError(f"rank {comm.rank} is not among the members {members}; only they may make this part")
        self.comm, self.members = comm, members
        self.rank, self.size = members.index(comm.rank), len(members)

    def Send(self, array, dest, tag=0):
        self.comm.Send(array, self._member(dest, "dest"), tag)

    def Recv(self, array, source, tag=0):
        self.comm.Recv(array, self._member(source, "source"), tag)

    def Sendrecv(self, sent, dest, received, source, tag=0):
        self.comm.Sendrecv(sent, self._member(dest, "dest"), received, self._member(source, "source"), tag)

    def _member(self, rank, name):
        """The rank in `comm` of one of these."""
        return self.members[known_rank(rank, self.size, name)]
