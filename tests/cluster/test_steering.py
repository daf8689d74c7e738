"""A training that runs on ranks is paused, stepped through, changed, and looked into, on ranks of both kinds."""

import os
import threading
import time

import numpy as np
import pytest

import dtnn
from dtnn import Model, optim
from dtnn.cluster import Run
from dtnn.commands import Pause, Rate
from dtnn.nn import Flatten, Linear, ReLU
from dtnn.parallel import AllReduce, Gossip, LocalSGD, ParameterServer, Sharded
from dtnn.plots.live import Live
from dtnn.records import Gradients, GradientValues, Note, Paused, Resumed, Start, Step
from tests.training import known_noise as known


def own_sum(comm, array):
    comm.Allreduce(array)


MORE = [pytest.param(strategy, marks=pytest.mark.slow) for strategy in (Sharded(), Gossip(), ParameterServer())]
SECONDS = 20
SOON = 3.0  # seconds; the promise is half a second, a machine that others use gets some more


def network(*extra, **settings):
    return Model(Flatten(), *extra, Linear(16), ReLU(), Linear(10), input_shape=(28, 28, 1), **settings)


def few(count=100):
    digits = dtnn.data.mnist5k()
    return digits.x_train[::40][:count], digits.y_train[::40][:count]


@pytest.fixture
def start(cluster):
    """Begin a training that would take for ever; ended with the test."""
    started = []

    def begin(model=None, **settings):
        settings = {"epochs": 10**6, "batch_size": 20, "optimizer": optim.SGD(0.05), **settings}
        run = (model or network()).start(*few(), cluster=cluster, **settings)
        started.append(run)
        until_true(lambda: run.records.of(Step))
        return run

    yield begin
    for run in started:
        run.end(patience=5.0)


def until_true(holds, seconds=SECONDS):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.005)
    assert holds()


def paused(run):
    asked = time.monotonic()
    run.pause()
    until_true(lambda: run.state == "paused")
    return time.monotonic() - asked


def test_a_run_pauses_steps_goes_on_and_is_stopped(start):
    run = start()
    seconds = paused(run)
    print(f"paused after {seconds:.3f} s")
    assert seconds < SOON
    last = run.records.last(Paused)
    assert last.text == "paused by the user"
    assert last.step == run.records.last(Step).step
    assert run.waiting_for == f"you: paused by the user after step {last.step}; run.resume() goes on, run.step() makes one step"
    assert "paused" in repr(run)
    assert Live(run).headline[0] == "paused"
    told = len(run.records.of(Step))  # of rank 1 something may still be on its way
    time.sleep(0.5)
    assert len(run.records.of(Step)) == told
    run.step()
    until_true(lambda: run.records.last(Paused).step == last.step + 1)
    run.step(3)
    until_true(lambda: run.records.last(Paused).step == last.step + 4)
    assert [record.step for record in run.records.of(Step)] == list(range(1, last.step + 5))
    asked = time.monotonic()
    run.resume()
    until_true(lambda: run.records.last(Step).step > last.step + 10)
    assert run.state == "running"
    assert time.monotonic() - asked < SOON
    paused(run)
    asked = time.monotonic()
    run.stop("seen enough")
    assert run.wait(SECONDS)
    assert time.monotonic() - asked < SOON
    assert run.state == "stopped"


