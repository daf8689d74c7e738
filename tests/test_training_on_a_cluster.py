"""The main job: a model trained on the ranks of a cluster, from this process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dtnn
from dtnn import Model, Stop, optim
from dtnn.nn import Flatten, Layer, Linear, ReLU
from dtnn.plots.live import Live
from dtnn.records import Epoch, Finish, Ledger, Note, Place, Step
from dtnn.sentence import sentence
from tests.comm.mpi_job import why_no_mpi

ROOT = Path(__file__).parents[1]
needs_mpi = pytest.mark.skipif(bool(why_no_mpi()), reason=why_no_mpi())


def network(*extra):
    return Model(Flatten(), *extra, Linear(16), ReLU(), Linear(10), input_shape=(28, 28, 1))


def few(count=100):
    digits = dtnn.data.mnist5k()
    return digits.x_train[::40][:count], digits.y_train[::40][:count]


def test_the_weights_are_those_of_one_rank_and_come_back(cluster):
    x, y = few()
    there, here = network(), network()
    start = here.parameters.value.copy()
    settings = dict(epochs=1, batch_size=10, optimizer=optim.SGD(0.05, momentum=0.9), show=False)
    history = there.fit(x, y, cluster=cluster, **settings)
    here.fit(x, y, **settings)
    moved = np.linalg.norm(here.parameters.value - start)
    assert np.linalg.norm(there.parameters.value - here.parameters.value) / moved < 1e-5
    assert history.reason == "done"
    assert [record.step for record in history.records.of(Step)] == list(range(1, 11))
    ledgers = history.records.of(Ledger)
    assert {record.rank for record in ledgers} == {0, 1}
    assert all(sum(record.samples for record in ledgers if record.rank == rank) == 50 for rank in (0, 1))
    assert {record.rank for record in history.records.of(Place)} == {0, 1}
    assert there.steps == 10


def test_a_run_leaves_this_process_free_and_is_stopped_cleanly(cluster):
    x, y = few()
    model = network()
    before = model.parameters.value.copy()
    run = model.start(x, y, cluster=cluster, epochs=10**6, batch_size=10)
    steps = (record for record in run if isinstance(record, Step))
    first = next(steps)
    assert first.step == 1
    assert not run.done
    run.stop()
    run.result(20)
    assert run.state == "stopped"
    assert (model.parameters.value != before).any()
    assert model.steps == run.records.last(Step).step
    assert run.history.reason == "stopped"


class FailsOnRankOne(Layer):
    """A user's layer that goes wrong on one rank, at step 3."""

    def forward(self, x, step=None):
        if step.number == 3 and step.first > 0:
            raise ValueError("a mistake in my layer")
        return x, lambda dy: dy


def test_one_rank_raises_and_the_next_fit_is_right(cluster):
    """Cases 1 and E5."""
    x, y = few()
    model = network(FailsOnRankOne())
    began = time.perf_counter()
    with pytest.raises(ValueError, match="a mistake in my layer") as caught:
        model.fit(x, y, cluster=cluster, epochs=5, batch_size=10, show=False)
    print(f"failure told after {time.perf_counter() - began:.2f} s")
    story = str(caught.value.__cause__)
    assert story.strip().startswith("Rank 1 failed")
    assert "in forward" in story
    assert "rank 0 waited in Allreduce" in story
    assert model.history.reason == "failed"
    assert [record.step for record in model.history.records.of(Step)] == [1, 2]
    test_the_weights_are_those_of_one_rank_and_come_back(cluster)


def test_a_callback_raises_on_rank_0(cluster):
    """Case 1, second half."""
    x, y = few()

    def fail(record):
        if isinstance(record, Step) and record.step == 3:
            raise RuntimeError("a mistake in my callback")

    model = network()
    with pytest.raises(RuntimeError, match="a mistake in my callback") as caught:
        model.fit(x, y, cluster=cluster, epochs=5, batch_size=10, callbacks=[fail], show=False)
    named = "a mistake in my callback (raised by the callback fail, which was given a Step)"
    assert sentence(caught.value) == f"RuntimeError: {named}"
    assert sentence(model.run.error) == f"RuntimeError: {named}"
    assert repr(model.run).endswith(f", RuntimeError: {named}>")
    assert Live(model.run).error == f"rank 0: RuntimeError: {named}"
    assert model.history.records.last(Finish).text == named
    test_the_weights_are_those_of_one_rank_and_come_back(cluster)


