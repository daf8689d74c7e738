"""`Borrowed`: engines that are there already."""

import time

from . import checks, obituary


class Borrowed:
    """Engines that somebody else started and will stop: an ipyparallel Cluster that runs, or a Client."""

    adopted, folder, cluster = False, None, None

    def __init__(self, ready, size):
        self.ready, self.size = ready, size

    def connect(self, timeout, waits):
        """A Client of theirs."""
        client = self.ready if hasattr(self.ready, "ids") else self._client_of_cluster()
        until = time.monotonic() + timeout
        while len(client.ids) < (self.size or 1):
            waits(f"engines ({len(client.ids)} of {self.size or 1} are there)")
            if time.monotonic() > until:
                raise RuntimeError(checks.too_few(len(client.ids), self.size or 1, sorted(client.ids), self.log()))
            time.sleep(0.02)
        return client

    def _client_of_cluster(self):
        if self.ready.controller is None:
            raise RuntimeError("this ipyparallel cluster isn't running; start it first: cluster.start_cluster_sync()")
        return self.ready.connect_client_sync()

    def log(self):
        """Somebody else's."""
        return ""

    def launcher_has_ended(self):
        """Not known."""
        return False

    lost = launcher_has_ended

    def obituary(self, rank, hellos):
        """How a rank died: not known."""
        return obituary.text(rank, hellos, "")

    def reaches(self, host):
        """A signal goes through the engine's nanny."""
        return False

    def end(self):
        """Theirs is to end it."""
