"""`TrainingCluster`: where a panel trains: on the cluster that it was given, or on one of its own, started when it is needed."""

from ..cluster import Cluster


class TrainingCluster:
    """A cluster, once there is one.

    Parameters
    ----------
    given : Cluster or None
        Without it one is made.
    say : callable
        ``say(text)``: what is waited for.

    Attributes
    ----------
    cluster : Cluster or None
    """

    def __init__(self, given, say):
        self._given, self._say, self.cluster, self._place = given, say, given, None

    @property
    def ours(self):
        """Whether there is one that was started here."""
        return self._given is None and self.cluster is not None

    def ready(self, place):
        """The cluster that was given, or one at this place; one that runs is used again, one that died is started anew.

        Parameters
        ----------
        place : dict
            What `Cluster` is told.
        """
        if self._given is not None:
            if self._given.state != "running":
                self._say("starting your cluster")
                self._given.restart()
            return self._given
        if self.cluster is not None and (place != self._place or self.cluster.state != "running"):
            self.cluster.__exit__()
            self.cluster = None
        if self.cluster is None:
            self._say(f"starting {place['ranks']} {'engines' if place['launcher'] == 'mpi' else 'ranks'}")
            self.cluster, self._place = Cluster(**place, on_wait=self._say).start(), place
        return self.cluster

    def leave(self):
        """Stop the one that was started here; it goes on where another cell holds it, too."""
        if self.ours:
            self.cluster.__exit__()
