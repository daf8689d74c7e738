"""The methods of `MPI` for messages between two ranks: counted, told what they are, and checked when they arrive."""

from functools import partial

from .checked import known_rank, known_tag
from .flat import flat, put_back
from .letterheads import PATIENCE
from .messages import memory, pieces
from .pending import Pending


def Send(comm, array, dest, tag=0):
    _sent(comm, array, dest, tag).Wait()


def Recv(comm, array, source, tag=0):
    _received(comm, array, source, tag).Wait()


def Probe(comm, tag=0):
    status, need = comm.library.Status(), partial(comm._letterheads.from_anybody, known_tag(tag, comm._most_tag))
    comm.wait(lambda: comm.world.Iprobe(comm.library.ANY_SOURCE, tag, status), 0, need=need)
    return status.Get_source()


def Sendrecv(comm, sent, dest, received, source, tag=0):
    incoming = _received(comm, received, source, tag)
    _sent(comm, sent, dest, tag).Wait()
    incoming.Wait()


def _sent(comm, array, dest, tag):
    """The request of an array on its way to a rank; its letterhead goes before it."""
    elements, dest, tag = flat(array), known_rank(dest, comm.size, "dest"), known_tag(tag, comm._most_tag)
    comm._count(elements)
    need = partial(comm._letterheads.to_send, array, comm._letterheads.send(array, dest, tag))
    calls = (comm.world.Isend(memory(piece), dest, tag) for piece in pieces(elements))
    return Pending(comm, calls, elements, elements.nbytes, need=need)


def _received(comm, array, source, tag):
    """The request of an array that comes from a rank; when all of it is there, it is compared with what was sent."""
    elements, source = flat(array, writeable=True), known_rank(source, comm.size, "source")
    tag = known_tag(tag, comm._most_tag)
    messages = pieces(elements)
    calls = (comm.world.Irecv(memory(piece), source, tag) for piece in messages)
    place = comm._letterheads.expect(source, tag)
    said = partial(comm._letterheads.said, place, PATIENCE)
    expected = [(source, piece.nbytes, said) for piece in messages]
    take_in, need = partial(_take_in, comm, elements, array, place), partial(comm._letterheads.to_receive, array, place)
    return Pending(comm, calls, elements, elements.nbytes, take_in, expected, need)


def _take_in(comm, elements, array, place):
    comm._letterheads.check(array, place)
    put_back(elements, array)
