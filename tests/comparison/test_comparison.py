"""Runs side by side: names, tables, differences, files."""

import pytest

import dtnn
from dtnn import Comparison
from dtnn.cluster import Run
from dtnn.records import Epoch, Finish, Recorder, Resumed, Start, Step


def told(loss=0.5, ranks=2, end="done", begin=100.0, **settings):
    """A run of one epoch."""
    records = Recorder([Start(begin, ranks, {"model": "Model(\n    Linear(10),\n)", "batch_size": 32, "recipe": {}, **settings})])
    records += [
        Step(9, 1, 2.0, 32, 0.1, 0.2, begin + 1),
        Epoch(1, 9, 640, 2.0, 0.1, {"loss": loss, "val_loss": 1.0}, begin + 2.0),
    ]
    return Recorder([*records, Finish(end, begin + 2.5)] if end else records)


def test_names_are_given_or_made(tmp_path):
    run = Run(2, "train", [])
    run.records = told()
    run.save(tmp_path / "saved.json")
    compared = Comparison(told(), str(tmp_path / "saved.json"), tmp_path / "saved.json", mine=told())
    assert list(compared.runs) == ["run 1", "saved", "saved (2)", "mine"]
    assert compared.results("saved")["loss"] == 0.5


def test_results_are_what_the_records_say():
    paused = told(0.25)
    paused.insert(-1, Resumed(9, 0.5, 102.2))
    found = Comparison(paused).results("run 1")
    assert found == {
        "state": "done",
        "epochs done": 1,
        "loss": 0.25,
        "val_loss": 1.0,
        "seconds": pytest.approx(2.0),
        "samples/s": 320.0,
    }
    assert Comparison(told(end="")).results("run 1")["state"] == "running"
    assert Comparison(told(end="")[:2]).results("run 1")["loss"] == 2.0, "before the first epoch it is the last step's"
    assert Comparison([]).results("run 1")["seconds"] is None


def test_a_run_that_goes_on_is_told_as_it_is_now():
    records = told(end="")
    compared = Comparison(records)
    assert compared.results("run 1")["epochs done"] == 1
    records.append(Epoch(2, 18, 640, 2.0, 0.1, {"loss": 0.1}, 104.0))
    assert compared.results("run 1")["epochs done"] == 2
    assert compared.results("run 1")["loss"] == 0.1


def test_differences_of_settings():
    compared = Comparison(told(), told(ranks=4, batch_size=64, lr=0.1), told(begin=200.0))
    assert compared.differences() == {"ranks": (2, 4), "batch_size": (32, 64), "lr": (None, 0.1)}
    assert compared.differences("run 1", "run 3") == {}
    assert compared.explain("run 1", "run 3") == "no setting differs"
    assert compared.explain().splitlines() == ["ranks: 2 → 4", "batch_size: 32 → 64", "lr: - → 0.1"]
    with pytest.raises(ValueError, match="there is no run 'run 9'; there are 'run 1', 'run 2', 'run 3'"):
        compared.differences("run 1", "run 9")
    with pytest.raises(ValueError, match="one run alone, 'run 1'"):
        Comparison(told()).differences()


def test_of_models_the_layers_that_differ_are_told():
    other = told(model="Model(\n    Linear(5),\n    Linear(10),\n)")
    assert Comparison(told(), other).explain() == "model:\n  + Linear(5),"


def test_a_list_of_runs_is_as_good_as_the_runs_and_a_run_that_is_there_twice_is_told():
    run, slow = told(), told(batch_size=8)
    assert repr(Comparison([run, slow])) == repr(Comparison(run, slow)) == repr(Comparison((run,), slow))
    twice = Comparison([run, run])
    assert list(twice.runs) == ["run 1", "run 2"]
    assert repr(twice).splitlines()[-1] == "run 2 is run 1 once more"
    assert "<p>run 2 is run 1 once more</p>" in twice._repr_html_()
    assert twice.differences() == {}
    assert twice.explain() == "run 2 is run 1 once more"
    assert [line.get_label() for line in twice.picture().axes[0].lines if "valid" not in line.get_label()] == ["run 1 = run 2"]
    thrice = Comparison(run, slow, run, again=slow)
    assert repr(thrice).splitlines()[-1] == "run 3 is run 1 once more; again is run 2 once more"
    assert thrice.explain("run 1", "again") == "batch_size: 32 → 8"
    labels = [line.get_label() for line in thrice.picture().axes[0].lines if "valid" not in line.get_label()]
    assert labels == ["run 1 = run 3: 32", "run 2 = again: 8"]


