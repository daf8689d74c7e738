"""What explanations are made of: the seconds of each rank and phase, and what a run says of itself."""

import math
from collections import Counter

from ..records import Clock, Epoch, Finish, Ledger, Place, Resumed, Start, Step
from ..tracing import layer_costs, traced_steps
from ..tracing.path import last_to_arrive

PHASES = ("data", "forward", "backward", "pack", "wait", "transfer", "update")
OWN = ("data", "forward", "backward", "pack")  # what a rank does before it meets the others


class Accounts:
    """The sums over a run's records.

    Parameters
    ----------
    records : iterable of records

    Attributes
    ----------
    ranks : dict of int to dict
        For each rank that told a ledger: the seconds of the phases, "other", "hidden" and "seconds", "steps", "samples" and
        "bytes", added up.
    settings : dict
        Of the run.
    machines : dict of int to dict
        What each rank's `Place` says.
    uncertainty : float
        Seconds by which the ranks' clocks may be apart.
    """

    def __init__(self, records):
        self.records = list(records)
        self.ranks, self.machines, self.clocks, self.epochs, self.pauses = {}, {}, {}, [], []
        self.settings, self.samples, self.finish, self.size = {}, 0, None, 0
        for record in self.records:
            self._take(record)
        self.size = max(self.size, len(self.ranks))

    def _take(self, record):
        if isinstance(record, Ledger):
            self._book(record)
        elif isinstance(record, Start):
            self.settings, self.size = record.settings, record.ranks
        elif isinstance(record, Place):
            self.machines[record.rank] = record.machine
        elif isinstance(record, Clock):
            self.clocks[record.rank] = record
        elif isinstance(record, Epoch):
            self.epochs.append(record)
        elif isinstance(record, Resumed):
            self.pauses.append(record)
        elif isinstance(record, Step):
            self.samples += record.samples
        elif isinstance(record, Finish):
            self.finish = record

    def _book(self, ledger):
        names = (*PHASES, "hidden", "seconds", "steps", "samples", "bytes")
        account = self.ranks.setdefault(ledger.rank, dict.fromkeys((*names, "other"), 0))
        for name in names:
            account[name] += getattr(ledger, name)
        account["other"] += max(0.0, ledger.seconds - sum(getattr(ledger, phase) for phase in PHASES))

    @property
    def steps(self):
        """Steps that the ledgers tell of."""
        return max((account["steps"] for account in self.ranks.values()), default=0)

    @property
    def seconds(self):
        """Seconds of these steps, the mean over the ranks that train."""
        return self.mean("seconds")

    @property
    def trained(self):
        """The accounts of the ranks that train: a server has no samples, and its time is another's."""
        return {rank: account for rank, account in self.ranks.items() if account["samples"]} or self.ranks

    @property
    def servers(self):
        """The ranks that don't."""
        return [rank for rank in self.ranks if rank not in self.trained]

    def mean(self, *phases):
        """Seconds in these phases, the mean over the ranks that train."""
        return sum(account[phase] for account in self.trained.values() for phase in phases) / max(1, len(self.trained))

    def share(self, *phases):
        """The same as a share of all time."""
        return self.mean(*phases) / self.seconds

    def a_step(self, *phases):
        """The same a step."""
        return self.mean(*phases) / self.steps

    def own(self, rank):
        """Seconds a step that a rank works by itself before it meets the others."""
        return sum(self.ranks[rank][phase] for phase in OWN) / max(1, self.ranks[rank]["steps"])

    @property
    def hosts(self):
        """How many ranks each host has."""
        return Counter(machine.get("host", "") for machine in self.machines.values())

    @property
    def crowded(self):
        """The first host with more ranks than cores: (name, ranks, cores); None where there is none."""
        cores = {machine.get("host", ""): machine.get("cores") for machine in self.machines.values()}
        return next(((host, n, cores[host]) for host, n in self.hosts.items() if cores[host] and n > cores[host]), None)

    @property
    def uncertainty(self):
        return max((clock.uncertainty for clock in self.clocks.values()), default=0.0)

    @property
    def between_epochs(self):
        """Seconds from the steps of one epoch to those of the next, and as a share of all time; (0, 0) if unknown."""
        whole = [(self._working(old.time, new.time), new.seconds) for old, new in zip(self.epochs, self.epochs[1:])]
        between = sum(max(0.0, wall - steps) for wall, steps in whole)
        total = sum(wall for wall, _ in whole)
        return (between / len(whole), between / total) if total > 0 else (0.0, 0.0)

    def _working(self, begin, end):
        """Seconds between two moments in which the run did not pause."""
        return end - begin - sum(pause.seconds for pause in self.pauses if begin < pause.time <= end)

    def layers(self):
        """The dearest layers: [(name, seconds a step, share of forward and backward)]; empty where no step was traced."""
        costs = {name: sum(phases.values()) for name, phases in layer_costs(self.records).items()}
        total = math.fsum(costs.values())
        return [(name, seconds, seconds / total) for name, seconds in costs.items()] if total > 0 else []

    def lasts(self):
        """How often each rank came last to the exchange, in the steps that were traced."""
        return Counter(last for last in map(last_to_arrive, traced_steps(self.records)) if last is not None)
