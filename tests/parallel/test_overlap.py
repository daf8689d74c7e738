"""Buckets leave when they are complete, in one order everywhere, before backward ends; and nothing else changes."""

import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from dtnn import Model, nn, optim
from dtnn.comm import RankFailed, Serial, run_threads
from dtnn.comm.emulated import Emulated
from dtnn.comm.serial import Ended
from dtnn.comm.traced import Span, Traced
from dtnn.data import Samples
from dtnn.nn import BatchNorm2d, Concatenate, Conv2d, Dropout, Flatten, Layer, Linear, Pass, ReLU, Residual, Sequential
from dtnn.parallel import Accumulate, AllReduce, Exchange, LocalSGD, Sharded
from dtnn.parallel.overlap import Overlap
from dtnn.records import Ledger, Step
from dtnn.training import NotFinite, train
from tests.comm.mpi_job import run_mpi
from tests.training.test_ranks_are_one_rank import digits, distance, trained

SMALL = AllReduce(bucket_bytes=64, overlap=True)


class Two(Serial):
    """A rank that believes to have a peer; keeps copies of what it sends, with their moment among the backwards."""

    size = 2

    def __init__(self):
        self.sent = []

    def Iallreduce(self, array, op="sum"):
        self.sent.append(array.copy())
        return Ended()


class Own(Layer):
    """A layer of the user's own that uses what it holds by itself: one layer twice, a row, and another not at all."""

    def __init__(self):
        self.twice, self.row, self.unused = Linear(5), Sequential(Linear(5), ReLU()), Linear(4)

    def build(self, shape, rng):
        self.unused.build(shape, rng)
        return self.row.build(self.twice.build(shape, rng), rng)

    def forward(self, x, step=None):
        a, back_a = self.twice.forward(x, step)
        b, back_b = self.row.forward(a, step)
        c, back_c = self.twice.forward(b, step)
        return c, lambda dy: back_a(back_b(back_c(dy)))


def used_twice():
    shared = Linear(5)
    return [shared, ReLU(), Linear(5), shared, Linear(3)]


def one_weight(first, second):
    """Two layers with the same weight."""
    first.build((5,), np.random.default_rng(1))
    second.weight = first.weight
    return first, second


def tied():
    first, second = one_weight(Linear(5, bias=False), Linear(5, bias=False))
    return [first, ReLU(), second, Linear(3)]


def tied_aside():
    """Backward comes to the body first."""
    return [Linear(5), Residual(*one_weight(Linear(5, bias=False), Linear(5, bias=False))), Linear(3)]


def frozen():
    layers = [Linear(5), Linear(5), Linear(3)]
    layers[1].trainable = False
    return layers


def branches():
    body = Sequential(Conv2d(4, 3, padding=1), BatchNorm2d(), ReLU(), Conv2d(4, 3, padding=1), BatchNorm2d())
    side = Concatenate(Sequential(), Conv2d(2, 3, padding=1), Sequential(Conv2d(3, 1), ReLU()))
    return [Conv2d(2, 3), Residual(body, Conv2d(4, 1)), ReLU(), side, Dropout(0.2), Flatten(), Linear(3)]


ROWS, IMAGES, TOKENS = (5,), (7, 6, 1), (4, 8)
# what the layers take, and how many of all buckets are gone when backward has ended: a share, at least
NETS = {
    "row": (lambda: [Linear(5), ReLU(), Linear(5), ReLU(), Linear(3)], ROWS, 0.99),
    "used twice": (used_twice, ROWS, 0.99),
    "tied": (tied, ROWS, 0.99),
    "tied aside": (tied_aside, ROWS, 0.99),
    "frozen": (frozen, ROWS, 0.99),
    "of one's own": (lambda: [Linear(5), Own(), Linear(3)], ROWS, 0.99),
    "branches": (branches, IMAGES, 0.99),
    "encoder": (lambda: [nn.TransformerEncoderBlock(2), Flatten(), Linear(3)], TOKENS, 0.99),
}
nets = pytest.mark.parametrize("name", NETS)


def passed(name, strategy=SMALL, passes=1):
    """A model after backward, its Overlap and the rank that it sent by; nothing is finished."""
    make, shape, _ = NETS[name]
    model, comm = Model(*make(), input_shape=shape), Two()
    overlap = strategy.begin(comm, model.parameters, optim.SGD(0.1)).watcher()
    rng, step = np.random.default_rng(0), Pass()
    for number in range(passes):
        overlap.reset()
        comm.sent.clear()
        model.parameters.grad[:] = 0
        x = np.ascontiguousarray(np.moveaxis(rng.random((6, *shape), np.float32), (0, -1), (-1, 0)))
        step.begin(number, 0, 6, 6, x=x, watcher=overlap)
        outputs, backward = model.net.forward(x, step)
        assert not comm.sent, "nothing is complete before backward"
        backward(np.ascontiguousarray(rng.standard_normal(outputs.shape), np.float32))
    return model, overlap, comm


