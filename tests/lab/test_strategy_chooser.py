"""The user's own strategies and all-reduces in the studio: offered, tried, and used by the training."""

import asyncio
import threading
import time

import pytest

import dtnn
from dtnn.lab import Studio
from dtnn.lab import strategy_chooser as module
from dtnn.lab.strategy_chooser import StrategyChooser
from dtnn.parallel import AllReduce, LocalSGD
from tests.cluster.conftest import needs_mpi


def mine(comm, array, chunk=4):
    comm.Allreduce(array)


def mine_too(comm, array):
    comm.Allreduce(array)


def lazy(comm, array):
    """Forgets to add anything up."""


class Every:
    """A strategy of one's own, made of one of dtnn's."""

    def __init__(self, steps=3):
        self.steps = steps

    def __repr__(self):
        return f"Every({self.steps})"

    def begin(self, comm, parameters, optimizer):
        return LocalSGD(self.steps).begin(comm, parameters, optimizer)


def labels(control):
    return [option[0] if isinstance(option, tuple) else option for option in control.options]


@pytest.fixture
def studio():
    made = Studio(dtnn.zoo.mlp(hidden=(16,)))
    made.settings.launcher.value, made.settings.epochs.value = "threads of this process", 1
    yield made
    made.close()


def trained(studio):
    async def notebook():
        studio.training.bar.train.click()
        end = time.monotonic() + 40
        while studio.training.busy:
            assert time.monotonic() < end
            await asyncio.sleep(0.02)

    asyncio.run(notebook())


def test_functions_of_the_notebook_stand_among_the_algorithms():
    names = {"mine": mine, "not_one": lambda x: x, "_hidden": mine}
    chooser = StrategyChooser(names)
    control = chooser.form.controls["algorithm"]
    assert labels(control)[:3] == ["mine (yours)", "central", "hierarchical"]
    assert control.value == "native"
    control.value = "mine"
    assert chooser.source == "AllReduce(algorithm=mine)"
    assert chooser.message.text == ""
    names["another"] = mine_too
    chooser.refresh()
    assert "another (yours)" in labels(control)
    assert control.value == "mine", "what was chosen stays"
    del names["mine"]
    chooser.refresh()
    assert chooser.source == "AllReduce()"


def test_a_function_with_the_name_of_an_algorithm_takes_its_place():
    chooser = StrategyChooser({"ring": mine})
    control = chooser.form.controls["algorithm"]
    assert labels(control).count("ring") == 0
    control.value = "ring"
    assert chooser.source == "AllReduce(algorithm=ring)"
    assert chooser.names["ring"] is mine


def test_one_that_is_wrong_is_told_where_it_is_chosen_and_not_trained_with(studio, monkeypatch):
    settings = studio.settings
    settings.strategy._names = {"lazy": lazy, "mine": mine}
    settings.refresh()
    settings.strategy.form.controls["algorithm"].value = "lazy"
    told = "lazy is no all-reduce: 2 ranks, 1 number: rank 0 began with [1.] and ended with [1.]; the sum is [11.]"
    assert settings.strategy.message.text == told
    trained(studio)
    assert studio.run is None
    assert studio.training.bar.message.text == told
    settings.strategy._names["lazy"] = mine_too  # the cell is run again
    settings.refresh()
    assert settings.strategy.message.text == ""
    trained(studio)
    assert studio.run.state == "done"


def test_one_that_never_ends_is_told(monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    chooser = StrategyChooser({"endless": lambda comm, array: over.wait()})
    chooser.form.controls["algorithm"].value = "endless"
    assert "endless is no all-reduce: it has not ended after 0.2 s" in chooser.message.text
    with pytest.raises(ValueError, match="is no all-reduce: it has not ended"):
        chooser.check(AllReduce(chooser.functions["endless"]))
    over.set()


def test_what_it_raises_is_told():
    def bad(comm, array):
        raise ZeroDivisionError("no good")

    chooser = StrategyChooser({"bad": bad})
    chooser.form.controls["algorithm"].value = "bad"
    assert chooser.message.text == "bad is no all-reduce: ZeroDivisionError: no good"


@pytest.mark.parametrize("where", ["threads of this process", pytest.param("MPI engines", marks=needs_mpi)])
def test_the_training_uses_it(studio, tmp_path, where):
    path = str(tmp_path / "called")

    def noted(comm, array):
        if comm.rank == 0:
            with open(path, "a") as file:
                file.write(f"{array.size}\n")
        comm.Allreduce(array)

    studio.settings.launcher.value = where
    studio.settings.strategy._names = {"noted": noted}
    studio.settings.refresh()
    studio.settings.strategy.form.controls["algorithm"].value = "noted"
    assert "strategy=AllReduce(algorithm=noted)" in studio.settings.python.value
    with open(path) as file:
        assert len(file.readlines()) > 10, "it was tried when it was chosen"
    trained(studio)
    assert studio.run.state == "done", studio.training.bar.message.text
    with open(path) as file:
        assert file.read().split().count(str(studio.model.parameters.trainable)) == 65, "one sum a step, and two to try it"


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ("ring", "AllReduce(algorithm='ring')"),
        (mine, "AllReduce(algorithm=mine)"),
        (AllReduce(mine, bucket_bytes=1000), "AllReduce(algorithm=mine, bucket_bytes=1000)"),
        (AllReduce(overlap=True), "AllReduce(overlap=True)"),
        (LocalSGD(4), "LocalSGD(every=4)"),
        (Every(), "Every"),
    ],
)
def test_a_studio_begins_with_what_it_is_given(given, source):
    studio = Studio(dtnn.zoo.mlp(hidden=(16,)), strategy=given)
    assert studio.settings.strategy.source == source
    strategy = studio.settings.settings()["strategy"]
    assert strategy == given or getattr(strategy, "algorithm", None) in (given, "ring")
    studio.close()


def test_a_strategy_that_is_none_is_told():
    with pytest.raises(TypeError, match="strategy=3"):
        Studio(strategy=3)
    with pytest.raises(ValueError, match=r"rng.*did you mean 'ring'"):
        Studio(strategy="rng")


def test_strategies_of_the_notebook_are_offered_and_trained_with(studio):
    settings = studio.settings
    settings.strategy._names = {"Every": Every, "often": LocalSGD(2), "LocalSGD": LocalSGD, "n": 3}
    settings.refresh()
    assert labels(settings.strategy.choice)[-2:] == ["Every (yours)", "often (yours)"]
    assert labels(settings.strategy.choice).count("LocalSGD") == 1
    settings.strategy.choice.value = "often"
    assert settings.settings()["strategy"] == LocalSGD(2)
    assert "LocalSGD(every=2" in settings.strategy.words.value
    settings.strategy.choice.value = "Every"
    settings.strategy.form.controls["steps"].value = 5
    assert settings.settings()["strategy"].steps == 5
    assert "strategy=Every(steps=5)" in settings.python.value
    trained(studio)
    assert studio.run.state == "done", studio.training.bar.message.text
    assert studio.run.records.last(dtnn.records.Start).settings["strategy"] == "Every(5)"
