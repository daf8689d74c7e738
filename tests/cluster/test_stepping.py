"""A training is led through a step phase by phase, and its weights are looked at while it goes on; on ranks of both kinds."""

import threading
import time

import numpy as np
import pytest

import dtnn
from dtnn import Model, optim
from dtnn.cluster import Run
from dtnn.nn import BatchNorm1d, Flatten, Linear, ReLU
from dtnn.parallel import Accumulate, AllReduce, LocalSGD, ParameterServer, Sharded
from dtnn.plots.live import Live
from dtnn.records import Paused, Phase, Refused, Step, Weights

SECONDS = 40
SOON = 3.0  # seconds; the promise is half a second, a machine that others use gets some more
NEVER_AT_REST = optim.SGD(0.05, momentum=0.9, weight_decay=0.01)
SETTINGS = {"epochs": 10**6, "batch_size": 20, "optimizer": NEVER_AT_REST}
PHASES = ["forward", "backward", "reduce", "update"]
SOME = [None, LocalSGD(3), Accumulate(2), AllReduce(overlap=True), Sharded(), ParameterServer()]


def network(*extra):
    return Model(Flatten(), *extra, Linear(16), ReLU(), Linear(10), input_shape=(28, 28, 1))


def few(count=100):
    digits = dtnn.data.mnist5k()
    return digits.x_train[::40][:count], digits.y_train[::40][:count]


@pytest.fixture
def start(cluster):
    """Begin a training that would take for ever; ended with the test."""
    started = []

    def begin(model=None, rows=100, **settings):
        run = (model or network()).start(*few(rows), cluster=cluster, **{**SETTINGS, **settings})
        started.append(run)
        until_true(lambda: run.records.last(Step), 60)  # it may compile
        return run

    yield begin
    for run in started:
        run.end(patience=5.0)


def until_true(holds, seconds=SECONDS):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.005)
    assert holds()


def halted(run, phase="", step=0):
    """Wait until the run waits after that phase of a step, or after a step, that one or a later one; returns its last pause."""
    until_true(lambda: run.state == "paused" and (last := run.records.last(Paused)).phase == phase and last.step >= step)
    return run.records.last(Paused)


def lead_to(run, phase):
    """To the end of a phase of the next step."""
    run.pause()
    before = halted(run).step
    run.step(phases=1 + PHASES.index(phase))
    last = halted(run, phase.removesuffix("update"), before + 1)
    assert last.step == before + 1
    return last.step


@pytest.mark.limit(120)
@pytest.mark.parametrize(
    "strategy", [SOME[0], *(pytest.param(strategy, marks=pytest.mark.slow) for strategy in SOME[1:])], ids=repr
)
def test_a_run_is_led_through_a_step(start, strategy):
    run = start(strategy=strategy)
    run.pause()
    before = halted(run).step
    names = PHASES[:2] * (2 if strategy == Accumulate(2) else 1) + PHASES[2:]
    for name in names:
        run.step(phases=1)
        number = len(run.records.of(Phase)) + 1
        until_true(lambda: len(run.records.of(Phase)) >= number)  # noqa: B023
        last, told = halted(run, name.removesuffix("update"), before + 1), run.records.last(Phase)
        assert (told.name, told.step, last.step) == (name, before + 1, before + 1)
        assert len(told.values) == len(told.seconds) == 2
        assert np.isfinite(told.values).any()
    assert [phase.name for phase in run.records.of(Phase)] == names
    assert [step.step for step in run.records.of(Step)] == list(range(1, before + 2))
    run.resume()
    until_true(lambda: run.records.last(Step).step > before + 5)
    assert len(run.records.of(Phase)) == len(names), "it goes on in whole steps"
    assert run.state == "running"


def test_where_it_waits_is_said(start):
    run = start()
    step = lead_to(run, "backward")
    assert run.waiting_for == (
        f"you: paused by the user after backward of step {step}; run.resume() goes on, run.step(phases=1) makes the next phase, "
        "run.step() the rest"
    )
    assert Live(run).headline[0] == "paused"
    run.step()
    assert halted(run, step=step).step == step
    assert run.waiting_for.endswith(f"after step {step}; run.resume() goes on, run.step() makes one step")