@nets
@pytest.mark.parametrize("size", [64, 100, 4000])
def test_a_bucket_leaves_when_nothing_is_added_to_it_any_more(name, size):
    """Whatever is sent is what backward has made in the end; one of the tied layer's first use would not be."""
    model, overlap, comm = passed(name, AllReduce(bucket_bytes=size, overlap=True), passes=2)
    early = len(comm.sent)
    before = model.parameters.reduced().copy()
    assert overlap.finish(model.parameters.tail(3)) == before.nbytes + 12
    assert len(comm.sent) == len(overlap.buckets)
    np.testing.assert_array_equal(np.concatenate(comm.sent[::-1]), before)
    assert early >= NETS[name][2] * len(comm.sent)


@nets
def test_all_the_rest_leaves_at_the_end(name):
    """A rank that had no samples sends the same buckets in the same order."""
    model, overlap, comm = passed(name)
    overlap.finish(model.parameters.tail(1))
    idle = Two()
    other = SMALL.begin(idle, model.parameters, optim.SGD(0.1)).watcher()
    other.finish(model.parameters.tail(1))
    assert [array.shape for array in idle.sent] == [array.shape for array in comm.sent]


def test_the_last_layers_leave_first_and_early():
    seen = []

    class Looking(Layer):
        def forward(self, x, step=None):
            def backward(dy):
                seen.append(len(comm.sent))
                return dy

            return x, backward

    model, comm = Model(Looking(), Linear(4), Looking(), Linear(4), Looking(), Linear(4), input_shape=(4,)), Two()
    overlap = AllReduce(bucket_bytes=128, overlap=True).begin(comm, model.parameters, optim.SGD(0.1)).watcher()
    step = Pass()
    x = np.ones((4, 2), np.float32)
    step.begin(0, 0, 2, 2, watcher=overlap)
    y, backward = model.net.forward(x, step)
    backward(np.ones_like(y))
    assert seen == [1, 2, 3]  # 16 weights and 4 biases a layer, in places of 16: 128 bytes


def test_a_layer_that_is_used_twice_leaves_after_its_second_backward():
    seen, shared = [], Linear(4)

    class Looking(Layer):
        def forward(self, x, step=None):
            return x, lambda dy: seen.append(len(comm.sent)) or dy

    model, comm = Model(Looking(), shared, Looking(), shared, input_shape=(4,)), Two()
    overlap = AllReduce(bucket_bytes=128, overlap=True).begin(comm, model.parameters, optim.SGD(0.1)).watcher()
    step = Pass()
    step.begin(0, 0, 2, 2, watcher=overlap)
    y, backward = model.net.forward(np.ones((4, 2), np.float32), step)
    backward(np.ones_like(y))
    assert seen == [0, 1]


# ---- the promise


def mixed(seed):
    body = Sequential(Conv2d(3, 3, padding=1), BatchNorm2d(sync=True), ReLU())
    layers = [Conv2d(3, 3, padding=1), BatchNorm2d(sync=True), ReLU(), Residual(body), Flatten(), Dropout(0.3), Linear(10)]
    return Model(*layers, input_shape=(8, 6, 1), dtype="float64", seed=seed)


def trained_mixed(comm, strategy):
    model, settings = mixed(comm.rank), dict(batch_size=16, epochs=2, optimizer=optim.SGD(0.05, momentum=0.9))
    list(train(comm, model, digits(), strategy=strategy, **settings))
    return model.parameters.value.copy()


STRATEGIES = [SMALL, AllReduce(bucket_bytes=1000, overlap=True), AllReduce(overlap=True), Accumulate(3, SMALL)]
strategies = pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)


@strategies
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_the_weights_are_those_of_one_rank(strategy, ranks):
    """50 samples in batches of 16: in the last batch, of 2, some shares are empty."""
    alone, start = trained(Serial())[0], trained(Serial(), epochs=0)[0]
    results = run_threads(partial(trained, strategy=strategy), ranks)
    assert all(distance(weights, alone, start) < 1e-10 for weights, _, _ in results)
    assert len({weights.tobytes() for weights, _, _ in results}) == 1, "replicas differ"


