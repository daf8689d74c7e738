"""What a strategy keeps, sends, resumes, stops and refuses."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.nn import Layer, Linear
from dtnn.parallel import Accumulate, AllReduce, Compressed, Gossip, LocalSGD, ParameterServer, Sharded, in_sync
from dtnn.records import Ledger, Step, Stop
from dtnn.training import NotFinite, train
from tests.training.test_ranks_are_one_rank import digits, network
from tests.training.test_train import rows

STRATEGIES = [
    AllReduce(), AllReduce(bucket_bytes=400, overlap=True), Accumulate(2), Sharded(), LocalSGD(3), LocalSGD(3, after=1),
    Gossip("ring"), Gossip("exponential"), Gossip("complete"), Compressed("top_k"), Compressed("int8"), Compressed("fp16"),
    Compressed("sign"), ParameterServer(), ParameterServer(2, exact=True),
]  # fmt: skip
strategies = pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
CODED = [Compressed("top_k", keep=0.1), Compressed("int8"), Compressed("fp16"), Compressed("sign")]


@strategies
def test_a_stop_on_one_rank_stops_all_after_the_same_step_with_one_model(strategy):
    def job(comm):
        model = network(seed=comm.rank)
        running, command, steps = train(comm, model, digits(), epochs=9, batch_size=12, strategy=strategy), None, 0
        try:
            while True:
                record = running.send(command)
                steps += isinstance(record, Step)
                command = Stop() if comm.rank == 1 and isinstance(record, Step) and record.step == 7 else None
        except StopIteration:
            in_sync(comm, model.parameters)
            return steps

    seldom = isinstance(strategy, LocalSGD) or strategy in (Gossip("ring"), Gossip("exponential"))
    assert run_threads(job, 3) == [10 if seldom else 8] * 3, "at the next step in which all hear of each other"


@strategies
@pytest.mark.parametrize("optimizer", [optim.SGD(0.05, momentum=0.9), optim.Nadam(0.01), optim.LARS(0.5)], ids=repr)
def test_a_training_goes_on_as_if_there_had_been_no_pause(strategy, optimizer):
    settings = dict(optimizer=optimizer, batch_size=16, strategy=strategy)

    def job(comm):
        whole, halves = network(), network()
        list(train(comm, whole, digits(), epochs=4, **settings))
        list(train(comm, halves, digits(), epochs=2, **settings))
        list(train(comm, halves, digits(), epochs=4, resume=halves.training, **settings))
        return np.array_equal(whole.parameters.value, halves.parameters.value)

    assert all(run_threads(job, 3))


class BadGradient(Layer):
    """A layer whose backward is wrong on one rank from step 2 on, though its output is not."""

    def __init__(self, here):
        self.here = here

    def forward(self, x, step=None):
        return x, lambda dy: dy * np.float32(math.nan if self.here and step.number == 2 else 1)


@strategies
def test_a_gradient_that_is_not_finite_on_one_rank_ends_all_before_the_update(strategy):
    def job(comm):
        model = Model(Linear(4), BadGradient(comm.rank == 2), Linear(3), input_shape=(4,))
        with pytest.raises(NotFinite, match=r"step 2 .*the gradient of linear_1\.(weight|bias)"):
            list(train(comm, model, rows(), epochs=5, batch_size=5, strategy=strategy))
        return np.isfinite(model.parameters.value).all()

    assert all(run_threads(job, 3))


class Huge(Layer):
    """In step 2 each rank's gradients can be held, their sum can't."""

    def forward(self, x, step=None):
        return x, lambda dy: np.full_like(dy, 2e38 / dy.shape[-1]) if step.number == 2 else dy


@strategies
def test_a_sum_that_is_too_large_ends_all_before_the_update(strategy):
    def job(comm):
        model = Model(Linear(3), Huge(), input_shape=(4,))
        told = pytest.raises(NotFinite, match=r"step 2 .*the gradient of linear_1\.(weight|bias)")
        with told, np.errstate(over="ignore", invalid="ignore"):
            list(train(comm, model, rows(), epochs=5, batch_size=6, strategy=strategy))
        return np.isfinite(model.parameters.value).all()

    if strategy not in (Compressed("fp16"), Compressed("sign")):  # which send none that is so large
        assert all(run_threads(job, 3))


@strategies
def test_the_bytes_of_a_step_are_counted(strategy):
    def job(comm):
        before = comm.bytes
        records = list(train(comm, network("float32"), digits(48), batch_size=12, epochs=1, strategy=strategy))
        return sum(record.bytes for record in records if isinstance(record, Ledger)), comm.bytes - before

    for told, handed in run_threads(job, 3):
        assert 0 < told <= handed


@pytest.mark.parametrize(("strategy", "packs"), [*((strategy, True) for strategy in CODED), (AllReduce(), False)], ids=repr)
def test_packing_is_a_phase_of_its_own(strategy, packs):
    def job(comm):
        return list(train(comm, network("float32"), digits(48), batch_size=12, epochs=2, strategy=strategy))

    for records in run_threads(job, 2):
        ledgers = [record for record in records if isinstance(record, Ledger)]
        assert all((ledger.pack > 0) == packs for ledger in ledgers)
        names = "data", "forward", "backward", "pack", "wait", "transfer", "update"
        parts = sum(getattr(ledger, name) for ledger in ledgers for name in names)
        assert 0.6 < parts / sum(ledger.seconds for ledger in ledgers) <= 1.0001, (
            "packing is counted once; a busy machine stands still"
        )


@pytest.mark.parametrize("largest", [0.0, 1e-45, 2.5e-43, 1e-38, 1.0, 3e38])
@pytest.mark.parametrize("strategy", CODED, ids=repr)
def test_what_is_sent_has_the_sign_of_what_was_to_be_sent(strategy, largest):
    array, sent = np.linspace(-largest, largest, 41, dtype=np.float32), np.zeros(41, np.float32)
    strategy.add_decoded(sent, strategy.encode(array))
    assert (sent * np.sign(array) >= 0).all()
    assert np.abs(sent).max() <= largest


def test_the_optimizer_state_is_divided():
    def job(comm, optimizer):
        parameters = network().parameters
        exchange = Sharded().begin(comm, parameters, optimizer)
        return exchange.state["momentum"].size, [exchange.own.start, exchange.own.stop], parameters.trainable

    found = run_threads(partial(job, optimizer=optim.SGD(0.1, momentum=0.9)), 4)
    total = found[0][2]
    assert [size for size, _, _ in found] == [total // 4] * 4
    for optimizer in (optim.LARS(), optim.SGD(0.1, momentum=0.9)):
        found = run_threads(partial(job, optimizer=optimizer), 4)
        places = [place for _, own, _ in found for place in own]
        assert places[0] == 0
        assert places[-1] == total
        assert places[1:-1:2] == places[2::2]
    starts = {segment.start for segment in network().parameters.segments} | {total}
    assert {place for _, own, _ in run_threads(partial(job, optimizer=optim.LARS()), 4) for place in own} <= starts


@pytest.mark.parametrize("strategy", CODED, ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_was_sent_and_what_is_kept_is_the_gradient(strategy, dtype):
    rng = np.random.default_rng(5)
    parameters = network(dtype).parameters
    exchange = strategy.begin(Serial(), parameters, optim.SGD(0.1))
    count = parameters.trainable
    all_of_it, sent = np.zeros(count), np.zeros(count)
    for _ in range(7):
        gradient = rng.standard_normal(count).astype(dtype)
        gradient[exchange.between] = 0
        before = exchange.residual + gradient
        parameters.grad[:count] = gradient
        exchange.combine(2, 1, 1, None)
        rounding = {"float32": 1e-6, "float64": 1e-15}[dtype]
        np.testing.assert_allclose(parameters.grad[:count] + exchange.residual, before, rtol=0, atol=rounding)
        if strategy.kind == "top_k":
            np.testing.assert_array_equal(parameters.grad[:count] + exchange.residual, before)
            assert np.count_nonzero(parameters.grad[:count]) == math.ceil(0.1 * count)
        sent, all_of_it = sent + parameters.grad[:count], all_of_it + gradient
    np.testing.assert_allclose(sent + exchange.residual, all_of_it, rtol=0, atol=1e-5 if dtype == "float32" else 1e-12)


def test_codes_are_short():
    array = np.linspace(-1, 1, 8000, dtype=np.float32)
    assert [strategy.encode(array).nbytes for strategy in CODED] == [800 * 8, 4 + 8000, 16000, 4 + 1000]


@pytest.mark.parametrize("strategy", CODED, ids=repr)
def test_a_gradient_of_zeros_is_sent_as_such(strategy):
    found = np.zeros(40)
    strategy.add_decoded(found, strategy.encode(np.zeros(40)))
    assert not found.any()


def test_gossip_keeps_the_mean_and_an_exponential_graph_finds_it():
    def job(comm, topology, steps):
        parameters = network().parameters
        exchange = Gossip(topology).begin(comm, parameters, optim.SGD(0.1))
        parameters.value[: parameters.trainable] = comm.rank
        for step in range(1, steps + 1):
            exchange.mix(SimpleNamespace(step=step))
        return parameters.value[0]

    assert run_threads(partial(job, topology="exponential", steps=2), 4) == [1.5] * 4
    assert run_threads(partial(job, topology="complete", steps=1), 3) == pytest.approx([1] * 3)
    for ranks in (2, 3, 5):
        for topology in ("ring", "exponential"):
            first, later = (run_threads(partial(job, topology=topology, steps=steps), ranks) for steps in (1, 60))
            assert np.mean(first) == pytest.approx((ranks - 1) / 2)
            assert later == pytest.approx([(ranks - 1) / 2] * ranks, abs=1e-3)
    assert run_threads(partial(job, topology="ring", steps=1), 4) == pytest.approx([4 / 3, 1, 2, 5 / 3])


def test_local_steps_are_averaged_by_samples():
    def job(comm):
        parameters = network().parameters
        exchange = LocalSGD(2).begin(comm, parameters, optim.SGD(0.0))
        parameters.value[: parameters.trainable] = comm.rank
        for _ in range(2):
            exchange.combine(2, [1, 3][comm.rank], 4, SimpleNamespace(step=1, epoch=0.0))
            assert parameters.value[0] == comm.rank
            exchange.mix(None)
        return parameters.value[0]

    assert run_threads(job, 2) == [0.75, 0.75]


@pytest.mark.parametrize("staleness", [0, 1, 3])
def test_gradients_are_those_of_weights_so_many_updates_old(staleness):
    """The gradient is the weight itself, from one of two workers."""

    def job(comm):
        parameters = network().parameters
        parameters.value[:] = 1
        exchange = ParameterServer(staleness, exact=True).begin(comm, parameters, optim.SGD(0.1))
        seen = []
        for _ in range(8):
            parameters.grad[: parameters.trainable] = parameters.value[: parameters.trainable] * (comm.rank == 1)
            exchange.combine(2, 1, 2, None)
            exchange.update(SimpleNamespace(step=1, epoch=0.0))
            exchange.mix(None)
            seen.append(parameters.value[0])
        exchange.settle()
        return seen, parameters.value[0]

    weights = [1.0]
    for step in range(8):
        weights.append(weights[-1] - 0.1 * weights[max(0, step - staleness)])
    (server, *_), *workers = run_threads(job, 3)
    assert server == pytest.approx(weights[1:])
    for seen, last in workers:
        assert seen == pytest.approx([weights[max(0, step - staleness)] for step in range(1, 9)])
        assert last == pytest.approx(weights[-1])


def test_the_server_does_not_train():
    def job(comm):
        records = list(train(comm, network(), digits(), batch_size=10, strategy=ParameterServer()))
        return sum(record.samples for record in records if isinstance(record, Ledger))

    assert run_threads(job, 3) == [0, 25, 25]


def test_pieces_are_smaller():
    sizes = []

    class Noting(Layer):
        def forward(self, x, step=None):
            sizes.append(x.shape[-1])
            return x, lambda dy: dy

    model = Model(Noting(), Linear(3), input_shape=(4,))
    list(train(Serial(), model, rows(20), batch_size=10, strategy=Accumulate(4)))
    assert sizes[-8:] == [3, 3, 2, 2] * 2


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Accumulate(0), ValueError, ["Accumulate's steps=0", "such as 4"]),
        (lambda: Accumulate(2.5), TypeError, ["steps=2.5", "whole number"]),
        (lambda: Accumulate(2, "ring"), TypeError, ["strategy='ring'", "AllReduce()"]),
        (lambda: LocalSGD(0), ValueError, ["LocalSGD's every=0", "such as 8"]),
        (lambda: LocalSGD(4, after=-1), ValueError, ["after=-1", "epochs"]),
        (lambda: Gossip("rign"), ValueError, ["Gossip's topology='rign'", "did you mean 'ring'?"]),
        (lambda: Compressed("topk"), ValueError, ["kind='topk'", "did you mean 'top_k'?"]),
        (lambda: Compressed("zzz"), ValueError, ["kind='zzz'", "there are 'top_k', 'int8'"]),
        (lambda: Compressed(keep=0), ValueError, ["keep=0", "such as 0.01"]),
        (lambda: Compressed(keep="1"), TypeError, ["Compressed's keep='1'", "such as 0.01"]),
        (lambda: Compressed(error_feedback=1), TypeError, ["error_feedback=1", "True or False"]),
        (lambda: ParameterServer(-1), ValueError, ["ParameterServer's staleness=-1", "0 is synchronous"]),
        (lambda: ParameterServer(2, exact=1), TypeError, ["ParameterServer's exact=1", "True or False"]),
        (lambda: ParameterServer(None, exact=True), ValueError, ["staleness=None, exact=True", "such as staleness=2"]),
        (lambda: list(train(Serial(), network(), digits(), strategy=ParameterServer())), ValueError, ["1 rank", "AllReduce()"]),
    ],
)
def test_mistakes_are_told(make, error, words):
    with pytest.raises(error) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
