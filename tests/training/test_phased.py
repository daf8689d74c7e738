"""A step that is told phase by phase, and halted within, gives the weights of one that is made at once."""

import base64

import numpy as np
import pytest

from dtnn import Model, optim
from dtnn.comm import Serial, run_threads
from dtnn.commands import Advance, Pause, Rate, Resume, Show, ShowWeights
from dtnn.data import Samples
from dtnn.nn import BatchNorm1d, Dropout, Layer, Linear, ReLU
from dtnn.parallel import Accumulate, AllReduce, Compressed, Exchange, Gossip, LocalSGD, ParameterServer, Sharded
from dtnn.records import Epoch, Finish, Gradients, Ledger, Note, Paused, Phase, Resumed, Step, Stop, Trace, Weights
from dtnn.training import NotFinite, train
from tests.comm.mpi_job import run_mpi

STRATEGIES = [
    AllReduce(), AllReduce(lambda comm, array: comm.Allreduce(array)), AllReduce("ring"), AllReduce(overlap=True), Accumulate(3),
    Sharded(), LocalSGD(3), LocalSGD(2, after=1), Gossip("ring"), Compressed("int8"), ParameterServer(),
    ParameterServer(2, exact=True),
]  # fmt: skip
strategies = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: repr(strategy).partition(" at 0x")[0][:60])
PHASES = ["forward", "backward", "reduce", "update"]


def rows(count=50):
    rng = np.random.default_rng(0)
    return Samples(rng.standard_normal((count, 4)).astype(np.float32), rng.integers(0, 3, count))


def network(*extra, **settings):
    return Model(Linear(5), *extra, ReLU(), Dropout(0.3), Linear(3), input_shape=(4,), **settings)


def answered(comm, answers=(), model=None, **settings):
    """The records of a training that is answered: at a kind of record and its number of that kind, or where it waits (None)."""
    settings = {"batch_size": 8, "epochs": 2, "optimizer": optim.SGD(0.1, momentum=0.5), **settings}
    running, told, command = train(comm, model or network(), rows(), **settings), [], None
    answers, waiting, seen = dict(answers), list(dict(answers).get(None, ())), {}
    while True:
        try:
            record = running.send(command)
        except StopIteration:
            return told
        if record is None:
            command = waiting.pop(0) if waiting else None
        else:
            told.append(record)
            seen[type(record)] = seen.get(type(record), 0) + 1
            command = answers.get((type(record), seen[type(record)])) if comm.rank == 0 else None


def course(records):
    """What happened, in short: phases, steps with their rates, pauses."""
    short = {
        Phase: lambda r: f"{r.step} {r.name}",
        Step: lambda r: (r.step, round(r.lr, 6)),
        Paused: lambda r: f"paused {r.step} {r.phase}".strip(),
        Resumed: lambda r: "on",
        Weights: lambda r: f"weights {r.step}",
        Gradients: lambda r: f"gradients {r.step}",
        Finish: lambda r: r.reason,
    }
    return [short[type(record)](record) for record in records if type(record) in short]


def weights(comm, **settings):
    model = network()
    return answered(comm, model=model, **settings), model.parameters.value.copy()


@strategies
@pytest.mark.parametrize("ranks", [2, *(pytest.param(ranks, marks=pytest.mark.slow) for ranks in (1, 3))])
def test_the_weights_are_the_same_bit_by_bit(strategy, ranks):
    if ranks == 1 and isinstance(strategy, ParameterServer):
        pytest.skip("one rank has no workers")

    def job(comm):
        told, phased = weights(comm, strategy=strategy, phases=True)
        _, plain = weights(comm, strategy=strategy)
        return told, np.array_equal(phased, plain)

    results = [job(Serial())] if ranks == 1 else run_threads(job, ranks)
    assert all(same for _, same in results)
    pieces = 3 if strategy == Accumulate(3) else 1
    names = ["forward", "backward"] * pieces + PHASES[2:]
    for told, _ in results:
        steps = len([record for record in told if isinstance(record, Step)])
        phases = [record for record in told if isinstance(record, Phase)]
        assert [phase.name for phase in phases] == names * steps
        assert [phase.step for phase in phases] == [step for step in range(1, steps + 1) for _ in names]
        assert [phase.piece for phase in phases[: 2 * pieces]] == [piece for piece in range(1, pieces + 1) for _ in range(2)]
        assert {len(phase.values) for phase in phases} == {len(phase.seconds) for phase in phases} == {ranks}
        assert repr([phase.values for phase in phases]) == repr([p.values for p in results[0][0] if isinstance(p, Phase)])


