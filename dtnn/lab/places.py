"""Where a panel can start ranks: the words of its list, and the launcher that each stands for."""

LAUNCHERS = {"MPI engines": "mpi", "threads of this process": "threads"}
