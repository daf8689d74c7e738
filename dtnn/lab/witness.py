"""`Witness`: a communicator that notes what a rank sends and receives, and what it holds then."""


class Witness:
    """Another communicator, and a note of what goes out and comes in, and of what some places of the vector hold then."""

    def __init__(self, comm, array, places):
        self.comm, self.array, self.places, self.operations = comm, array, places, []
        self.rank, self.size = comm.rank, comm.size

    def __getattr__(self, name):
        return getattr(self.comm, name)

    def Send(self, array, dest, tag=0):
        self._note((dest, *self._place(array)), None)
        self.comm.Send(array, dest, tag)

    def Recv(self, array, source, tag=0):
        self._note(None, source)
        self.comm.Recv(array, source, tag)

    def Sendrecv(self, sent, dest, received, source, tag=0):
        self._note((dest, *self._place(sent)), source)
        self.comm.Sendrecv(sent, dest, received, source, tag)

    def _note(self, sent, source):
        self.operations.append((sent, source, self.array[self.places]))

    def _place(self, array):
        """Where in the vector the sent part begins, and how long it is."""
        offset = (array.ctypes.data - self.array.ctypes.data) // self.array.itemsize
        inside = 0 <= offset <= offset + array.size <= self.array.size
        return (offset if inside else None), array.size