@pytest.mark.parametrize("ranks", [2, 3])
def test_normalisation_over_all_ranks_reduces_in_between(ranks):
    alone, start = trained_mixed(Serial(), SMALL), mixed(0).parameters.value
    for weights in run_threads(partial(trained_mixed, strategy=SMALL), ranks):
        assert distance(weights, alone, start) < 1e-10


def test_in_float32_the_distance_is_rounding():
    settings = dict(dtype="float32", epochs=2, batch_size=10)
    alone, start = trained(Serial(), **settings)[0], trained(Serial(), **settings | {"epochs": 0})[0]
    for weights, _, _ in run_threads(partial(trained, strategy=SMALL, **settings), 4):
        assert distance(weights, alone, start) < 1e-5


@pytest.mark.limit(120)
@pytest.mark.parametrize("ranks", [2, 3])
def test_over_mpi_too(ranks):
    alone, start = trained(Serial())[0], trained(Serial(), epochs=0)[0]
    for found in run_mpi(__file__, "train_both_ways", ranks, seconds=110):
        for weights, handed in found:
            assert distance(weights, alone, start) < 1e-10
            assert handed > 0


def train_both_ways(pool):
    found = []
    for blocking in (False, True):
        comm = pool.checkout(blocking=blocking)
        for strategy in (SMALL, Accumulate(3, SMALL)):
            weights, _, handed = trained(comm, strategy=strategy)
            found.append((weights, handed))
    return found


# ---- when it travels


class Slow(Layer):
    """Takes a moment in backward, and notes when it ends."""

    def __init__(self, seconds, ends):
        self.seconds, self.ends = seconds, ends

    def forward(self, x, step=None):
        def backward(dy):
            time.sleep(self.seconds)
            self.ends.append(time.perf_counter())
            return dy

        return x, backward


def slow_network(ends, layers=4, seconds=0.02, width=64):
    pairs = [layer for _ in range(layers) for layer in (Slow(seconds, ends), Linear(width))]
    return Model(*pairs, Linear(10), input_shape=(width,))


def rows(width=64, count=24):
    rng = np.random.default_rng(1)
    return Samples(rng.standard_normal((count, width)).astype(np.float32), rng.integers(0, 10, count))


def notes_of_slow_steps(comm, strategy):
    """For each step the spans of communication and the moments when the slow layers ended."""
    ends, found, comm = [], [], Traced(comm)
    for record in train(comm, slow_network(ends), rows(), batch_size=8, epochs=1, strategy=strategy):
        if isinstance(record, Step):
            found.append(([note for note in comm.notes if isinstance(note, Span)], list(ends)))
            comm.notes.clear()
            ends.clear()
    return found


def check_spans(found, overlap):
    for spans, ends in found:
        buckets = [span for span in spans if span.name == "Iallreduce"]
        early = [span for span in buckets if span.time + span.seconds < ends[-1]]
        assert len(buckets) == (5 if overlap else 0)
        assert (len(early) >= 2) == overlap, "begun and arrived before the first layer was done"
        sizes = [span.bytes for span in sorted(buckets, key=lambda span: span.time)]
        assert sizes == sorted(sizes, reverse=True), "the first bucket, which is the rest, is the last to leave"


@pytest.mark.undisturbed
@pytest.mark.parametrize("overlap", [True, False])
def test_buckets_have_arrived_before_backward_ends(overlap):
    strategy = AllReduce(bucket_bytes=16_640, overlap=overlap) if overlap else AllReduce()
    for found in run_threads(partial(notes_of_slow_steps, strategy=strategy), 2):
        check_spans(found, overlap)


def test_buckets_have_arrived_before_backward_ends_over_mpi():
    for both in run_mpi(__file__, "slow_steps_over_mpi", 2):
        for found in both:
            check_spans(found, True)


def slow_steps_over_mpi(pool):
    strategy = AllReduce(bucket_bytes=16_640, overlap=True)
    return [notes_of_slow_steps(pool.checkout(blocking=blocking), strategy) for blocking in (False, True)]


def timed(comm, strategy):
    """Seconds of each step on a slow link, and the ledger."""
    comm = Emulated(comm, bandwidth=4e5)  # 16,640 bytes a layer: 42 ms
    records = list(train(comm, slow_network([], seconds=0.05), rows(), batch_size=8, epochs=1, strategy=strategy))
    return min(r.seconds for r in records if isinstance(r, Step)), [r for r in records if isinstance(r, Ledger)]