def test_a_run_that_was_saved_is_known_again_and_others_are_not_taken_for_it(tmp_path):
    run = Run(2, "train", [])
    run.records = told(shape=(1, 2), lr=0.1 + 0.2)
    run.save(tmp_path / "saved.json")
    assert "saved is run 1 once more" in repr(Comparison(run, tmp_path / "saved.json"))
    for other in (told(0.25), told(begin=101.0), told(batch_size=3), told(end=""), []):
        assert "once more" not in repr(Comparison(told(), other))
    assert "once more" not in repr(Comparison(told(end=""), told(end=""))), "runs that go on are the same only if they are one"


def test_the_table_shows_what_differs_and_the_rest_once():
    compared = Comparison(a=told(), b=told(batch_size=64, model="Model(Linear(3))"))
    head, first, second, same = repr(compared).splitlines()
    assert head.split() == ["run", "model", "batch_size", "state", "epochs", "done", "loss", "val_loss", "seconds", "samples/s"]
    assert first.split() == ["a", "model", "1", "32", "done", "1", "0.5", "1", "2.5", "320"]
    assert second.split()[:4] == ["b", "model", "2", "64"]
    assert same == "the same: ranks 2"
    columns = compared.columns()
    assert columns["batch_size"] == [32, 64]
    assert columns["loss"] == [0.5, 0.5]
    assert len({len(column) for column in columns.values()}) == 1


def test_what_comes_from_outside_is_no_html():
    compared = Comparison(**{"<b>bold</b>": told(data="<script>"), "other": told(data="x")})
    assert "<script>" not in compared._repr_html_()
    assert "<b>bold" not in compared._repr_html_()


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(TypeError, match="run 1 is 3: give a Run, a History, records, or the path"):
        Comparison(3)
    with pytest.raises(ValueError, match="there is nothing to compare"):
        Comparison()
    with pytest.raises(TypeError, match="run 2 is 3: give a Run, a History, records, or the path"):
        Comparison([told(), 3])
    assert list(Comparison(self=told()).runs) == ["self"]
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ValueError, match="is no run of dtnn"):
        Comparison(tmp_path / "x.json")
    with pytest.raises(FileNotFoundError):
        Comparison(tmp_path / "nowhere.json")


def test_real_runs_are_compared_and_drawn():
    data = dtnn.data.mnist5k()
    histories = [dtnn.zoo.mlp(hidden=(8,)).fit(data, epochs=2, batch_size=rows, show=False) for rows in (200, 400)]
    compared = Comparison(*histories)
    assert list(compared.differences()) == ["batch_size"]
    left, right = compared.picture().axes
    assert [line.get_label() for line in left.lines if "validation" not in line.get_label()] == ["run 1: 200", "run 2: 400"]
    assert left.lines[0].get_ydata().tolist() == histories[0].history["loss"]
    assert right.lines[0].get_ydata().tolist() == histories[0].history["accuracy"]
    assert compared.plot("val_accuracy", ax=right) is right


def test_the_same_function_at_another_address_is_the_same_setting():
    one, two = (told(strategy=f"AllReduce(algorithm=<function job.<locals>.mine at 0x7f{n}>, overlap=False)") for n in (12, 34))
    assert Comparison(one, two).differences() == {}
    assert Comparison(one, told(strategy="AllReduce()")).differences() == {
        "strategy": ("AllReduce(algorithm=mine, overlap=False)", "AllReduce()")
    }


def test_the_best_is_marked_where_there_is_one():
    slow, good = told(0.9), told(0.5)
    good[2] = Epoch(1, 9, 640, 2.0, 0.1, {"loss": 0.5, "val_loss": 1.0, "f1": 0.9}, 102.0)
    slow[2] = Epoch(1, 9, 640, 2.5, 0.1, {"loss": 0.9, "val_loss": 1.0, "f1": 0.7}, 102.0)
    page = Comparison(slow, good)._repr_html_()
    assert "<b>0.5</b>" in page
    assert "<b>0.9</b>" in page, "of other metrics, too: more is better there"
    assert "<b>320</b>" in page
    assert page.count("<b>") == 3, "not where all are the same"
    assert "f1" in repr(Comparison(slow, good))


def test_in_a_terminal_it_is_the_table_alone(monkeypatch):
    import IPython.display

    sent = []
    monkeypatch.setattr(IPython.display, "display", lambda *shown, **how: sent.extend(shown))
    Comparison(told())._ipython_display_()
    (bundle,) = sent
    assert bundle["text/plain"].startswith("run    ")
    monkeypatch.setattr("dtnn.plots.screens.in_notebook", lambda: True)
    Comparison(told())._ipython_display_()
    assert len(sent) == 3, "and a notebook has the picture, too"
