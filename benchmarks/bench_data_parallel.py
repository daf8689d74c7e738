"""How much faster do two ranks train than one, and how fast is PyTorch's DistributedDataParallel in the same place?

    python benchmarks/bench_data_parallel.py [--nets lenet5,resnet20] [--batch 64] [--cluster] [--json file]

Weak scaling: 64 images a rank; strong scaling: 64 in all. Starts itself again as two ranks under mpiexec, one thread each, one
core a rank where there are enough; there, in turn: one rank alone (the other sleeps), both ranks, and DDP over gloo with the same
nets, weights and shares (in both memory layouts, the faster one counts). `--cluster` also measures a notebook's cluster,
whose ranks poll. Before anything is timed the losses of the first steps are compared.

    speed-up, weak = 2 (seconds of one rank) / seconds        strong = (seconds of one rank) / seconds

How much two cores get in each other's way depends on the machine, and on what else its host does at that moment. So both ranks
also train at once without a word between them ("apart"), each 64 images, and each half of them: what they would gain then is the
most that any communication could leave, and stands behind "of". In brackets: what is asked of each figure.

It hangs on the last-level cache: what a line takes from core to core is told first. Cores that share one (40 to 60 ns) share its
room, too, and a step of ResNet-20, which goes over 100 MB, takes a tenth longer when the other core makes one; of cores that
have one each (250 ns and more) none hinders the other. A host moves the cores of a virtual machine from one to the other.
"""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from core_to_core import core_to_core
from options import append, parser
from ranks import BATCHES, in_turn, is_rank, net, pin, steps, under_mpiexec, where

NETS = "mlp", "simplecnn", "lenet5", "resnet20"
LAYOUTS = "eager", "channels_last"
GOALS = {  # net -> speed-up weak and strong, times DDP
    "mlp": (1.5, 1.05, 4.0), "simplecnn": (1.75, 1.5, None), "lenet5": (1.75, 1.55, 4.0), "resnet20": (1.9, 1.85, 2.0),
}  # fmt: skip
POLLED = 0.97  # of these, on a cluster


