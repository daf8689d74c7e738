"""The studio without a browser: what its buttons do, and what they do not do to the kernel."""

import asyncio
import time

import numpy as np
import pytest

import dtnn
from dtnn.cluster.weights import newest
from dtnn.lab import Studio
from dtnn.lab.once import OTHER, REPEAT
from dtnn.lab.panel import Panel

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ipywidgets' own


@pytest.fixture
def studio():
    """A small one whose ranks are threads."""
    made = Studio(dtnn.zoo.mlp(hidden=(16,)))
    made.settings.launcher.value, made.settings.epochs.value = "threads of this process", 1
    yield made
    made.close()


async def until(true, studio, seconds=40):
    """Give the loop time until something is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, (studio.run, studio.training.bar.state.value, studio.training.bar.message.text)
        await asyncio.sleep(0.02)


def trained(studio):
    """Click on Train within a loop, as in a notebook, and wait for the end."""

    async def notebook():
        studio.training.bar.train.click()
        await until(lambda: not studio.training.busy, studio)

    asyncio.run(notebook())


def test_a_click_trains_and_the_model_has_learnt(studio):
    before = studio.model.state_dict()["linear_1.weight"]
    trained(studio)
    assert studio.training.bar.message.text == ""
    assert studio.run.state == "done"
    assert studio.run.size == 2
    assert studio.training.pane.text.startswith("done")
    assert studio.model.steps == 63
    assert not np.array_equal(before, studio.model.state_dict()["linear_1.weight"])
    assert studio.png()[1:4] == b"PNG"
    assert not studio.training.bar.train.disabled
    assert studio.training.bar.stop.disabled


def test_the_same_layers_go_on_and_others_begin_anew(studio):
    trained(studio)
    model, cluster = studio.model, studio.cluster
    trained(studio)
    assert studio.model is model
    assert studio.cluster is cluster, "the cluster is used again"
    assert model.steps == 126
    studio.building.list.rows[2].head.children[5].click()
    assert studio.model is not model
    studio.building.undo.click()
    assert studio.model.steps == 0


def test_the_models_own_object_is_trained_while_its_layers_stay():
    model = dtnn.zoo.mlp(hidden=(16,))
    studio = Studio(model)
    assert studio.model is model
    studio.close()


async def tick(ticks):
    """Note the time for as long as the loop is free."""
    while True:
        ticks.append(time.monotonic())
        await asyncio.sleep(0.01)


@pytest.mark.undisturbed
def test_the_loop_stays_free_and_a_second_click_does_nothing(studio):
    studio.settings.epochs.value, training, ticks = 10**6, studio.training, []
    before = studio.model.state_dict()["linear_1.weight"]

    def newest():
        return studio.run.records.last(dtnn.records.Step) if studio.run else None

    async def notebook():
        ticking = asyncio.ensure_future(tick(ticks))
        begin = time.monotonic()
        training.bar.train.click()
        training.bar.train.click()
        training.train()
        assert time.monotonic() - begin < 1, "a click doesn't wait for what it has begun"
        await until(newest, studio)
        run = studio.run
        training.bar.stop.click()
        training.bar.stop.click()
        await until(lambda: not training.busy, studio)
        ticking.cancel()
        assert studio.run is run, "one run, however often it was clicked"

    asyncio.run(notebook())
    assert studio.run.state == "stopped"
    assert studio.model.steps > 0
    assert not np.array_equal(before, studio.model.state_dict()["linear_1.weight"]), "what was trained is kept"
    assert len(ticks) > 3, "other things ran meanwhile"


def test_double_clicks_on_pause_and_then_on_stop_lose_nothing(studio, mouse):
    studio.settings.epochs.value, training = 10**6, studio.training
    before = studio.model.state_dict()["linear_1.weight"]

    async def notebook():
        training.bar.train.click()
        await until(lambda: studio.run and studio.run.records.last(dtnn.records.Step), studio)
        training.bar.pause.click()
        training.bar.pause.click()
        await until(lambda: studio.run.state == "paused", studio)
        step = studio.run.records.last(dtnn.records.Step).step
        training.bar.step.click()
        training.bar.step.click()
        await until(lambda: studio.run.records.last(dtnn.records.Step).step > step, studio)
        await asyncio.sleep(0.3)
        assert studio.run.state == "paused", "a double click is one click"
        assert studio.run.records.last(dtnn.records.Step).step == step + 1
        training.bar.stop.click()
        training.bar.stop.click()
        await asyncio.sleep(0.1)
        training.bar.stop.click()
        await until(lambda: not training.busy, studio)

    asyncio.run(notebook())
    assert studio.run.state == "stopped"
    assert studio.model.steps == studio.run.records.last(dtnn.records.Step).step
    assert not np.array_equal(before, studio.model.state_dict()["linear_1.weight"])
    assert training.bar.message.text == ""


class Hangs(dtnn.nn.Layer):
    """Stops to work in the middle of a step when it is told to."""

    now = False

    def forward(self, x, step=None):
        while step is not None and step.training and Hangs.now:
            time.sleep(0.01)
        return x, lambda dy: dy


def test_a_run_that_does_not_end_as_asked_is_ended_by_a_later_click_and_what_was_kept_of_it_stays(studio, monkeypatch):
    monkeypatch.setattr("dtnn.lab.rescue.LEAST", 0.1)
    monkeypatch.setattr("dtnn.lab.training_panel.PATIENCE", 0.5)
    studio.settings.epochs.value, training = 10**6, studio.training
    studio.builder.vocabulary.namespace = {"Hangs": Hangs}
    studio.builder.add("Hangs", 1)
    before, told = studio.model.state_dict()["linear_1.weight"], []

    async def notebook():
        training.bar.train.click()
        await until(lambda: studio.run and newest(studio.run), studio)
        monkeypatch.setattr(Hangs, "now", True)
        await asyncio.sleep(0.2)
        training.bar.stop.click()
        training.bar.stop.click()
        assert not studio.run._interrupt_asked, "the second click came before the first could be obeyed"
        await until(lambda: "Stop once more" in training.bar.state.value, studio)
        told.append(newest(studio.run))
        training.bar.stop.click()
        training.bar.stop.click()
        assert "ending at once" in training.bar.state.value
        await until(lambda: not training.busy, studio)

    asyncio.run(notebook())
    assert studio.run.state == "interrupted"
    (kept,) = told
    assert newest(studio.run) is None, "it is no longer held here"
    assert studio.model.steps == kept.step > 0
    assert f"the model has those after step {kept.step:,}" in training.bar.message.text
    assert not np.array_equal(before, studio.model.state_dict()["linear_1.weight"])
    assert np.array_equal(kept["linear_1.weight"], studio.model.state_dict()["linear_1.weight"])
    monkeypatch.setattr(Hangs, "now", False)


def test_closing_keeps_what_was_trained():
    model = dtnn.zoo.mlp(hidden=(16,))
    studio = Studio(model)
    studio.settings.launcher.value, studio.settings.epochs.value = "threads of this process", 10**6

    async def notebook():
        studio.training.bar.train.click()
        await until(lambda: studio.run and studio.run.records.last(dtnn.records.Step), studio)
        studio.close()
        await until(lambda: studio.cluster.state == "stopped", studio)

    asyncio.run(notebook())
    assert studio.run.state == "stopped"
    assert model.steps > 0


def test_pause_step_another_rate_and_on(studio):
    studio.settings.epochs.value, training = 10**6, studio.training

    def newest():
        return studio.run.records.last(dtnn.records.Step) if studio.run else None

    async def notebook():
        training.bar.train.click()
        await until(newest, studio)
        run = studio.run
        training.bar.pause.click()
        await until(lambda: run.state == "paused" and training.bar.pause.description == "Resume", studio)
        step = newest().step
        training.bar.step.click()
        await until(lambda: newest().step == step + 1 and run.state == "paused", studio)
        training.bar.rate.value = 0.005
        training.bar.set_rate.click()
        training.bar.pause.click()
        await until(lambda: newest().lr == 0.005, studio)
        training.bar.rate.value = -1.0
        training.bar.set_rate.click()
        assert "-1" in training.bar.message.text
        training.bar.stop.click()
        await until(lambda: not training.busy, studio)

    asyncio.run(notebook())
    assert studio.run.state == "stopped"


def test_a_step_is_made_phase_by_phase(studio):
    studio.settings.epochs.value, training = 10**6, studio.training

    def last(kind):
        return studio.run.records.last(kind) if studio.run else None

    async def notebook():
        assert training.bar.one_phase.disabled
        training.bar.train.click()
        await until(lambda: last(dtnn.records.Step), studio)
        training.bar.pause.click()
        await until(lambda: studio.run.state == "paused", studio)
        step = last(dtnn.records.Paused).step
        assert training.bar.phases.value == ""
        for name in ("forward", "backward", "reduce", "update"):
            training.bar.one_phase.click()
            await until(lambda: f"<b>✓ {name}</b>" in training.bar.phases.value, studio)  # noqa: B023
            assert f"{name} of step {step + 1:,} in" in training.bar.phases.value
            assert training.bar.phases.layout.display == ""
        assert last(dtnn.records.Step).step == step + 1
        training.bar.one_phase.click()
        await until(lambda: f"in step {step + 2:,}, after forward" in training.pane.text, studio)
        assert f"forward of step {step + 2:,}" in training.bar.phases.value
        assert "forward of step" not in training.pane.line.value, "once is enough"
        assert f"step {step + 1:,} ·" in training.pane.line.value
        training.bar.pause.click()
        await until(lambda: last(dtnn.records.Step).step > step + 5 and training.bar.phases.value == "", studio)
        training.bar.one_phase.click()
        await until(lambda: "forward</b>" in training.bar.phases.value, studio)
        training.bar.stop.click()
        await until(lambda: not training.busy, studio)

    asyncio.run(notebook())
    assert studio.run.state == "stopped"
    assert training.bar.phases.value == ""
    assert training.bar.one_phase.disabled


def test_a_strategy_without_common_phases_says_so(studio):
    studio.settings.epochs.value, training = 10**6, studio.training
    studio.settings.strategy.choice.value = "ParameterServer"
    studio.settings.strategy.form.controls["staleness"].value = "None"

    async def notebook():
        training.bar.train.click()
        await until(lambda: studio.run and studio.run.records.last(dtnn.records.Step), studio)
        training.bar.one_phase.click()
        assert "lets each worker be at a step of its own; use staleness=0" in training.bar.message.text
        training.bar.stop.click()
        await until(lambda: not training.busy, studio)

    asyncio.run(notebook())


def test_what_is_wrong_is_said_where_it_is_and_the_buttons_come_back(studio):
    studio.builder.add("Linear(3)", 1)
    studio.builder.add("Conv2d(3, 3)", 2)
    trained(studio)
    assert studio.run is None
    assert "layer 3 (conv2d_1, Conv2d(3, 3))" in studio.training.bar.message.text
    assert not studio.training.bar.train.disabled
    studio.building.undo.click()
    studio.settings.batch.value = 1
    trained(studio)
    assert "batch_size=1 is less than one sample for each of 2 ranks" in studio.training.bar.message.text
    assert not studio.training.bar.train.disabled


def test_what_is_hardly_meant_is_said_and_trained_all_the_same(studio):
    studio.builder.add("Softmax()")
    trained(studio)
    assert "the last layer is Softmax(), and cross_entropy makes a softmax of what it gives" in studio.training.bar.message.text
    assert studio.run.state == "done"
    studio.building.undo.click()
    trained(studio)
    assert studio.training.bar.message.text == ""


def test_a_rank_that_fails_is_told_in_the_live_view(studio):
    class Bad(dtnn.nn.Layer):
        def forward(self, x, step=None):
            if step is not None and step.training and x.shape[-1] == 32:
                raise ZeroDivisionError("no good")
            return x, lambda dy: dy

    studio.builder.vocabulary.namespace = {"Bad": Bad}
    studio.builder.add("Bad", 1)
    trained(studio)
    assert studio.run.state == "failed"
    assert "ZeroDivisionError: no good" in studio.training.pane.text
    assert not studio.training.bar.train.disabled
    studio.building.undo.click()
    trained(studio)
    assert studio.run.state == "done", "the next run is right"


def test_settings_become_python_and_values(studio):
    settings = studio.settings
    settings.optimizer.choice.value = "Adam"
    settings.optimizer.form.controls["lr"].value = 0.002
    settings.schedule.choice.value = "cosine"
    settings.strategy.choice.value = "LocalSGD"
    settings.strategy.form.controls["every"].value = 4
    settings.of.value = "on each rank"
    settings.fault.choice.value = "straggler"
    assert settings.settings() == {
        "epochs": 1,
        "batch_size_per_rank": 64,
        "optimizer": dtnn.optim.Adam(dtnn.optim.cosine(0.002)),
        "strategy": dtnn.parallel.LocalSGD(4),
    }
    assert "optimizer=Adam(lr=cosine(0.002)), strategy=LocalSGD(every=4)" in settings.python.value
    assert "with dtnn.inject.straggler" in settings.python.value
    assert settings.place() == {"ranks": 2, "launcher": "threads", "threads_per_rank": None}


def test_what_is_injected_is_injected(studio):
    fault = studio.settings.fault
    fault.choice.value = "link"
    assert fault.source == "link(latency=0.001, bandwidth=125e6)", "what is chosen can be seen"
    trained(studio)
    start = studio.run.records.last(dtnn.records.Start)
    assert start.settings["injected"] == ["each message takes 0.001 s longer", "links carry 125,000,000 bytes/s"]
    fault.form.controls["latency"].value, fault.form.controls["bandwidth"].value = 0.0, ""
    assert fault.wrong.text.startswith("This injects nothing: give a latency above 0 s")
    fault.choice.value = "straggler"
    assert fault.wrong.text == ""
    trained(studio)
    assert studio.run.records.last(dtnn.records.Start).settings["injected"] == ["rank 1 computes 2 times as long"]
    fault.form.controls["rank"].value = 2
    assert "there are 2 ranks, numbered 0 to 1" in fault.wrong.text
    studio.settings.ranks.value = 3
    assert fault.wrong.text == ""
    fault.form.controls["factor"].value = 1.0
    assert "This injects nothing" in fault.wrong.text


def test_numbers_are_predicted_with_a_loss_that_suits_them(studio):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3)).astype(np.float32)
    numbers = dtnn.data.Dataset(x, x @ np.float32([[1, 0], [2, -1], [0, 3]]), name="numbers")
    studio.settings.data_chooser._names = {"numbers": numbers}
    studio.settings.refresh()
    studio.settings.data_chooser.choice.value = "numbers"
    assert studio.settings.loss.choice.value == "mse"
    assert "loss='mse'" in studio.settings.python.value
    studio.building.presets.value = "mlp"
    assert studio.model.net.output_shape == (2,), "a number for each of a target"
    studio.settings.epochs.value, studio.settings.batch.value = 20, 20
    studio.settings.optimizer.form.controls["lr"].value = 0.01
    trained(studio)
    assert studio.training.bar.message.text == ""
    assert studio.run.state == "done"
    losses = studio.run.history.history["loss"]
    assert losses[-1] < losses[0] / 4
    studio.settings.loss.choice.value = "Huber"
    studio.settings.loss.form.controls["delta"].value = 2.0
    assert studio.settings.settings()["loss"] == dtnn.nn.Huber(2.0)
    studio.settings.data_chooser.choice.value = "xor: points in the plane"
    assert studio.settings.loss.choice.value == "cross_entropy"
    assert "loss" not in studio.settings.sources()


def test_a_wrong_setting_is_marked_at_once_where_it_is(studio):
    settings = studio.settings
    lr = settings.optimizer.form.controls["lr"]
    lr.value = -3
    assert "lr=-3.0 must be a number >= 0" in settings.optimizer.wrong.text
    assert "dtnn-bad" in lr._dom_classes
    assert "dtnn-bad" not in settings.optimizer.form.controls["momentum"]._dom_classes
    lr.value = 0.1
    assert settings.optimizer.wrong.text == ""
    assert "dtnn-bad" not in lr._dom_classes
    settings.optimizer.choice.value = "Adam"
    settings.optimizer.form.controls["betas"].value = "oops("
    assert "'oops(' is no Python" in settings.optimizer.wrong.text
    assert "dtnn-bad" in settings.optimizer.form.controls["betas"]._dom_classes
    settings.optimizer.choice.value = "SGD"
    assert settings.optimizer.wrong.text == ""
    settings.schedule.choice.value = "step"
    settings.schedule.form.controls["epochs"].value = "(3, 'x')"
    assert "epochs" in settings.schedule.wrong.text
    assert "dtnn-bad" in settings.schedule.form.controls["epochs"]._dom_classes
    settings.strategy.form.controls["bucket_bytes"].value = "what"
    assert "'what' is not known here" in settings.strategy.wrong.text
    settings.batch.value = 1
    assert "batch_size=1 is less than one sample for each of 2 ranks" in settings.batch_wrong.text
    settings.of.value = "on each rank"
    assert settings.batch_wrong.text == ""


def test_all_settings_have_help(studio):
    controls = ("epochs", "batch", "ranks", "threads", "kept")
    assert [name for name in controls if len(getattr(studio.settings, name).tooltip or "") < 15] == []


def test_other_data_changes_the_input_and_marks_what_does_not_fit(studio):
    studio.building.take(dtnn.zoo.lenet5())
    studio.settings.data_chooser.choice.value = "spiral: points in the plane"
    assert studio.builder.input_shape == (2,)
    assert "layer 1" in studio.builder.error
    studio.building.presets.value = "mlp"
    assert studio.model.net.output_shape == (2,)


def test_a_data_set_or_a_layer_of_a_cell_appears(studio):
    chooser = studio.settings.data_chooser
    chooser._names = {"mine": dtnn.data.Dataset(np.zeros((4, 3), np.float32), [0, 1, 0, 1], classes=2)}
    chooser.refresh()
    chooser.choice.value = "mine"
    assert studio.builder.input_shape == (3,)


def test_a_page_without_widgets_gets_words_and_the_last_picture(studio):
    bundle = studio._repr_mimebundle_()
    drawing = bundle["image/png"]
    assert bundle["text/plain"].startswith("Network, input (28, 28, 1)\nFlatten()")
    trained(studio)
    bundle = studio._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/plain"} <= set(bundle)
    assert bundle["image/png"] != drawing
    assert "done · 1 epoch" in bundle["text/plain"]
    assert "VBox" not in bundle["text/plain"]


def test_a_saved_notebook_keeps_the_last_picture(studio, monkeypatch):
    import IPython.display

    sent = []
    monkeypatch.setattr(IPython.display, "display", lambda bundle, **how: "update" in how and sent.append((bundle, how)))
    studio._ipython_display_()
    trained(studio)
    assert [how["update"] for _, how in sent] == [False, True]
    assert len({how["display_id"] for _, how in sent}) == 1
    assert "done · 1 epoch" in sent[-1][0]["text/plain"]


def test_a_cell_that_is_run_twice_closes_the_first(monkeypatch):
    closed = []

    class Some(Panel):
        def __init__(self):
            self.take_the_cells_place()

        def close(self):
            closed.append(self)

    monkeypatch.setattr("dtnn.lab.panel.this_cell", lambda: "cell 1")
    one = Some()
    two = Some()
    assert closed == [one]
    monkeypatch.setattr("dtnn.lab.panel.this_cell", lambda: "cell 2")
    three = Some()
    assert closed == [one]
    assert two is not three


def test_closing_ends_what_it_started(studio):
    trained(studio)
    cluster = studio.cluster
    studio.close()
    assert cluster.state == "stopped"


def test_a_cluster_of_the_users_is_used_and_left_running():
    with dtnn.Cluster(2, launcher="threads") as cluster:
        studio = Studio(dtnn.zoo.mlp(hidden=(16,)), cluster=cluster)
        studio.settings.epochs.value = 1
        trained(studio)
        assert studio.run.state == "done", studio.training.bar.message.text
        assert studio.cluster is cluster
        studio.close()
        assert cluster.state == "running"


def test_the_drawing_follows_where_it_is_looked_at(studio):
    panel = studio.building
    assert panel.sheet.png is None
    panel.tabs.selected_index = 1
    first = panel.sheet.png
    panel.builder.add("Linear(3)", 1)
    panel.show()
    assert panel.sheet.png != first
    panel._do(panel.builder.clear)
    assert studio.building.png() is None


def test_clicks_in_the_list(studio):
    """What a finger does: open, change, move, duplicate, take out, undo; a wrong value changes nothing and is said."""
    panel = studio.building
    panel.list.rows[1].call.click()
    form = panel.list.form
    form.controls["features"].value = 20
    assert studio.builder.calls[1] == "Linear(20)"
    assert panel.list.form is form, "the form stays, or the finger would lose its place"
    assert "20" in panel.list.rows[1].facts.value
    assert " · 15,700 · 62.8\N{NO-BREAK SPACE}kB · " in panel.list.rows[1].facts.value
    panel.list.rows[1].head.children[2].click()
    assert studio.builder.calls[0] == "Linear(20)"
    assert panel.list.seen.opened == (0,)
    assert "Flatten()" in panel.list.rows[0].wrong.text or "Linear(20)" in panel.list.rows[0].wrong.text
    panel.undo.click()
    panel.list.rows[1].head.children[4].click()
    assert studio.builder.calls[1:3] == ("Linear(20)", "Linear(20)")
    gone = panel.list.rows[4].head.children[5]
    gone.click()
    gone.click()
    gone.click()
    assert len(studio.builder.calls) == 4
    panel.list.rows[0].call.click()
    panel.kinds.value = "Dropout"
    panel.list.add()
    assert studio.builder.calls[1] == "Dropout(0.5)"
    assert panel.list.seen.opened == (1,)
    panel.list.form.controls["rate"].value = 1.0
    assert "must be in [0, 1)" in panel.list.rows[1].told.text, "where it happened"
    assert studio.builder.calls[1] == "Dropout(0.5)"
    assert panel.list.form.controls["rate"].value == 0.5


def test_a_double_click_adds_takes_out_and_undoes_one_layer(studio, mouse):
    panel, before = studio.building, studio.builder.calls
    again, out = panel.list.rows[1].head.children[4], panel.list.rows[1].head.children[5]
    out.click()
    out.click()
    assert studio.builder.calls == (before[0], *before[2:])
    mouse.now += OTHER
    out.click()
    assert studio.builder.calls == (before[0], *before[3:])
    panel.undo.click()
    panel.undo.click()
    assert studio.builder.calls == (before[0], *before[2:])
    again.click()
    assert len(studio.builder.calls) == len(before) - 1, "another button that has come below the mouse is none that was meant"
    mouse.now += REPEAT + 0.01
    again.click()
    again.click()
    assert len(studio.builder.calls) == len(before)


def test_an_opened_layer_tells_what_it_is(studio):
    panel = studio.building
    panel.list.rows[1].call.click()
    assert "y = W x + b" in panel.list.rows[1].words.value
    assert panel.list.rows[1].words in panel.list.rows[1].box.children
    assert "also called dense" in panel.list.rows[1].call.tooltip
    panel.list.rows[1].call.click()
    assert panel.list.rows[1].words not in panel.list.rows[1].box.children


def row_of(panel, *path):
    """The row of widgets of a place in the network."""
    return next(row for row in panel.list.rows if row.path == path)


def paths(panel):
    return [row.path for row in panel.list.rows]


def test_a_residual_is_built_by_clicks(studio):
    """Choose, add, unfold, add within, change, move in and out, double, take out, undo."""
    panel, calls = studio.building, lambda: studio.builder.calls
    panel._do(studio.builder.clear)
    for name in ("Flatten", "Linear", "Residual", "ReLU"):
        panel.kinds.value = name
        panel.list.add()
    assert calls()[2] == "Residual(Sequential(Linear(10), ReLU(), Linear(10)))"
    assert paths(panel)[2:] == [(2,), (2, 0), (2, 0, 0), (2, 0, 1), (2, 0, 2), (2, 1), (3,)], "its inside is seen at once"
    assert row_of(panel, 2).call.description == "▾ Residual"
    assert "10 · 110 · 440" in row_of(panel, 2, 0, 2).facts.value
    assert "what comes in goes out" in row_of(panel, 2, 1).facts.value
    panel.kinds.value = "Dropout"
    row_of(panel, 2, 0).add.click()
    assert studio.builder.call((2, 0, 3)) == "Dropout(0.5)"
    row_of(panel, 2, 0, 0).call.click()
    form = panel.list.form
    form.controls["features"].value = 20
    assert studio.builder.call((2, 0, 0)) == "Linear(20)"
    assert panel.list.form is form
    row_of(panel, 2, 0, 0).head.children[3].click()
    assert studio.builder.call((2, 0, 1)) == "Linear(20)"
    assert panel.list.seen.opened == (2, 0, 1), "what is open is open where it is then"
    form = panel.list.form
    assert form.controls["features"].value == 20
    panel.kinds.value = "Tanh"
    panel.list.add()
    assert studio.builder.call((2, 0, 2)) == "Tanh()", "behind the opened one"
    row_of(panel, 2, 0, 2).head.children[4].click()
    row_of(panel, 2, 0, 2).head.children[5].click()
    assert calls()[2].count("Tanh()") == 1
    row_of(panel, 3).head.children[2].click()
    assert calls()[2].endswith("shortcut=Sequential(ReLU()))"), "up, into what is unfolded there"
    row_of(panel, 2, 1, 0).head.children[3].click()
    assert calls()[3] == "ReLU()"
    for _ in range(3):
        panel.undo.click()
    assert calls()[2].endswith("Tanh(), Tanh(), Linear(10), Dropout(0.5)))")
    assert (2,) in panel.list.seen.unfolded, "undo leaves it unfolded"
    row_of(panel, 2, 0).name.value.index("body")


def test_the_misfit_within_a_layer_is_told_there_and_once(studio):
    panel = studio.building
    panel._do(studio.builder.paste, "[Flatten(), Residual(Sequential(Linear(784), Conv2d(3, 3))), Linear(10)]")
    assert studio.builder.misfit() == (1, 0, 1)
    assert row_of(panel, 1, 0, 1).wrong.text.startswith("layer 2 (conv2d_1, Conv2d(3, 3)): Conv2d(3, 3) takes")
    assert [row.path for row in panel.list.rows if row.path and hasattr(row, "wrong") and row.wrong.text] == [(1, 0, 1)]
    assert "does not fit inside" in row_of(panel, 1).facts.value
    assert row_of(panel, 1).call.button_style == "danger"
    row_of(panel, 1).call.click()
    row_of(panel, 1).call.click()
    assert (1, 0, 1) not in paths(panel), "who wants it folded gets it folded"
    assert row_of(panel, 1).wrong.text.startswith(
        "layer 2 (residual_1, Residual(Sequential(Linear(784), Conv2d(3, 3)…): layer 2 ("
    )
    assert "layer 2 (conv2d_1" in row_of(panel, 1).wrong.text
    row_of(panel, 1).call.click()
    row_of(panel, 1, 0, 1).head.children[5].click()
    assert studio.builder.error == ""
    assert all(not row.wrong.text for row in panel.list.rows if hasattr(row, "wrong"))


def test_branches_come_and_go_by_clicks(studio):
    panel = studio.building
    panel._do(studio.builder.clear)
    panel.kinds.value = "Concatenate"
    panel.list.add()
    assert [row.name.value for row in panel.list.rows if hasattr(row, "less")] != []
    row_of(panel, 0, 1).more.click()
    assert studio.builder.calls == ("Concatenate(Sequential(), Sequential(Conv2d(4, 1)), Sequential())",)
    panel.kinds.value = "ReLU"
    row_of(panel, 0, 2).add.click()
    row_of(panel, 0, 0).less.click()
    assert studio.builder.calls == ("Concatenate(Sequential(Conv2d(4, 1)), Sequential(ReLU()))",)
    row_of(panel, 0, 0).less.click()
    row_of(panel, 0, 0).less.click()
    assert "Concatenate needs a branch" in panel.message.text
    assert studio.builder.calls == ("Concatenate(Sequential(ReLU()))",)


def test_what_is_unfolded_stays_so_through_edits_above_it_and_a_folded_one_has_few_widgets(studio):
    panel = studio.building
    panel._do(studio.builder.preset, "resnet20")
    assert all(len(path) == 1 for path in paths(panel)), "at first all are folded"
    block = next(place for place in studio.builder.tree(()) if place.holds).path
    row_of(panel, *block).call.click()
    assert (*block, 0, 0) in paths(panel)
    row_of(panel, 0).head.children[5].click()
    assert (block[0] - 1, 0, 0) in paths(panel)
    panel.undo.click()
    assert (*block, 0, 0) in paths(panel)
    studio.building.edit(studio.builder.reshape, (32, 32, 3))
    assert (*block, 0, 0) in paths(panel)
    panel._do(studio.builder.preset, "mlp")
    assert panel.list.seen.opened is None
    assert all(len(path) == 1 for path in paths(panel))


def test_an_empty_network_says_what_to_do(studio):
    panel = studio.building
    panel._do(studio.builder.clear)
    assert "choose one above and click" in panel.list.box.children[0].value
    assert panel.head.layout.display == "none"
    panel.list.add()
    assert panel.head.layout.display == ""
    assert len(panel.list.box.children) == 1


def test_what_a_cell_does_to_the_network_or_the_data_is_seen(studio):
    panel, chooser = studio.building, studio.settings.data_chooser
    studio.builder.take(dtnn.zoo.mlp(hidden=(7,)))
    panel._after_cell()
    assert "Linear(7)" in panel.text.value
    panel.text.value = "Model(Linear("  # somebody types
    studio.builder.take(dtnn.zoo.mlp(hidden=(8,)))
    panel._after_cell()
    assert panel.text.value == "Model(Linear("
    first, second = (dtnn.data.Dataset(np.full((4, 3), k, np.float32), [0, 1, 0, 1], classes=2) for k in (1, 2))
    chooser._names = {"mine": first}
    chooser.refresh()
    chooser.choice.value = "mine"
    assert studio.data is first
    chooser._names["mine"] = second
    chooser.refresh()
    assert studio.data is second
    looked = []
    chooser._changed = lambda: looked.append(1)
    chooser.refresh()
    assert looked == [], "the same data are not looked at again"


def test_pasted_python_and_back(studio):
    panel = studio.building
    panel.text.value = "Model(Flatten(), Linear(7))"
    panel._paste()
    assert studio.builder.calls == ("Flatten()", "Linear(7)")
    assert panel.text.value == studio.builder.code()
    panel.text.value = "import os; os.remove('x')"
    panel._paste()
    assert "no network" in panel.message.text
    assert panel.text.value == "import os; os.remove('x')", "what was typed stays to be mended"


def test_a_run_is_looked_into_where_somebody_looks(studio):
    insights = studio.training.insights
    insights.tabs.selected_index = 2
    assert insights.words.message.text == "there is no run yet; train first"
    insights.tabs.selected_index = 0
    trained(studio)
    insights.tabs.selected_index = 2
    assert insights.words.message.text == ""
    assert "<table" in insights.words.page.value
    insights.tabs.selected_index = 1
    assert insights.step.picture.value[1:4] == b"PNG"
    assert "looked at closely" in insights.step.page.value
    insights.tabs.selected_index = 3
    assert insights.gradients.picture.value[1:4] == b"PNG", "the norm over time needs no asking"
    insights.layer.value = "linear_1"
    assert "no gradients" in insights.gradients.message.text or "keep_gradients_every" in insights.gradients.message.text


def test_any_step_that_was_looked_at_closely_can_be_chosen(studio):
    studio.settings.epochs.value = 10**6

    async def notebook():
        studio.training.bar.train.click()
        await until(lambda: studio.run and len(studio.run.timeline().steps) > 2, studio)
        studio.training.bar.stop.click()
        await until(lambda: not studio.training.busy, studio)

    asyncio.run(notebook())
    insights, steps = studio.training.insights, studio.run.timeline().steps
    insights.tabs.selected_index = insights.tabs.titles.index("one step")
    assert f"step {steps[-1].step:,}," in insights.step.page.value, "the last one"
    last = bytes(insights.step.picture.value)
    assert [value for _, value in insights.steps.control.options][2:] == [step.step for step in reversed(steps)][:200]
    insights.steps.control.value = steps[0].step
    assert f"step {steps[0].step:,}," in insights.step.page.value
    assert bytes(insights.step.picture.value) not in (last, b"")
    assert insights.steps.control.value == steps[0].step
    insights.steps.control.value = "one of middle length"
    assert f"step {studio.run.timeline().typical.step:,}," in insights.step.page.value
    insights.steps.control.value, studio.settings.epochs.value = steps[0].step, 1
    trained(studio)
    assert insights.steps.control.value == "the last one", "another run has other steps"


def test_what_is_looked_at_follows_the_run_but_not_at_the_cost_of_the_ranks(studio, monkeypatch):
    monkeypatch.setattr("dtnn.lab.insights.LEAST", 0.2)
    studio.settings.epochs.value, insights = 10**6, studio.training.insights
    asked = []

    async def notebook():
        studio.training.bar.train.click()
        await until(lambda: studio.run and len(studio.run.timeline().steps) > 1, studio)
        for tab, answer in (("one step", insights.step), ("time", insights.words), ("ranks", insights.ranks)):
            insights.what.value = "time, now"
            insights.tabs.selected_index = insights.tabs.titles.index(tab)
            await until(lambda: not insights._asking and (answer.picture.value or "<table" in answer.page.value), studio)  # noqa: B023
            seen = answer.picture.value, answer.page.value
            await until(lambda: (answer.picture.value, answer.page.value) != seen, studio)  # noqa: B023
            assert answer.message.text == ""
        insights.layer.value = "linear_1"
        insights.tabs.selected_index = insights.tabs.titles.index("gradients")
        await until(lambda: not insights._asking and insights.gradients.picture.value, studio)
        monkeypatch.setattr(insights, "look", lambda: asked.append(1))
        await asyncio.sleep(1.0)
        assert asked == [], "a layer's gradients are asked for by a click"
        insights.tabs.selected_index = insights.tabs.titles.index("ranks")
        insights.follows.value = False
        asked.clear()
        await asyncio.sleep(1.0)
        assert asked == []
        studio.training.bar.stop.click()
        await until(lambda: not studio.training.busy, studio)

    asyncio.run(notebook())


def test_gradients_that_were_kept_are_shown_when_the_run_has_ended(studio):
    studio.settings.kept.value = 10
    assert "keep_gradients_every=10" in studio.settings.python.value
    trained(studio)
    insights = studio.training.insights
    insights.tabs.selected_index = insights.tabs.titles.index("gradients")
    over_time = bytes(insights.gradients.picture.value)
    insights.layer.value = "linear_1"
    assert insights.gradients.message.text == ""
    one = bytes(insights.gradients.picture.value)
    assert one not in (over_time, b"")
    insights.layer.value = "linear_2"
    assert bytes(insights.gradients.picture.value) not in (one, over_time, b""), "each layer has its own picture"
    for layer in ("linear_1", "linear_2"):
        figure = studio.run.gradients(layer).plot()
        assert f", {layer} ·" in figure.texts[0].get_text()
        shown = figure.axes[1].images[0].get_array()
        assert np.allclose(shown, studio.run.gradients().cosines(layer))
    assert not np.allclose(studio.run.gradients().cosines("linear_1"), studio.run.gradients().cosines("linear_2"))
    assert studio.run.gradients("linear_1", step=10).asked == "linear_1"


def test_the_buttons_are_above_all_else_and_the_view_comes_below_them_when_it_has_something_to_show(studio):
    _, bar, bench = studio.box.children
    assert bar is studio.training.bar.box
    assert studio.training.bar.train in bar.children[0].children
    assert bench.children[-1] is studio.training.box
    assert "dtnn-began" not in studio.training.box._dom_classes
    trained(studio)
    assert "dtnn-began" in studio.training.box._dom_classes


def test_smoothing_changes_the_live_view_while_a_run_goes_on_and_afterwards(studio, monkeypatch):
    studio.settings.epochs.value, training = 10**6, studio.training
    slider, image = training.insights.smoothing.slider, training.pane.image

    async def notebook():
        slider.value = 0.1  # before there is anything
        training.bar.train.click()
        await until(lambda: studio.run and studio.run.records.last(dtnn.records.Step), studio)
        await until(lambda: studio.run.records.last(dtnn.records.Step).step > 200, studio)
        training.bar.pause.click()
        await until(lambda: studio.run.state == "paused", studio)
        await asyncio.sleep(0.3)
        before = bytes(image.value)
        slider.value = 0.4
        assert bytes(image.value) != before, "at once"
        assert training.pane._live.smoothing == 0.4
        training.bar.stop.click()
        await until(lambda: not training.busy, studio)

    asyncio.run(notebook())
    kept, last = [], bytes(image.value)
    monkeypatch.setattr(training, "_ended", lambda: kept.append(studio.png()))
    slider.value = 0.0
    assert bytes(image.value) not in (last, b"")
    assert studio.png() == bytes(image.value)
    assert kept == [studio.png()], "the saved notebook gets it, too"
    slider.value = 0.4
    assert bytes(image.value) == kept[-1]


def test_smoothing_changes_the_curves_of_the_tab_that_is_looked_at(studio):
    studio.settings.epochs.value = 30
    trained(studio)
    insights = studio.training.insights
    answers = {"ranks": insights.ranks, "gradients": insights.gradients, "compare": insights.compare.answer}
    for tab, answer in answers.items():
        insights.smoothing.slider.value = 0.0
        insights.tabs.selected_index = insights.tabs.titles.index(tab)
        raw = bytes(answer.picture.value)
        insights.smoothing.slider.value = 0.4
        assert answer.message.text == ""
        assert bytes(answer.picture.value) not in (raw, b"")


def test_each_rank_has_its_line_where_somebody_asks(studio):
    trained(studio)
    insights = studio.training.insights
    insights.tabs.selected_index = insights.tabs.titles.index("ranks")
    pictures = []
    for _, what in insights.what.options:
        insights.what.value = what
        pictures.append(bytes(insights.ranks.picture.value))
        assert insights.ranks.message.text == ""
    assert {"memory", "accuracy", "val_loss", "time, now", "time, step by step"} <= {what for _, what in insights.what.options}
    assert len(set(pictures)) == len(insights.what.options)
    assert all(picture[1:4] == b"PNG" for picture in pictures)


def test_the_runs_of_the_session_are_compared(studio):
    trained(studio)
    studio.settings.batch.value = 128
    trained(studio)
    insights = studio.training.insights
    insights.tabs.selected_index = insights.tabs.titles.index("compare")
    assert list(insights.compare.runs.values())[-1] is studio.run
    assert "batch_size: 64 → 128" in insights.compare.answer.page.value
    assert insights.compare.answer.picture.value[1:4] == b"PNG"


def test_the_model_is_looked_into(studio):
    insights = studio.training.insights
    insights.tabs.selected_index = insights.tabs.titles.index("model")
    assert "not trained yet" in insights.model.answer.page.value
    before = bytes(insights.model.answer.picture.value)
    trained(studio)
    insights.model.look()
    assert f"after {studio.model.steps} steps" in insights.model.answer.page.value
    assert bytes(insights.model.answer.picture.value) != before
    studio.building.list.rows[0].head.children[5].click()
    insights.model.look()
    assert insights.model.answer.message.text.startswith("layer 1 (linear_1, Linear(16)): Linear(16) takes")


def test_the_weights_of_a_run_that_goes_on_are_followed(studio):
    studio.settings.epochs.value, insights = 10**6, studio.training.insights
    page = insights.model.answer.page

    async def notebook():
        studio.training.bar.train.click()
        await until(lambda: studio.run and studio.run.records.last(dtnn.records.Step), studio)
        insights.model.view.value = "weights"
        insights.tabs.selected_index = insights.tabs.titles.index("model")
        await until(lambda: "of the run that goes on" in page.value, studio)
        first = page.value
        await until(lambda: page.value != first and "of the run that goes on" in page.value, studio)
        assert insights.model.answer.message.text == ""
        studio.training.bar.stop.click()
        await until(lambda: not studio.training.busy and "that goes on" not in page.value, studio)

    asyncio.run(notebook())
    assert f"after {studio.model.steps:,} steps" in page.value
    before = insights.pane.image.value
    insights.tabs.selected_index = 0
    assert insights.pane.image.value[1:4] == b"PNG"
    assert insights.pane.image.value == before, "the last picture is there"


def test_gradients_of_a_run_that_goes_on(studio):
    studio.settings.epochs.value, insights = 10**6, studio.training.insights

    async def notebook():
        studio.training.bar.train.click()
        await until(lambda: studio.run and studio.run.records.last(dtnn.records.Step), studio)
        insights.tabs.selected_index = 3
        insights.look()
        await until(lambda: insights.gradients.picture.value and not insights._asking, studio)
        before = bytes(insights.gradients.picture.value)
        insights.layer.value = "linear_2"
        await until(lambda: insights.gradients.picture.value != before or insights.gradients.message.text, studio)
        studio.training.bar.stop.click()
        await until(lambda: not studio.training.busy, studio)

    asyncio.run(notebook())
    assert insights.gradients.message.text == ""
    assert insights.gradients.picture.value[1:4] == b"PNG"
    assert insights.layer.options == ("over time", "linear_1", "linear_2")


def test_before_a_training_it_says_what_will_be_seen_where(studio):
    assert "appear here" in studio.training.pane.line.value
    assert studio.training.bar.rate.value == studio.settings.settings()["optimizer"].lr > 0