@pytest.mark.limit(120)
def test_being_led_changes_no_weight(cluster):
    x, y = few()
    models = network(), network()
    settings = {**SETTINGS, "epochs": 100, "cluster": cluster}
    run = models[0].start(x, y, **settings)
    run.step(phases=1)
    halted(run, "forward")
    run.step(phases=5)
    halted(run, "backward")
    run.gradients("linear_1", timeout=SECONDS)
    run.weights(timeout=SECONDS)
    run.step(phases=2)
    halted(run, "backward")
    run.resume()
    run.result(SECONDS)
    models[1].start(x, y, **settings).result(SECONDS)
    np.testing.assert_array_equal(models[0].parameters.value, models[1].parameters.value)


@pytest.mark.limit(120)
@pytest.mark.parametrize("phase", PHASES)
def test_a_stop_within_a_step_finishes_it(start, cluster, phase):
    model = network()
    run = start(model, rows=20)  # an epoch is a step
    step = lead_to(run, phase)
    asked = time.monotonic()
    run.stop("seen enough")
    assert run.wait(SECONDS)
    print(f"stopped after {time.monotonic() - asked:.3f} s")
    assert time.monotonic() - asked < SOON
    assert run.state == "stopped"
    assert run.records.last(Step).step == step
    straight = network()
    straight.start(*few(20), cluster=cluster, **{**SETTINGS, "epochs": step}).result(SECONDS)
    np.testing.assert_array_equal(model.parameters.value, straight.parameters.value)


@pytest.mark.parametrize("how", ["interrupt", "end"])
def test_a_run_that_waits_within_a_step_hears_the_end_at_once(start, cluster, how):
    run = start()
    lead_to(run, "forward")
    asked = time.monotonic()
    getattr(run, how)()
    assert run.wait(SECONDS)
    assert time.monotonic() - asked < SOON
    assert run.state == ("interrupted" if how == "interrupt" else "stopped")
    assert cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result(SECONDS) == 3


def test_another_rate_is_that_of_the_update_of_the_step(start):
    run = start()
    step = lead_to(run, "reduce")
    run.set_lr(0.125)
    run.step(phases=1)
    assert halted(run).step == step
    assert [record.lr for record in run.records.of(Step)][-2:] == [0.05, 0.125]


def test_gradients_within_a_step_are_of_this_step(start):
    run = start()
    step = lead_to(run, "backward")
    told = run.records.last(Phase)
    view = run.gradients("linear_1", timeout=SECONDS)
    assert view.step == step
    np.testing.assert_allclose(np.linalg.norm(view.norms, axis=0), told.values, rtol=1e-5)
    assert halted(run).step == step
    assert run.records.last(Step).step == step


def test_weights_of_a_run_that_goes_on(start):
    model = network(BatchNorm1d())
    run = start(model)
    early = run.weights(timeout=SECONDS)
    steps = run.records.last(Step).step
    until_true(lambda: run.records.last(Step).step > steps + 3)
    assert run.state == "running"
    bias = run.weights("linear_2.bias", timeout=SECONDS)
    assert set(early) == set(model.state_dict())
    assert {name: array.shape for name, array in early.items()} == {name: a.shape for name, a in model.state_dict().items()}
    assert early["batchnorm1d_1.running_mean"].dtype == np.float32
    assert list(bias) == ["linear_2.bias"]
    assert bias.step > early.step
    assert not np.array_equal(bias["linear_2.bias"], early["linear_2.bias"])
    assert set(run.weights("batchnorm1d_1", timeout=SECONDS)) == {name for name in early if name.startswith("batchnorm1d_1.")}
    assert not run.records.of(Weights), "they are kept by nobody else"
    twin = network(BatchNorm1d())
    twin.load_state_dict(early)