@pytest.mark.undisturbed
def test_on_a_slow_link_a_step_takes_less_than_computing_and_communicating():
    (after, plain), _ = run_threads(partial(timed, strategy=AllReduce()), 2)
    (behind, ledgers), _ = run_threads(partial(timed, strategy=AllReduce(bucket_bytes=16_640, overlap=True)), 2)
    computing, communicating = 4 * 0.05, (4 * 16_640 + 2_600) / 4e5
    assert after > computing + communicating
    assert behind < computing + 0.6 * communicating
    steps = sum(ledger.steps for ledger in ledgers)
    assert sum(ledger.hidden for ledger in ledgers) > 0.5 * communicating * steps
    assert sum(ledger.transfer + ledger.wait for ledger in ledgers) < 0.6 * communicating * steps
    assert sum(ledger.hidden for ledger in plain) == 0


def test_only_the_last_micro_batch_is_watched(monkeypatch):
    """Each bucket is complete with it alone."""
    used, forward = [], Overlap.forward

    def noting(self, layer):
        used.append(layer)
        forward(self, layer)

    def job(comm):
        model = slow_network([], seconds=0)
        list(train(comm, model, rows(), batch_size=12, strategy=Accumulate(3, SMALL)))
        return model.net.layers

    monkeypatch.setattr(Overlap, "forward", noting)
    for layers in run_threads(job, 2):
        assert [used.count(layer) for layer in layers] == [2] * len(layers)  # two steps


class Stirred(Two):
    """Its messages arrive only when it is stirred, which it counts."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def stir(self):
        self.count += 1
        return True

    def Iallreduce(self, array, op="sum"):
        return SimpleNamespace(Test=lambda: False, Wait=lambda: None)


@pytest.mark.parametrize("long", [True, False])
def test_messages_are_stirred_where_backward_goes_on_for_long(long):
    """What counts is how long it went on in the step before; afterwards nobody stirs until the next."""
    comm, model, step = Stirred(), slow_network([], seconds=0.03), Pass()
    overlap = AllReduce(bucket_bytes=16_640, overlap=True).begin(comm, model.parameters, optim.SGD(0.1)).watcher()
    for number in range(2):
        overlap.reset()
        step.begin(number, 0, 2, 2, watcher=overlap)
        outputs, backward = model.net.forward(np.ones((64, 2), np.float32), step)
        comm.count = 0
        backward(np.ones_like(outputs))
        overlap.finish(model.parameters.tail(1))
        counted = comm.count
        assert overlap.lasted > 0.05
        if not long:
            overlap.lasted = 0.001
    time.sleep(0.02)
    assert (counted > 0) == long
    assert comm.count <= counted + 1


@pytest.mark.parametrize("strategy", [AllReduce(), LocalSGD(2), Sharded(), Exchange], ids=repr)
def test_others_are_not_told(strategy):
    model = Model(Linear(3), input_shape=(4,))
    if strategy is Exchange:
        exchange = Exchange(None, Serial(), model.parameters, optim.SGD(0.1))
    else:
        exchange = strategy.begin(Serial(), model.parameters, optim.SGD(0.1))
    assert exchange.watcher() is None


def test_one_rank_has_nothing_to_overlap():
    model = Model(Linear(3), input_shape=(4,))
    exchange = SMALL.begin(Serial(), model.parameters, optim.SGD(0.1))
    assert exchange.watcher() is None
    assert exchange.combine(3, 1, 1, None) == 0


def test_the_ledger_adds_up():
    for _, records, _ in run_threads(partial(trained, strategy=SMALL, epochs=4), 3):
        ledgers = [record for record in records if isinstance(record, Ledger)]
        names = "data", "forward", "backward", "pack", "wait", "transfer", "update"
        parts = sum(getattr(ledger, name) for ledger in ledgers for name in names)
        assert 0.6 < parts / sum(ledger.seconds for ledger in ledgers) <= 1.0001  # a busy machine stands still in between
        assert all(getattr(ledger, name) >= 0 for ledger in ledgers for name in (*names, "hidden"))
        assert all(ledger.hidden <= ledger.seconds for ledger in ledgers)


# ---- when it goes wrong, in the middle of backward


class Failing(Layer):
    """In step 2's backward one rank does something else."""

    def __init__(self, act):
        self.act = act

    def forward(self, x, step=None):
        def backward(dy):
            if step.number == 2:
                self.act()
            return dy

        return x, backward


def failing_network(act):
    return Model(Linear(64), Linear(64), Failing(act), Linear(64), Linear(64), Linear(10), input_shape=(64,))


def stumble():
    raise ZeroDivisionError("in the middle")


