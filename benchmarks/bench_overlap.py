"""How much of the communication goes on behind backward?  Two ranks over a link of 4 Gbit/s, with overlap and without.

    sudo python benchmarks/bench_overlap.py [--nets vgg11,lenet5] [--gbits 4] [--batch 64] [--packet-bytes 262144] [--json file]

Two network namespaces, joined by a pair of virtual cards whose rate is limited, stand for two hosts; one rank is in each, on
a core of its own where there are enough.  All is measured in one run, in turn: a step without communication; the gradient's bytes
by one bare ``MPI.COMM_WORLD.Allreduce``; steps with and without overlap, by the public `train`.

    hidden = (compute + bare communication - step) / bare communication

In brackets: how many per cent of what could be hidden should be.

What could be hidden is what this recurrence says, with each layer's measured backward b_l and its part c_l of the
communication, from the last layer to the first: ``t += b_l; n = max(t, n) + c_l``; the step then takes max(t, n).

The recurrence thinks that a message costs the processor nothing. Here it does: sending, receiving and adding up take the core
that computes, and what its caches held. How much, the column "beside" tells: a step without communication, and beside it, from
its beginning, the same bytes on their way, for which it need not wait. So much could be hidden here by the best order.

The congestion control of the link is Linux's usual one, cubic, whatever this machine's is: one that paces its packets by timers
(bbr) costs each step of VGG-11 10 ms more in a virtual machine, which is no affair of the strategy.  Nor is what each packet
costs the processor here, where a network card would cut them: the limit of the rate wakes it for each, and it plays both cards.
So they are as large as Linux makes them over IPv6 on request ("BIG TCP", 256 KB); with the usual 64 KB the same step of VGG-11
takes 18 ms longer, and 46 % are hidden instead of 66, at the same rate of the link.

It needs root, `ip` and `tc`, Linux and MPICH; the namespaces have names of their own and are removed at the end.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from options import append, parser
from ranks import ENVIRONMENT, in_turn, is_rank, meet, mpiexec, net, pin, steps, where

GOALS = {"vgg11": 60}  # per cent of what can be hidden
CARD = "wire0"
ONLY_TCP = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": CARD, "MPIR_CVAR_NOLOCAL": "1"}  # ranks of one machine would share memory


# ---- two hosts


class Hosts:
    """Two network namespaces on one machine; `with` makes and removes them."""

    def __init__(self, gbits, packet_bytes):
        self.gbits, self.packet_bytes = gbits, packet_bytes
        self.names = [f"dtnn-{os.getpid()}-{side}" for side in "ab"]

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        cards = [f"d{os.getpid()}{side}" for side in "ab"]
        for name in self.names:
            call("ip", "netns", "add", name)
        call("ip", "link", "add", cards[0], "type", "veth", "peer", "name", cards[1])
        for number, (name, card) in enumerate(zip(self.names, cards), 1):
            call("ip", "link", "set", card, "netns", name, "name", CARD)
            packets = "gso_max_size", str(self.packet_bytes), "gro_max_size", str(self.packet_bytes)
            call("ip", "-n", name, "link", "set", "dev", CARD, *packets)
            call("ip", "-n", name, "addr", "add", f"fd77::{number}/64", "dev", CARD, "nodad")
            call("ip", "-n", name, "link", "set", "lo", "up")
            call("ip", "-n", name, "link", "set", "dev", CARD, "up")
            limit = "rate", f"{self.gbits}gbit", "burst", str(self.packet_bytes + 16 * 1024), "latency", "50ms"
            call("tc", "-n", name, "qdisc", "add", "dev", CARD, "root", "tbf", *limit)
            call("ip", "-n", name, "-6", "route", "replace", "fd77::/64", "dev", CARD, "congctl", "cubic")

    def __exit__(self, *_):
        for name in self.names:  # a pair of cards goes with the first of its namespaces
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)

    def run(self, options):
        """This script as one rank in each; returns the exit code."""
        places = [["-n", "1", "ip", "netns", "exec", name, sys.executable, *options] for name in self.names]
        command = [mpiexec(), *places[0], ":", *places[1]]
        return subprocess.run(command, env=os.environ | ENVIRONMENT | ONLY_TCP, check=False).returncode


def call(*command):
    """Run a command; its error is this script's."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")