def own_ways(comm, name, batch, batches=BATCHES, dropout=True):
    """{way: function that makes a step}: one rank; all ranks in both kinds of scaling; all at once, each for itself."""
    from dtnn.comm import Serial
    from dtnn.parallel import AllReduce

    sizes = {"one": (Serial(), batch), "weak": (comm, comm.size * batch), "strong": (comm, batch)}
    sizes |= {"apart": (Serial(), batch), "apart_strong": (Serial(), batch // comm.size)}
    return {way: steps(ranks, name, size, AllReduce(), batches, dropout) for way, (ranks, size) in sizes.items()}


def ddp_step(rank, ranks, name, batch, layout, dropout=True):
    """A function that makes a step of PyTorch's DDP, at its best, on this rank's share of a fixed mini-batch."""
    import torch
    from torch.nn.parallel import DistributedDataParallel
    from torch_twin import twin

    model, rng = net(name, dropout), np.random.default_rng(0)
    mine = slice(rank * batch // ranks, (rank + 1) * batch // ranks)
    x, y = rng.random((batch, *model.input_shape), np.float32)[mine], rng.integers(0, 10, batch)[mine]
    form = torch.channels_last if layout == "channels_last" else torch.contiguous_format
    images, labels = torch.from_numpy(x.transpose(0, 3, 1, 2).copy()).to(memory_format=form), torch.from_numpy(y.copy())
    options = dict(gradient_as_bucket_view=True, static_graph=True, broadcast_buffers=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions have another word for broadcast_buffers
        network = DistributedDataParallel(twin(model).to(memory_format=form).train(), **options)
    optimizer = torch.optim.SGD(network.parameters(), 1e-4, 0.9, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        return float(loss.detach())

    return step


def begin_gloo(world, folder):
    """PyTorch's process group of the same ranks; whether there is PyTorch."""
    try:
        import torch
    except ImportError:
        return False
    torch.set_num_threads(1)
    options = dict(init_method=f"file://{folder}/gloo", rank=world.rank, world_size=world.size)
    torch.distributed.init_process_group("gloo", **options)
    return True


def check(world, name, ways, torch_too, batch):
    """First losses: all ranks' are those of one; so are the means of DDP's ranks. Nets that normalise differ by their nature."""
    from mpi4py import MPI

    from dtnn.nn import BatchNorm2d
    from dtnn.nn.tree import named_layers

    losses = {way: np.array([step() for _ in range(3)]) for way, step in ways.items() if way in ("one", "strong", "apart")}
    if torch_too:
        step = ddp_step(world.rank, world.size, name, batch, "eager", dropout=False)
        losses["ddp"] = np.array([step() for _ in range(3)])
        world.Allreduce(MPI.IN_PLACE, losses["ddp"])
        losses["ddp"] /= world.size
    normalises = any(isinstance(layer, BatchNorm2d) for _, layer, _ in named_layers(net(name).net))
    for way, found in losses.items():
        if not np.allclose(found, losses["one"], rtol=0.2 if normalises else 2e-3):
            raise AssertionError(f"{name}: the losses of {way} are {found}, those of one rank {losses['one']}")


def measure(comm, name, options, torch_too=False):
    """A row: seconds of a step of each, speed-ups, how many times faster than DDP; collective."""
    world, batch = comm.world, options["batch"]
    check(world, name, own_ways(comm, name, batch, 1, dropout=False), torch_too, batch)
    ways = own_ways(comm, name, batch)
    if torch_too:
        for kind, size in (("weak", comm.size * batch), ("strong", batch)):
            for layout in LAYOUTS:
                ways[f"ddp_{kind}_{layout}"] = ddp_step(comm.rank, comm.size, name, size, layout)
    times = {way: t.median for way, t in in_turn(world, ways, options["rounds"], options["seconds"], {"one"}).items()}
    row = {"net": name, "batch": batch, "ranks": comm.size, **{f"{way}_seconds": seconds for way, seconds in times.items()}}
    row |= {"weak": comm.size * times["one"] / times["weak"], "strong": times["one"] / times["strong"]}
    row |= {"most_weak": comm.size * times["one"] / times["apart"], "most_strong": times["one"] / times["apart_strong"]}
    if torch_too:
        best = {kind: min(times[f"ddp_{kind}_{layout}"] for layout in LAYOUTS) for kind in ("weak", "strong")}
        row |= {f"times_ddp_{kind}": seconds / times[kind] for kind, seconds in best.items()}
    return row


def show(row, options):
    """A line of the table."""
    goals = goals_of(row, options)
    text = f"{row['net']:10} {row['where']:9} ms:"
    for way in ("one", "apart", "weak", "strong"):
        text += f" {way} {1e3 * row[f'{way}_seconds']:8.3f} "
    text += "  speed-up"
    for kind in ("weak", "strong"):
        text += f" {kind} {row[kind]:.2f} of {row[f'most_{kind}']:.2f}{beside(goals, kind)}"
    if "times_ddp_weak" in row:
        text += "   times DDP" + "".join(
            f" {kind} {row[f'times_ddp_{kind}']:.2f}{beside(goals, 'ddp')}" for kind in ("weak", "strong")
        )
    print(text, flush=True)
    append(row | {"goals": goals}, options.json)


def goals_of(row, options):
    """{"weak", "strong", "ddp": what is asked}, of 64 images."""
    if row["net"] not in GOALS or options.batch != 64:
        return {}
    weak, strong, ddp = GOALS[row["net"]]
    share = POLLED if row["where"] == "cluster" else 1
    return {"weak": share * weak, "strong": share * strong, "ddp": ddp}


def beside(goals, kind):
    """What is asked, in brackets."""
    return f" ({goals[kind]:.2f})" if goals.get(kind) else ""


def rank(options):
    """What each rank under mpiexec does."""
    from mpi4py import MPI

    import dtnn

    world = MPI.COMM_WORLD
    pinned = pin(world.rank, world.size)
    with tempfile.TemporaryDirectory() as folder:
        torch_too = begin_gloo(world, world.bcast(folder)) if options.ddp else False
        if world.rank == 0:
            print(where(pinned, world.size), flush=True)
        comm = dtnn.comm.MPI(world.Dup(), blocking=True)
        for name in options.nets.split(","):
            row = measure(comm, name, settings(options), torch_too)
            if world.rank == 0:
                show(row | {"where": "mpiexec"}, options)
        world.Barrier()


def on_a_cluster(options):
    """The same ways on a notebook's cluster."""
    import dtnn

    with dtnn.Cluster(2) as cluster:
        for name in options.nets.split(","):
            show(cluster.run(job, name, settings(options)).result() | {"where": "cluster"}, options)


def job(comm, name, options):
    """What each engine does."""
    pin(comm.rank, comm.size)
    return measure(comm, name, options)


def settings(options):
    """What all ranks have to know, as plain values."""
    return {"batch": options.batch, "rounds": options.rounds, "seconds": options.seconds}


def main():
    arguments = parser(__doc__)
    arguments.add_argument("--nets", default=",".join(NETS))
    arguments.add_argument("--batch", type=int, default=64)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--seconds", type=float, default=0.2, help="length of a sample")
    arguments.add_argument("--no-ddp", dest="ddp", action="store_false", help="without PyTorch")
    arguments.add_argument("--cluster", action="store_true", help="also on a notebook's cluster")
    options = arguments.parse_args()
    if is_rank():
        return rank(options)
    print(f"from core to core {1e9 * core_to_core():.0f} ns", flush=True)
    command, environment = under_mpiexec(2)
    code = subprocess.run(command, env=environment, check=False).returncode
    if options.cluster and not code:
        sys.path.insert(0, str(Path(__file__).parent))
        on_a_cluster(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
