"""Communicators: the same verbs on one rank (`Serial`), on ranks that are threads (`run_threads`), and on MPI (`MPI`)."""

from .communicator import Communicator, Deadlock, Mismatch, RankFailed, Request
from .serial import Serial
from .threads import Threads, group, run_threads

__all__ = ["Communicator", "Deadlock", "Mismatch", "RankFailed", "Request", "Serial", "Threads", "group", "run_threads"]