def test_layers_that_reduce_within_a_phase_and_ranks_without_samples():
    def job(comm):
        told, values = [], []
        for phases in (True, False):
            model = network(BatchNorm1d(sync=True))
            settings = dict(batch_size=7, strategy=Accumulate(2), phases=phases)  # the last batch of 50 has one sample
            told.append(answered(comm, model=model, **settings))
            values.append(model.parameters.value.copy())
        return told[0], np.array_equal(*values)

    results = run_threads(job, 3)
    assert all(same for _, same in results)
    last = [record for record in results[0][0] if isinstance(record, Phase) and record.step == 8]
    assert [np.isnan(phase.values).tolist() for phase in last[:2]] == [[False, True, True]] * 2


@pytest.mark.limit(120)
@pytest.mark.parametrize("ranks", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_over_mpi_too(ranks):
    for same, names, halted in run_mpi(__file__, "over_mpi", ranks, seconds=100):
        assert all(same)
        assert names == PHASES * 14
        assert halted == ["1 forward", "paused 1 forward", "on", "1 backward", "1 reduce", "1 update", (1, 0.05), "stopped"]


def over_mpi(pool):
    comm, same, told = pool.checkout(), [], []
    for strategy in (Sharded(), LocalSGD(3), AllReduce(overlap=True), AllReduce()):
        told, phased = weights(comm, strategy=strategy, phases=True)
        same.append(np.array_equal(phased, weights(comm, strategy=strategy)[1]))
    stopped = answered(comm, {(Note, 1): Advance(phases=1), None: [[Rate(0.05), Stop()]]}, phases=True)
    return same, [record.name for record in told if isinstance(record, Phase)], course(stopped)


def test_each_phase_shows_what_it_has_made():
    def job(comm):
        model, norms = network(), {}
        before = model.parameters.value.copy()
        for record in train(comm, model, rows(), batch_size=9, phases=True, keep_gradients_every=1, optimizer=optim.SGD(0.1)):
            norms.setdefault(type(record), []).append(record)
            if isinstance(record, Step):
                break
        return norms, np.linalg.norm(model.parameters.value - before)

    told, moved = run_threads(job, 3)[0]
    forward, backward, reduce, update = told[Phase]
    step, gradients = told[Step][0], told[Gradients][0]
    assert gradients.samples == [3, 3, 3]
    assert np.mean(forward.values) == pytest.approx(step.loss)
    assert backward.values == pytest.approx(np.linalg.norm(gradients.before, axis=0).tolist(), rel=1e-5)
    assert reduce.values == pytest.approx([np.linalg.norm(gradients.total)] * 3, rel=1e-5)
    assert update.values == pytest.approx([0.1 * reduce.values[0]] * 3, rel=1e-5)
    assert moved == pytest.approx(update.values[0], rel=1e-4)
    assert all(seconds > 0 for phase in told[Phase] for seconds in phase.seconds)
    assert sum(phase.seconds[0] for phase in told[Phase]) < step.seconds


def test_a_share_of_the_gradient_is_what_a_rank_goes_on_with():
    def job(comm):
        return [record for record in weights(comm, strategy=Sharded(), phases=True)[0] if isinstance(record, Phase)]

    plain = [r for r in run_threads(lambda comm: weights(comm, phases=True)[0], 3)[0] if isinstance(r, Phase)]
    shared = run_threads(job, 3)[0]
    assert np.linalg.norm(shared[2].values) == pytest.approx(plain[2].values[0], rel=1e-5)
    assert shared[3].values == pytest.approx(plain[3].values, rel=1e-4)  # all have all weights in the end


@strategies
def test_phase_by_phase_through_a_step(strategy):
    """Waiting after each phase, with another rate in between, which the update of that step uses."""
    answers = {
        (Step, 1): Advance(phases=1),
        None: [Advance(phases=1), [Rate(0.02), Advance(phases=1)], *[Advance(phases=1)] * 5, Resume()],
    }

    def job(comm):
        model = network()
        return course(answered(comm, answers, model, strategy=strategy)), model.parameters.value.copy()

    results = run_threads(job, 2)
    told = results[0][0]
    assert told == results[1][0]
    n = {LocalSGD(3): 7, Gossip("ring"): 8}.get(strategy, 3)  # where ranks seldom hear of each other
    at = told.index(f"paused {n} forward")
    assert told[: at + 1] == [*((step, 0.1) for step in range(1, n)), f"{n} forward", f"paused {n} forward"]
    if strategy == Accumulate(3):
        assert told[at + 1 : at + 7] == ["on", "3 backward", "paused 3 backward", "on", "3 forward", "paused 3 forward"]
    else:
        assert told[at + 1 : at + 13] == [
            "on", f"{n} backward", f"paused {n} backward", "on", f"{n} reduce", f"paused {n} reduce", "on", f"{n} update",
            (n, 0.02), f"paused {n}", "on", f"{n + 1} forward",
        ]  # fmt: skip
    assert told[-1] == "done"
    plain = run_threads(lambda comm: rate_from_step(comm, strategy), 2)
    for (_, halted), straight in zip(results, plain):
        np.testing.assert_array_equal(halted, straight)


def rate_from_step(comm, strategy):
    model = network()
    answered(comm, {(Step, 1): Rate(0.02)}, model, strategy=strategy)
    return model.parameters.value.copy()


def halted_at(phase, commands, **settings):
    """What two ranks tell of a training that waits in its third step after a phase, and hears these commands; their weights."""
    answers = {(Step, 1): Advance(phases=1 + PHASES.index(phase)), None: commands}

    def job(comm):
        model = network()
        told = answered(comm, answers, model, trace=1, **settings)
        return told, course(told), model.parameters.value.copy()

    (told, short, value), (_, other, same) = run_threads(job, 2)
    on_all = [entry for entry in short if "weights" not in str(entry) and "gradients" not in str(entry)]
    assert on_all == other
    assert settings.get("strategy") or np.array_equal(value, same)
    return told, short, value


@pytest.mark.parametrize("phase", PHASES[:3])
def test_stop_finishes_the_step_on_all_ranks(phase):
    told, short, value = halted_at(phase, [Stop("enough")])
    place = short.index(f"paused 3 {phase}")
    rest = PHASES[PHASES.index(phase) + 1 :]
    assert short[place + 1 :] == ["on", *(f"3 {name}" for name in rest), (3, 0.1), "stopped"]
    assert told[-1].text == "enough"
    straight = run_threads(lambda comm: three_steps(comm), 2)[0]
    np.testing.assert_array_equal(value, straight)


def three_steps(comm):
    model = network()
    answered(comm, {(Step, 2): Stop()}, model)
    return model.parameters.value.copy()


@pytest.mark.parametrize("phase", PHASES[:3])
@pytest.mark.parametrize(("strategy", "n"), [(None, 3), (LocalSGD(2), 5), (Sharded(), 3), (ParameterServer(), 3)], ids=repr)
def test_a_step_and_a_resume_make_the_rest_of_it(phase, strategy, n):
    settings = {"strategy": strategy} if strategy else {}
    told, short, _ = halted_at(phase, [Advance(1), Resume()], **settings)
    place = short.index(f"paused {n} {phase}")
    rest = PHASES[PHASES.index(phase) + 1 :]
    assert short[place + 1 :][: len(rest) + 4] == ["on", *(f"{n} {name}" for name in rest), (n, 0.1), f"paused {n}", "on"]
    assert short[-2:] == [(14, 0.1), "done"]
    steps = [record for record in told if isinstance(record, Step)]
    pause = next(record for record in told if isinstance(record, Resumed))
    assert pause.seconds > 0.02
    assert steps[n - 1].seconds < pause.seconds + 0.02, "what it waited is not the step's"


def test_a_wait_within_a_step_is_no_phases_time_and_no_trace_is_told_of_it():
    told, _, _ = halted_at("backward", [None] * 10 + [Resume()])
    assert [record.step for record in told if isinstance(record, Trace)] == [1, 2, *range(4, 15)]
    rest = next(record.seconds for record in told if isinstance(record, Resumed))
    assert rest > 0.25
    for ledger in (record for record in told if isinstance(record, Ledger)):
        assert ledger.seconds < rest
    assert next(record for record in told if isinstance(record, Epoch)).seconds < rest


def test_phases_go_on_over_the_end_of_steps_and_epochs():
    told = course(answered(Serial(), {(Step, 6): Advance(phases=6), None: [Resume()]}, epochs=2, batch_size=8))
    assert told[6:17] == [
        (7, 0.1), "8 forward", "8 backward", "8 reduce", "8 update", (8, 0.1), "9 forward", "9 backward", "paused 9 backward",
        "on", "9 reduce",
    ]  # fmt: skip


def test_a_pause_may_follow_any_phase_that_is_told():
    told = course(answered(Serial(), {(Phase, 6): Pause("look"), None: [Advance(phases=1), Resume()]}, phases=True, epochs=1))
    place = told.index("paused 2 reduce")
    assert told[place - 2 : place + 6] == [
        "2 backward", "2 reduce", "paused 2 reduce", "on", "2 update", (2, 0.1), "paused 2", "on",
    ]  # fmt: skip


@pytest.mark.parametrize(("phase", "step"), [("forward", 3), ("backward", 3), ("reduce", 4)])
def test_gradients_are_those_of_this_step_where_they_still_can(phase, step):
    """...and of the next one after the reduction; then it pauses again."""
    _, short, _ = halted_at(phase, [Show("linear_1"), Stop()])
    assert [entry for entry in short if "gradients" in str(entry)] == [f"gradients {step}"]
    assert short[-4:] == [(step, 0.1), f"paused {step}", "on", "stopped"]


@pytest.mark.parametrize("phase", PHASES)
def test_weights_are_told_without_a_step(phase):
    told, short, _ = halted_at(phase, [ShowWeights(), ShowWeights("linear_1"), Stop()])
    place = short.index(f"paused 3 {phase}".removesuffix(" update"))
    done = 3 if phase == "update" else 2
    assert short[place + 1 : place + 4] == [f"weights {done}"] * 2 + ["on"]
    assert [len(record.arrays) for record in told if isinstance(record, Weights)] == [4, 2]


def test_weights_are_those_after_the_step_and_each_ranks_own():
    def job(comm):
        model, kept = network(), {}
        running = train(comm, model, rows(), batch_size=8, strategy=LocalSGD(4), epochs=2)
        told, command, waiting = [], None, [Advance(1), ShowWeights("linear_2.bias", 1), Resume()]
        for _ in range(10**6):
            try:
                record = running.send(command)
            except StopIteration:
                break
            told.append(record)
            command = Pause() if isinstance(record, Step) and record.step == 1 else None
            if record is None:
                command = waiting.pop(0) if waiting else None
            if isinstance(record, Step):
                kept[record.step] = model.net.layers[-1].bias.value.copy()
        return [record for record in told if isinstance(record, Weights)], kept

    (none, other), (found, kept) = run_threads(job, 2)
    assert none == []
    assert len(found) == 1
    assert (found[0].rank, found[0].step, list(found[0].arrays)) == (1, 8, ["linear_2.bias"])
    value = np.frombuffer(base64.b64decode(found[0].arrays["linear_2.bias"]["values"]), np.float32)
    np.testing.assert_array_equal(value, kept[8])
    assert not np.array_equal(value, other[8])


class Apart(Exchange):
    lockstep = False

    def combine(self, tail, count, total, progress):
        return 0


class Own:
    def begin(self, comm, parameters, optimizer):
        return Apart(self, comm, parameters, optimizer)

    def __repr__(self):
        return "Own()"


def test_a_strategy_whose_ranks_are_at_different_steps_says_so():
    job = lambda comm, strategy: list(train(comm, network(), rows(), phases=True, strategy=strategy))  # noqa: E731
    with pytest.raises(ValueError, match=r"phases=True, but ParameterServer\(staleness=None\) lets each worker.*staleness=0"):
        run_threads(job, 2, Accumulate(2, ParameterServer(None)))
    with pytest.raises(ValueError, match=r"phases=True, but Own\(\) lets ranks be at different steps"):
        run_threads(job, 2, Own())


def test_of_such_a_strategy_a_whole_step_is_made():
    answers = {(Step, 1): Pause(), None: [Advance(phases=1), Resume()]}
    for told in run_threads(lambda comm: answered(comm, answers, strategy=ParameterServer(None)), 2):
        short = course(told)
        paused = [entry for entry in short if "paused" in str(entry)]
        assert len(paused) == 2
        assert int(paused[1].split()[1]) >= int(paused[0].split()[1]) + 1
        assert not any(isinstance(record, Phase) for record in told)
    assert short[-1] == "done"


def test_numbers_that_are_not_finite_end_it_as_without():
    class Spoils(Layer):
        def forward(self, x, step=None):
            return (x * np.float32(np.inf) if step is not None and step.number == 3 else x), lambda dy: dy

    def job(comm):
        with pytest.raises(NotFinite, match="step 3 left the finite numbers, first in the output of spoils_1"):
            answered(comm, model=network(Spoils()), phases=True)

    run_threads(job, 2)


def test_a_rank_that_fails_frees_those_that_wait_within_a_step():
    class Fails(Layer):
        def forward(self, x, step=None):
            return x, lambda dy: dy

    def job(comm):
        running, command = train(comm, network(Fails()), rows(), batch_size=8), None
        while True:
            record = running.send(command)
            command = Advance(phases=2) if isinstance(record, Step) and record.step == 1 else None
            if comm.rank == 0 and record is None:
                raise ZeroDivisionError("while all wait")

    with pytest.raises(ZeroDivisionError, match="while all wait"):
        run_threads(job, 2)


def test_fit_tells_phases_and_refuses_them_where_there_are_none():
    data = rows(16)
    history = network().fit(data.x, data.y, batch_size=8, phases=True, show=False)
    assert [record.name for record in history.records if isinstance(record, Phase)] == PHASES * 2
    for phases, error, words in [(1, TypeError, r"phases=1: give True or False"), (True, ValueError, r"phases=True, but Param")]:
        with pytest.raises(error, match=words):
            network().fit(data.x, data.y, phases=phases, strategy=ParameterServer(None), show=False)