def test_weights_of_a_run_that_waits_are_those_of_now(start):
    """...and no step is made for them."""
    model = network()
    run = start(model)
    step = lead_to(run, "reduce")
    within = run.weights(timeout=SECONDS)
    run.step()
    halted(run)
    after = run.weights(timeout=SECONDS)
    assert (within.step, after.step) == (step - 1, step)
    assert run.records.last(Step).step == step
    moved = np.sqrt(sum(np.square(after[name] - within[name]).sum() for name in after))
    assert moved > 0
    run.step(phases=4)
    halted(run, step=step + 1)
    last = run.weights(timeout=SECONDS)
    run.stop()
    run.result(SECONDS)
    for name, array in model.state_dict().items():
        np.testing.assert_array_equal(array, last[name])
    ended = run.weights("linear_1")
    assert ended.step == step + 1
    np.testing.assert_array_equal(ended["linear_1.weight"], last["linear_1.weight"])


def test_replicas_that_differ_have_weights_of_their_own(start):
    run = start(strategy=LocalSGD(10**6), optimizer=optim.SGD(0.001))  # where it has learnt all, nothing changes
    lead_to(run, "update")
    mine, theirs = run.weights(timeout=SECONDS), run.weights(rank=1, timeout=SECONDS)
    assert (mine.rank, theirs.rank) == (0, 1)
    assert mine.step == theirs.step
    assert not np.array_equal(mine["linear_1.weight"], theirs["linear_1.weight"])


def test_where_ranks_are_at_different_steps_what_can_not_be_is_said_at_once(start):
    run = start(strategy=ParameterServer(None))
    asked = time.monotonic()
    with pytest.raises(
        ValueError, match=r"gradients: ParameterServer\(staleness=None\) lets each worker be at a step of its own"
    ):
        run.gradients("linear_1")
    with pytest.raises(ValueError, match=r"step\(phases=1\): ParameterServer\(staleness=None\) lets each worker"):
        run.step(phases=1)
    assert time.monotonic() - asked < 1
    assert run.weights(timeout=SECONDS)["linear_1.weight"].shape == (16, 784)
    assert not run.done


class Own:
    """A strategy as a user may write one: it does not say that its ranks are at different steps."""

    def begin(self, comm, parameters, optimizer):
        return ParameterServer(None).begin(comm, parameters, optimizer)


@pytest.mark.parametrize("paused", [False, True])
def test_a_strategy_that_says_nothing_of_its_steps_is_found_out(start, paused):
    run = start(strategy=Own())
    if paused:
        run.pause()
        until_true(lambda: run.state == "paused")
    with pytest.raises(
        ValueError, match=r"gradients: ParameterServer\(.*at different steps; use a strategy whose ranks take each"
    ):
        run.gradients("linear_1", timeout=SECONDS)
    refused = run.records.of(Refused)
    assert [record.layer for record in refused] == ["linear_1"]
    if paused:
        until_true(lambda: run.state == "paused")
    assert not run.done


def test_two_who_ask_at_once_both_get_their_weights(start):
    run, found = start(), {}

    def ask(name):
        found[name] = run.weights(name, timeout=SECONDS)

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("linear_1", "linear_2", None, "linear_1")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert {name: len(told) for name, told in found.items()} == {"linear_1": 2, "linear_2": 2, None: 4}


def test_what_has_no_weights_says_so(start, cluster, tmp_path):
    run = start()
    run.interrupt()
    assert run.wait(SECONDS)
    with pytest.raises(RuntimeError, match=r"weights: the run has ended \(interrupted\) and left none"):
        run.weights()
    run.save(tmp_path / "run.json")
    with pytest.raises(ValueError, match=r"gradients: there is no 'linaer_1'; did you mean 'linear_1'\?"):
        Run.load(tmp_path / "run.json").gradients("linaer_1")
    plain = cluster.run(lambda comm: comm.size)
    assert plain.result(SECONDS) == 2
    with pytest.raises(RuntimeError, match=r"weights: .*lambda.* tells nothing of layers that are trained"):
        plain.weights()


def test_what_is_frozen_has_no_gradient_and_says_where_it_is(start):
    model = network(BatchNorm1d())
    model.layers[2].trainable = False
    run = start(model)
    with pytest.raises(ValueError, match=r"gradients: 'linear_1' is not trained, so it has none; run.weights\('linear_1'\)"):
        run.gradients("linear_1")
    with pytest.raises(ValueError, match=r"gradients: 'batchnorm1d_1.running_var' is not trained"):
        run.gradients("batchnorm1d_1.running_var")
    assert len(run.weights("linear_1", timeout=SECONDS)) == 2