def test_callbacks_work_on_rank_0_and_may_stop(cluster, capfd):
    x, y = few()

    def enough(record):
        if isinstance(record, Epoch):
            print(f"epoch {record.epoch} seen")
            return Stop("enough") if record.epoch == 2 else None

    history = network().fit(x, y, cluster=cluster, epochs=50, batch_size=10, callbacks=[enough], show=False)
    assert history.epoch == [1, 2]
    assert history.reason == "stopped"
    assert capfd.readouterr().out.count("epoch 2 seen") == 1


def test_a_loss_that_is_not_finite_ends_the_run_with_step_and_layer(cluster):
    x, y = few()
    model = network()
    with pytest.raises(dtnn.training.NotFinite, match=r"step \d+ left the finite numbers.*linear"):
        model.fit(x, y, cluster=cluster, epochs=50, batch_size=10, optimizer=optim.SGD(1e30), show=False)
    assert model.history.reason == "failed"


def test_waits_are_told(cluster):
    notes = network().fit(*few(), cluster=cluster, show=False).records.of(Note)
    assert any("preparing a step of 16 samples" in note.text for note in notes)
    assert any("waiting for all ranks" in note.text for note in notes)


def test_a_batch_smaller_than_the_ranks_is_refused_before_anything_runs(cluster):
    with pytest.raises(ValueError, match=r"batch_size=1 is less than one sample for each of 2 ranks.*batch_size=2 or more"):
        network().fit(*few(), cluster=cluster, batch_size=1, show=False)


@pytest.mark.limit(400)
@needs_mpi
def test_lenet_reads_digits(engines):
    """At least 96 % of the test digits, median of 5 seeds, 10 epochs on 2 ranks; within 1 % of one rank."""
    digits = dtnn.data.mnist5k()
    settings = dict(epochs=10, batch_size=32, optimizer=optim.Adam(optim.cosine(0.003)), show=False)

    def accuracy(seed, where):
        model = dtnn.zoo.lenet5(seed=seed)
        return model.fit(digits, cluster=where, seed=seed, **settings).history["val_accuracy"][-1]

    there = [accuracy(seed, engines) for seed in range(5)]
    print(f"accuracies of 5 seeds: {there}")
    assert np.median(there) >= 0.96
    assert abs(there[0] - accuracy(0, None)) <= 0.01


SCRIPT = """
import dtnn, numpy as np
from dtnn.nn import Flatten, Layer, Linear

class Doubled(Layer):
    def forward(self, x, step=None):
        return np.multiply(2, x), lambda dy: 2 * dy

if __name__ == "__main__":
    digits = dtnn.data.mnist5k()
    model = dtnn.Model(Flatten(), Doubled(), Linear(10))
    with dtnn.Cluster(2, on_wait=False) as cluster:
        print("started", flush=True)
        started = lambda record: print("training", flush=True) if getattr(record, "step", 0) == 1 else None
        history = model.fit(digits, cluster=cluster, epochs=10**6, batch_size=100, callbacks=[started], show=False)
        print("interrupted", history.reason, len(history.records.of(dtnn.records.Step)) > 0, flush=True)
        print("again", model.fit(digits, cluster=cluster, epochs=1, batch_size=100, show=False).reason, flush=True)
"""


@pytest.mark.undisturbed
@needs_mpi
def test_an_interrupted_fit_keeps_the_history_and_the_engines(tmp_path):
    """Cases 2 and 12, in a process of its own: SIGINT as the stop button sends it; the layer's class lives in the script."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=tmp_path
    )
    try:
        assert process.stdout.readline().strip() == "started"
        while (line := process.stdout.readline().strip()) != "training":
            assert line, "the script ended before it trained"
        time.sleep(0.5)
        began = time.perf_counter()
        process.send_signal(signal.SIGINT)
        line = next(text for text in process.stdout if not text.startswith("training")).strip()
        print(f"back after {time.perf_counter() - began:.2f} s")
        assert line in ("interrupted interrupted True", "interrupted stopped True")
        assert next(text for text in process.stdout if not text.startswith("training")).strip() == "again done"
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()
