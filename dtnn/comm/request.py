"""`Request`: what every communicator's `Iallreduce` gives back."""

from typing import Protocol


class Request(Protocol):
    """An operation under way."""

    def Test(self) -> bool:
        """Whether it has ended; also keeps it moving.

        Raises
        ------
        RankFailed, KeyboardInterrupt, Mismatch
            As `Wait`.
        """

    def Wait(self) -> None:
        """Return when it has ended.

        Raises
        ------
        RankFailed
            A rank that takes part in it failed.
        KeyboardInterrupt
            This rank was interrupted.
        Mismatch
            Another rank takes part in it with another shape, type or operation.
        """