def run_until_failure(comm, act, here=1):
    model = failing_network(act if comm.rank == here else lambda: None)
    list(train(comm, model, rows(), batch_size=8, epochs=3, strategy=AllReduce(bucket_bytes=4000, overlap=True)))


def test_a_rank_that_raises_frees_the_others():
    told = {}

    def job(comm):
        try:
            run_until_failure(comm, stumble)
        except RankFailed as error:
            told[comm.rank] = error.rank, str(error)
            raise

    with pytest.raises(ZeroDivisionError, match="in the middle") as caught:
        run_threads(job, 3)
    assert caught.value.rank == 1
    assert {rank: found[0] for rank, found in told.items()} == {0: 1, 2: 1}
    assert all("ZeroDivisionError: in the middle" in text for _, text in told.values())


def test_an_interrupt_frees_the_rank():
    def job(comm):
        with pytest.raises(KeyboardInterrupt):
            run_until_failure(comm, lambda: comm.interrupt())  # of all ranks
        return True

    assert run_threads(job, 3) == [True] * 3


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_gradient_that_is_not_finite_ends_all_before_the_update(value):
    class Bad(Layer):
        def __init__(self, here):
            self.here = here

        def forward(self, x, step=None):
            return x, lambda dy: dy * np.float32(value if self.here and step.number == 2 else 1)

    def job(comm):
        model = Model(Linear(8), Bad(comm.rank == 1), Linear(10), input_shape=(64,))
        with pytest.raises(NotFinite, match=r"step 2 .*the gradient of linear_1\.(weight|bias)"):
            list(train(comm, model, rows(), epochs=5, batch_size=8, strategy=SMALL))
        return np.isfinite(model.parameters.value).all()

    assert all(run_threads(job, 3))


@pytest.mark.limit(90)
def test_over_mpi_the_next_run_on_the_same_processes_is_right():
    alone, start = trained(Serial())[0], trained(Serial(), epochs=0)[0]
    for found in run_mpi(__file__, "fail_and_go_on", 3, seconds=80):
        for how, held, weights in found:
            assert how in ("ZeroDivisionError", "RankFailed", "KeyboardInterrupt")
            assert held, "the memory of what was under way is kept"
            assert distance(weights, alone, start) < 1e-10


def fail_and_go_on(pool):
    from dtnn.comm.pending import HELD

    found = []
    for kind in ("raise", "interrupt", "raise"):
        comm, before = pool.checkout(), len(HELD)
        try:
            run_until_failure(comm, stumble if kind == "raise" else comm.interrupt, here=1)
        except (ZeroDivisionError, RankFailed, KeyboardInterrupt) as error:
            if not isinstance(error, RankFailed):
                comm.fail(repr(error))
            how = type(error).__name__
        held = len(HELD) > before or how == "RankFailed"
        assert not comm.clean
        weights, _, _ = trained(pool.checkout(), strategy=SMALL)
        found.append((how, held, weights))
    return found


@pytest.mark.undisturbed
def test_ranks_with_other_buckets_are_told():
    """Over MPI a reduction that does not wait compares nothing, but what rides behind it does."""
    for text in run_mpi(__file__, "disagree", 2):
        assert "ranks ask for different things at once" in text


def disagree(pool):
    from dtnn.comm import Mismatch

    comm = pool.checkout()
    strategy = AllReduce(bucket_bytes=10**6, overlap=comm.rank == 0)
    try:
        list(train(comm, slow_network([], seconds=0), rows(), batch_size=8, strategy=strategy))
    except Mismatch as error:
        return str(error)


def test_overlap_needs_an_algorithm_that_can_be_begun():
    with pytest.raises(ValueError, match=r"AllReduce\('ring', overlap=True\).*overlap=False"):
        AllReduce("ring", overlap=True)


def test_its_buckets_have_a_size_of_their_own():
    region = np.zeros(3 << 19, np.float32)
    sizes = [bucket.nbytes for bucket in AllReduce(overlap=True).buckets(region)]
    assert sizes == [2 << 20, 2 << 20, 1 << 20, 1 << 19, 1 << 18, 1 << 18], "little is left when backward has ended"
    assert [bucket.nbytes for bucket in AllReduce(bucket_bytes=2 << 20, overlap=True).buckets(region)] == [2 << 20] * 3
    assert [bucket.size for bucket in AllReduce(overlap=True).buckets(region[:61_706])] == [61_706]
    assert len(AllReduce().buckets(region)) == 1
    assert isinstance(SMALL.begin(Two(), Model(Linear(3), input_shape=(4,)).parameters, optim.SGD(0.1)).watcher(), Overlap)