def missing():
    """What this machine lacks, in words; None if it has all."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "network namespaces need Linux and root: sudo, or a container with the right to administer networks"
    lacking = [name for name in ("ip", "tc") if shutil.which(name) is None]
    return f"there is no {' and no '.join(lacking)}: install iproute2" if lacking else None


# ---- one rank


class Clock:
    """A watcher that notes how long the backward of each layer of the outermost row took, the last first, once for each pass."""

    def __init__(self, layers):
        self.layers, self.passes = {id(layer) for layer in layers}, []

    def begin(self):
        self.passes.append([])
        self.began = time.perf_counter()

    def forward(self, layer):
        self.mark = time.perf_counter()

    def backward(self, layer):
        if id(layer) in self.layers:
            now = time.perf_counter()
            self.passes[-1].append((layer, now - self.mark, now - self.began))
            self.mark = now


def backward_of_layers(name, count, step_seconds, passes=7):
    """(median seconds of backward, bytes of gradient) of each layer of the outermost row, the last first.

    They are measured without a step around them; if they took longer than it, which tells of a disturbance, they are cut down.
    """
    from dtnn.data import batch_last
    from dtnn.nn import Pass, cross_entropy
    from dtnn.nn.tree import named_parameters

    model = net(name)
    clock, step = Clock(model.net.layers), Pass()
    x = np.random.default_rng(0).random(batch_last(model.input_shape, count), np.float32)
    for number in range(passes):
        clock.begin()
        step.begin(number, 0, count, count, x=x, watcher=clock)
        outputs, backward = model.net.forward(x, step)
        backward(cross_entropy(outputs, np.zeros(count, np.int64), count)[1])
    seconds = np.median([[spent for _, spent, _ in told] for told in clock.passes[1:]], axis=0)
    seconds *= min(1.0, step_seconds / np.median([told[-1][2] for told in clock.passes[1:]]))
    sizes = [4 * sum(p.value.size for _, p, _ in named_parameters(layer)) for layer, _, _ in clock.passes[0]]
    return list(zip(seconds.tolist(), sizes))


def could_take(compute, layers, bare):
    """Seconds of a step whose communication goes on behind backward as far as that is possible."""
    total = sum(size for _, size in layers)
    clock = compute - sum(seconds for seconds, _ in layers)
    link = 0.0
    for seconds, size in layers:
        clock += seconds
        if size:
            link = max(clock, link) + bare * size / total
    return max(clock, link)


def beside(comm, step, buckets):
    """A function that makes a step of its own while buckets that nobody waits for are summed."""
    from dtnn.comm.stirring import Stirring

    stirring = Stirring(comm)

    def both():
        requests = [comm.Iallreduce(bucket) for bucket in buckets]
        stirring.start()
        step()
        stirring.stop()
        for request in requests:
            request.Wait()

    return both


def rank(options):
    """What each of the two does."""
    from mpi4py import MPI

    import dtnn
    from dtnn.comm import Serial, host_memory
    from dtnn.parallel import AllReduce

    host_memory.LEAST = float("inf")  # ranks that stand for two hosts add up nothing in memory that both see

    world = MPI.COMM_WORLD
    pinned = pin(world.rank, world.size)
    if world.rank == 0:
        print(
            f"{where(pinned)}, {options.gbits} Gbit/s in packets of {options.packet_bytes} B between them, "
            f"{options.batch} images a rank",
            flush=True,
        )
    for name in options.nets.split(","):
        count = net(name).parameters.trainable
        flat = np.ones(count, np.float32)
        overlap = AllReduce(overlap=True, bucket_bytes=options.bucket_bytes)
        ways = {
            "compute": steps(Serial(), name, options.batch, AllReduce()),
            "bare": lambda flat=flat: world.Allreduce(MPI.IN_PLACE, flat),
            "after": steps(dtnn.comm.MPI(world.Dup(), blocking=True), name, 2 * options.batch, AllReduce()),
            "overlap": steps(dtnn.comm.MPI(world.Dup(), blocking=True), name, 2 * options.batch, overlap),
            "beside": beside(
                dtnn.comm.MPI(world.Dup(), blocking=True),
                steps(Serial(), name, options.batch, AllReduce()),
                AllReduce(overlap=True, bucket_bytes=options.bucket_bytes).buckets(flat),
            ),
        }
        losses = np.array([[ways[way]() for way in ("after", "overlap")] for _ in range(3)])
        np.testing.assert_allclose(losses[:, 0], losses[:, 1], rtol=1e-4)
        ways["bare"]()
        assert (flat == world.size).all(), "MPI's own sum is wrong"
        for way in ("bare", "after", "overlap", "beside"):
            before = sent()
            ways[way]()
            assert sent() - before >= flat.nbytes, f"{way}: less than the gradient's {flat.nbytes} bytes went over the link"
        flat[:] = 0  # sums of sums would overflow in the end
        times = {way: t.median for way, t in in_turn(world, ways, options.rounds, 0.3).items()}
        if world.rank == 0:
            tell(row(name, count, times, backward_of_layers(name, options.batch, times["compute"]), options), options)
        meet(world)


def sent():
    """Bytes that have left this host over the link so far."""
    return int(Path(f"/sys/class/net/{CARD}/statistics/tx_bytes").read_text())


def row(name, count, times, layers, options):
    """The numbers of a net."""
    compute, bare = times["compute"], times["bare"]

    def hidden(step):
        return (compute + bare - step) / bare

    best = hidden(could_take(compute, layers, bare))
    return {
        "net": name, "batch": options.batch, "gbits": options.gbits, "bytes": 4 * count,
        **{f"{way}_seconds": seconds for way, seconds in times.items()},
        "gbits_measured": 8 * 4 * count / bare / 1e9, "hidden_after": hidden(times["after"]), "hidden": hidden(times["overlap"]),
        "hidden_beside": hidden(times["beside"]), "could_be_hidden": best,
        "share": hidden(times["overlap"]) / best if best > 0 else 0.0,
    }  # fmt: skip


def tell(found, options):
    """Print a row; append it to a file, if there is to be one."""
    times = "  ".join(f"{way} {1e3 * found[f'{way}_seconds']:.1f}" for way in ("compute", "bare", "after", "overlap", "beside"))
    goal = f" ({GOALS[found['net']]})" if found["net"] in GOALS else ""
    print(f"{found['net']:10} ms: {times}   ({found['gbits_measured']:.1f} Gbit/s)   hidden {100 * found['hidden']:.0f} % of "
          f"the communication (without overlap {100 * found['hidden_after']:.0f} %), which is {100 * found['share']:.0f} %{goal} "
          f"of the {100 * found['could_be_hidden']:.0f} % that can be hidden ({100 * found['hidden_beside']:.0f} % "
          f"beside a step that waits for nothing: messages need the processor too)", flush=True)  # fmt: skip
    append(found, options.json)


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default="vgg11,lenet5")
    arguments.add_argument("--gbits", type=float, default=4.0)
    arguments.add_argument("--batch", type=int, default=64, help="images a rank")
    arguments.add_argument("--bucket-bytes", type=int)
    arguments.add_argument("--packet-bytes", type=int, default=256 * 1024, help="the largest packet of the link")
    arguments.add_argument("--rounds", type=int, default=9)
    options = arguments.parse_args()
    if is_rank():
        return rank(options)
    lacks = missing()
    if lacks:
        print(f"not measured: {lacks}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with Hosts(options.gbits, options.packet_bytes) as hosts:
            return hosts.run(sys.argv)
    except OSError as error:
        smaller = "" if options.packet_bytes <= 65536 else " (older kernels: --packet-bytes 65536)"
        print(f"not measured: this machine makes no such network: {error}{smaller}")
        return 0


if __name__ == "__main__":
    sys.exit(main())