def seconds_of_cores(pid):
    """Processor time that a process has used so far."""
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="the system doesn't tell what processes use")
@pytest.mark.parametrize("deterministic", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_ranks_that_pause_use_next_to_no_time_of_their_cores(start, cluster, deterministic):
    run = start(deterministic=deterministic)
    paused(run)
    time.sleep(0.3)  # records are on their way
    ranks = {row["pid"] for row in cluster.describe()}
    before, began = {pid: seconds_of_cores(pid) for pid in ranks}, time.monotonic()
    time.sleep(2.5)
    shares = [(seconds_of_cores(pid) - used) / (time.monotonic() - began) for pid, used in before.items()]
    print(f"share of a core of each process with ranks that pause: {shares}")
    assert max(shares) < 0.03  # 2 %, and the clock ticks of a hundredth second


@pytest.mark.parametrize("how", ["interrupt", "end"])
def test_a_paused_run_hears_the_end_at_once(start, cluster, how):
    run = start()
    paused(run)
    asked = time.monotonic()
    getattr(run, how)()
    assert run.wait(SECONDS)
    assert time.monotonic() - asked < SOON
    assert run.state == ("interrupted" if how == "interrupt" else "stopped")
    assert cluster.run(lambda comm: comm.Allreduce(comm.rank + 1)).result(SECONDS) == 3


def test_a_run_that_was_stopped_can_be_followed_at_once(start, cluster):
    """By another training of the same model, which goes on with what the first has learnt."""
    model, steps = network(), 0
    for ends in ("stop", "interrupt", "stop"):
        run = start(model)
        getattr(run, ends)()
        assert run.ending or run.done
        model.fit(*few(), cluster=cluster, batch_size=50, show=False)
        assert run.done
        assert run.state == {"stop": "stopped"}.get(ends, "interrupted")
        assert model.steps >= steps + 2 + (ends == "stop")
        steps = model.steps


def test_a_run_that_was_stopped_and_goes_on_is_not_waited_for_for_ever(start, cluster, monkeypatch):
    monkeypatch.setattr("dtnn.readiness.ENDING", 0.2)
    model = network()
    run = start(model)
    monkeypatch.setattr(run, "_stop_asked", time.monotonic())  # as if it had been asked, and did not hear
    with pytest.raises(RuntimeError, match=r"being trained by a run.*model\.run\.end\(\)"):
        model.fit(*few(), cluster=cluster, show=False)


def test_a_pause_changes_no_weight(cluster):
    """What came back bit by bit: a run that was paused, stepped and looked into, and one that was not."""
    x, y = few()
    models = network(), network()
    settings = dict(epochs=300, batch_size=20, optimizer=optim.SGD(0.05, momentum=0.9), cluster=cluster)
    run = models[0].start(x, y, **settings)
    run.pause()
    run.step()
    run.gradients("linear_1", timeout=SECONDS)
    run.resume()
    run.result(SECONDS)
    assert len(run.records.of(Paused)) == len(run.records.of(Resumed)) >= 1
    models[1].start(x, y, **settings).result(SECONDS)
    np.testing.assert_array_equal(models[0].parameters.value, models[1].parameters.value)


@pytest.mark.parametrize(
    "strategy",
    [None, AllReduce(own_sum), LocalSGD(4), ParameterServer(None), *MORE],
    ids=lambda one: repr(one).partition(" at 0x")[0],
)
def test_a_rate_is_changed_while_it_runs(start, strategy):
    run = start(strategy=strategy)
    asked = time.monotonic()
    run.set_lr(0.125)
    until_true(lambda: run.records.last(Step).lr == 0.125)
    print(f"another rate after {time.monotonic() - asked:.3f} s")
    assert time.monotonic() - asked < SOON
    run.set_lr(factor=0.5)
    until_true(lambda: run.records.last(Step).lr == 0.025)
    run.set_lr()
    until_true(lambda: run.records.last(Step).lr == 0.05)


def test_a_callback_may_change_the_rate_and_pause(start):
    def callback(record):
        if isinstance(record, Step) and record.step == 4:
            return [Rate(0.01), Pause("look at step 5")]

    run = start(callbacks=[callback])
    until_true(lambda: run.state == "paused")
    assert run.records.last(Paused).text == "look at step 5"
    assert run.records.last(Paused).step == 5
    run.step()
    until_true(lambda: run.records.last(Step).step == 6)
    assert [record.lr for record in run.records.of(Step)] == [0.05] * 5 + [0.01]


def test_a_fit_that_holds_the_cell_does_not_pause_for_ever(cluster):
    callbacks = [lambda record: Pause() if isinstance(record, Step) else None]
    with pytest.raises(RuntimeError, match=r"a callback paused this training.*model.start"):
        network().fit(*few(), cluster=cluster, callbacks=callbacks, show=False)
    assert cluster.run(lambda comm: comm.size).result(timeout=SECONDS) == cluster.ranks


def test_what_makes_no_sense_is_refused(start, cluster):
    run = start()
    with pytest.raises(ValueError, match="lr=-1: give a learning rate of at least 0"):
        run.set_lr(-1)
    with pytest.raises(ValueError, match="factor=0: give a number above 0"):
        run.set_lr(factor=0)
    with pytest.raises(ValueError, match="steps=0: give a whole number of at least 1"):
        run.step(0)
    with pytest.raises(ValueError, match=r"gradients: there is no 'liner_2'; did you mean 'linear_2'\?"):
        run.gradients("liner_2")
    with pytest.raises(ValueError, match=r"there is no 'linear_2.wight'; did you mean 'linear_2.weight'\?"):
        run.gradients("linear_2.wight")
    with pytest.raises(ValueError, match=r"there is no 'linear_2.no'; there are linear_2.weight, linear_2.bias"):
        run.gradients("linear_2.no")
    with pytest.raises(ValueError, match=r"weights: there is no 'linear_2.no'; there are linear_2.weight, linear_2.bias"):
        run.weights("linear_2.no")
    with pytest.raises(ValueError, match="weights: rank=2: there are 2 ranks, numbered 0 to 1"):
        run.weights(rank=2)
    with pytest.raises(ValueError, match="phases=0: give a whole number of at least 1"):
        run.step(phases=0)
    for asked, name in ((run.wait, "timeout"), (run.result, "timeout"), (run.end, "patience")):
        with pytest.raises(TypeError, match=f"{name}='x': give seconds"):
            asked(**{name: "x"})
    with pytest.raises(TypeError, match="gradients: timeout=None: give seconds"):
        run.gradients("linear_1", timeout=None)
    with pytest.raises(TypeError, match="weights: timeout='x': give seconds"):
        run.weights(timeout="x")
    with pytest.raises(TypeError, match=r"then\(5\): give a function of the result"):
        run.then(5)
    with pytest.raises(ValueError, match="steps=2 and phases=1: give one of them"):
        run.step(2, phases=1)
    with pytest.raises(ValueError, match="of which layer\\? There are linear_1, linear_2"):
        run.gradients()
    with pytest.raises(ValueError, match=r"no gradients of step 3 were kept; keep some: .*keep_gradients_every=100"):
        run.gradients("linear_1", step=3)
    assert not run.done
    run.end(patience=5.0)
    for name, *given in (("pause",), ("step",), ("resume",), ("set_lr", 0.1)):
        with pytest.raises(RuntimeError, match=rf"^{name}: this run has ended \(stopped\).*model.start\(...\)"):
            getattr(run, name)(*given)
    with pytest.raises(ValueError, match="no gradients of any step were kept"):
        run.gradients("linear_1")


def test_a_job_that_takes_no_commands_says_so_and_goes_on(cluster):
    def plain(comm):
        time.sleep(1.0)
        return comm.Allreduce(comm.rank + 1)

    run = cluster.run(plain)
    until_true(lambda: run.state == "running")
    run.pause()
    until_true(lambda: run.records.of(Note), 5)
    assert run.records[-1].text == "plain is no generator, so it can't hear Pause(text='paused by the user')"
    assert run.result(SECONDS) == 3
    assert run.state == "done"


def test_only_a_training_has_gradients(cluster):
    def plain(comm):
        yield Start(time.time(), comm.size)
        while not (yield None):
            time.sleep(0.01)

    run = cluster.run(plain)
    try:
        with pytest.raises(RuntimeError, match="plain tells nothing of layers that are trained"):
            run.gradients("linear_1", timeout=SECONDS)
    finally:
        run.interrupt()
        assert run.wait(SECONDS)


def test_gradients_just_after_a_resume_do_not_pause_again(start):
    run = start()
    run.pause()
    until_true(lambda: run.state == "paused")
    run.resume()
    run.gradients("linear_2", timeout=SECONDS)
    steps = len(run.records.of(Step))
    until_true(lambda: len(run.records.of(Step)) > steps + 5)
    assert run.state == "running"


def test_gradients_are_those_of_the_ranks_and_their_sum(start):
    run = start(optimizer=optim.SGD(0.0), batch_size=100)  # full batch, no change: every step is the same
    view = run.gradients("linear_2", timeout=SECONDS)
    assert (view.ranks, view.samples, view.asked) == (2, [50, 50], "linear_2")
    own, held = view.before("linear_2.weight"), view.reduced("linear_2.weight")
    assert own.shape == (2, 10, 16)
    assert held.shape == (1, 10, 16)
    np.testing.assert_allclose(own.sum(0), held[0], rtol=1e-5, atol=1e-7)
    square = np.square(own[0]).sum() + np.square(view.before("linear_2.bias")[0]).sum()
    assert view.norms[1, 0] == pytest.approx(np.sqrt(square), rel=1e-5)
    assert view.warning == ""
    parts = [view.before(f"linear_2.{name}").reshape(2, -1) for name in ("weight", "bias")]
    one, other = np.concatenate(parts, axis=1)
    assert view.cosines("linear_2")[0, 1] == pytest.approx(one @ other / np.linalg.norm(one) / np.linalg.norm(other), rel=1e-4)
    again = run.gradients("linear_2.weight", timeout=SECONDS)
    assert list(again.parameters) == ["linear_2.weight"]
    np.testing.assert_allclose(again.reduced(), held, rtol=1e-3, atol=1e-6)  # the shares are others, the batch is the same
    assert again.step > view.step


def test_gradients_of_a_paused_run_are_those_of_its_next_step(start):
    run = start()
    paused(run)
    before = run.records.last(Step).step
    view = run.gradients("linear_1", timeout=SECONDS)
    assert view.step == before + 1
    until_true(lambda: run.state == "paused" and run.records.last(Paused).step == before + 1)
    picture = view.plot()._repr_png_()
    assert picture.startswith(b"\x89PNG")


def test_a_wrong_reduction_is_seen(start):
    def forgetful(comm, array):
        """Halves what it sums on rank 1."""
        comm.Allreduce(array)
        if comm.rank == 1:
            array *= 0.5

    run = start(strategy=AllReduce(forgetful, checked=False), optimizer=optim.SGD(0.0))
    view = run.gradients("linear_1", timeout=SECONDS)
    assert "rank 1 went on with something else than the sum" in view.warning
    assert view.off("linear_1").tolist() == pytest.approx([0.0, 0.5], abs=1e-5)
    assert view.reduced("linear_1.bias").shape == (2, 16)


def test_gradients_are_kept_every_so_often(cluster, tmp_path):
    model = network()
    x, y = few()
    run = model.start(x, y, cluster=cluster, epochs=3, batch_size=10, keep_gradients_every=10)
    run.result(SECONDS)
    assert [record.step for record in run.records.of(Gradients)] == [10, 20, 30]
    assert len(run.records.of(GradientValues)) == 3
    view = run.gradients(step=20)
    assert (view.step, view.layers) == (20, ["linear_1", "linear_2"])
    assert "linear_1.weight: one number in" in view.left_out
    assert view.before("linear_2.bias").shape == (2, 10)
    assert run.gradients("linear_2").step == 30
    with pytest.raises(ValueError, match="no gradients of step 15 were kept; there are those of steps 10, 20, 30"):
        run.gradients(step=15)
    path = os.fspath(tmp_path / "run.json")
    run.save(path)
    loaded = Run.load(path)
    np.testing.assert_array_equal(loaded.gradients(step=20).before("linear_2.bias"), view.before("linear_2.bias"))
    assert loaded.gradients(step=20).columns == view.columns


def test_the_noise_scale_of_a_run_is_that_of_its_samples(cluster):
    """Known from each sample's gradient, of weights that stay as they are."""
    data, (_, scale) = known.rows(), known.true_noise_and_scale()
    settings = dict(loss="mse", optimizer=optim.SGD(0.0), batch_size=known.BATCH, epochs=4, keep_gradients_every=5)
    run = known.network().start(data.x, data.y, cluster=cluster, **settings)
    run.result(SECONDS)
    assert scale > 5
    assert dtnn.gradients.noise_scale(run.records) == pytest.approx(scale, rel=0.3)
    assert dtnn.gradients.noise_scale(run.records.of(Gradients)) == pytest.approx(scale, rel=0.3)
    assert dtnn.gradients.noise_scale(run.records.of(Step)) == pytest.approx(scale, rel=0.3)


def test_two_who_ask_at_once_both_get_what_they_asked_for(start):
    run, found = start(), {}

    def ask(name):
        found[name] = run.gradients(name, timeout=SECONDS)

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("linear_1", "linear_2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert {name: list(view.parameters) for name, view in found.items()} == {
        name: [f"{name}.weight", f"{name}.bias"] for name in ("linear_1", "linear_2")
    }
