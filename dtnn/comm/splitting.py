"""The methods of `MPI` that make some of its ranks a communicator of their own, and give that back."""

from .checked import known_color, known_key


def Split(comm, color, key=0):
    color, key = known_color(color), known_key(key)
    comm._comparison.compare("Split")
    comm.parts += 1
    world = comm.world.Split(comm.library.UNDEFINED if color is None else color, key)
    if color is None:
        return None
    notices, name = None if comm._notices.comm is None else world.Dup(), f"{comm.name}/{comm.parts}.{color}"
    return type(comm)(world, notices, comm.blocking, comm._crowded, house=comm, name=name)


def Free(comm):
    comm.let_go()
    comm._standstill.leave(comm)
    if comm.clean and comm._house is not None:  # after an unclean end what was under way may still be
        comm.world.Free()
        if comm._notices.comm is not None:
            comm._notices.comm.Free()
        if comm._own is not None:
            comm._own.Free()
