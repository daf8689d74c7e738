"""The scaling study on ranks as threads: what it measures, refuses, saves."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

import dtnn
from dtnn.cluster import Cluster
from dtnn.plots import efficiency, scaling, time_per_step
from dtnn.scaling import Study, study
from dtnn.scaling.measure import Measurement, taken


def _measurement(ranks, repeat, throughput, wait=0.1):
    """A measurement of 10 steps in a second or so, made up."""
    time = dict.fromkeys(("data", "forward", "backward", "update", "other", "transfer"), 0.1) | {"wait": wait, "steps": 10}
    return Measurement(ranks, repeat, 64, 10, 640, 640 / throughput, dict.fromkeys(range(ranks), time), 0.0)


@pytest.fixture
def made_up():
    """Two ranks are 1.6 times as fast as one, give or take."""
    rates = {1: (100.0, 90.0, 110.0), 2: (160.0, 150.0, 180.0), 4: (240.0, 200.0, 260.0)}
    measurements = [_measurement(ranks, repeat, rate) for ranks, each in rates.items() for repeat, rate in enumerate(each, 1)]
    return Study("LeNet-5", "mnist5k", "strong", 64, "SGD(0.01)", {"cores": 2}, 1, measurements)


def test_rows_are_medians_and_their_bands(made_up):
    one, two, four = made_up.rows
    assert [row["throughput"] for row in (one, two, four)] == pytest.approx([100, 160, 240])
    assert (two["speedup"], two["speedup_low"], two["speedup_high"]) == pytest.approx((1.6, 1.5, 1.8))
    assert (one["efficiency"], two["efficiency"], four["efficiency"]) == pytest.approx((1.0, 0.8, 0.6))
    assert two["step"]["wait"] == pytest.approx(0.01)
    assert (one["speedup_low"], one["speedup_high"]) == pytest.approx((0.9, 1.1))


def test_speedup_is_against_the_first_number_of_ranks(made_up):
    made_up.measurements = [each for each in made_up.measurements if each.ranks > 1]
    two, four = made_up.rows
    assert (two["speedup"], two["efficiency"]) == (1.0, 1.0)
    assert (four["speedup"], four["efficiency"]) == pytest.approx((1.5, 0.75))


def test_pictures_show_the_rows(made_up):
    ax = scaling(made_up, Figure().add_subplot())
    lines = {line.get_label(): line.get_xydata().tolist() for line in ax.lines}
    assert lines["ideal"] == [[1, 1], [4, 4]]
    assert np.allclose(lines["measured"], [[1, 1.0], [2, 1.6], [4, 2.4]])
    ax = efficiency(made_up, Figure().add_subplot())
    assert np.allclose(next(line for line in ax.lines if line.get_label() == "measured").get_ydata(), [1.0, 0.8, 0.6])
    ax = time_per_step(made_up, Figure().add_subplot())
    heights = sum(bar.get_height() for bar in ax.patches)
    assert heights == pytest.approx(sum(1000 * sum(row["step"].values()) for row in made_up.rows))


def test_one_figure_says_what_was_measured(made_up):
    figure = made_up.plot()
    assert len(figure.axes) == 3
    (words,) = (text.get_text() for text in figure.texts)
    assert "strong scaling" in words
    assert "4 ranks shared 2 cores" in words, "more ranks than cores is said where the numbers are"
    assert figure._repr_png_()[1:4] == b"PNG"


def test_saved_and_read_back_it_is_the_same(made_up, tmp_path):
    made_up.save(tmp_path / "study.json")
    assert Study.load(tmp_path / "study.json") == made_up
    assert json.loads((tmp_path / "study.json").read_text())["machine"] == {"cores": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["study.json"]
    (tmp_path / "other.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match=r"other.json is not a study.*Study.save"):
        Study.load(tmp_path / "other.json")


def test_tables_in_text_and_html(made_up):
    lines = str(made_up).splitlines()
    assert len(lines) == 6
    assert "speed-up" in lines[1]
    assert "1.60" in lines[3]
    assert made_up._repr_html_().count("<tr>") == 4


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"ranks": [0]}, ["ranks=0", "at least 1"]),
        ({"ranks": []}, ["ranks=[]", "[1, 2, 4]"]),
        ({"ranks": [1, 1]}, ["[1, 1]", "repeats="]),
        ({"ranks": [1, 2.5]}, ["2.5", "whole number"]),
        ({"ranks": [1, 4]}, ["[1, 4]", "the cluster has 2", "start one of 4"]),
        ({"mode": "week"}, ["'week'", "did you mean 'weak'?"]),
        ({"mode": "Strong!"}, ["did you mean 'strong'?"]),
        ({"repeats": 0}, ["repeats=0", "at least 1"]),
        ({"batch_size": 1}, ["batch_size=1", "2 ranks", "at least 2"]),
        ({"ranks": "all"}, ["ranks='all'", "a list of numbers of ranks"]),
        ({"cluster": 2}, ["cluster=2 is no cluster", "dtnn.Cluster(2)"]),
        ({"optimizer": "adan"}, ["'adan'", "did you mean 'Adam'"]),
        ({}, ["data is a NoneType", "pair (x, y)"]),
    ],
)
def test_mistakes_are_told_before_anything_runs(asked, words):
    cluster = SimpleNamespace(ranks=2, run=None)
    with pytest.raises((TypeError, ValueError), match=r".") as told:
        study(None, None, **{"ranks": [1, 2], "cluster": cluster, **asked})
    for word in words:
        assert word in str(told.value)


def test_few_samples_are_taken_again():
    assert taken(np.arange(5), 12).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]


@pytest.mark.parametrize("mode", ["strong", "weak"])
def test_a_study_on_threads(mode):
    model, digits = dtnn.zoo.mlp(), dtnn.data.mnist5k()
    before = model.parameters.hash()
    with Cluster(2, launcher="threads", threads_per_rank=1) as cluster:
        found = study(model, digits, ranks=[1, 2], mode=mode, repeats=2, batch_size=32, steps=5, cluster=cluster)
    assert model.parameters.hash() == before
    assert [(each.ranks, each.repeat) for each in found.measurements] == [(1, 1), (2, 1), (1, 2), (2, 2)], "in turns"
    assert [row["batch_size"] for row in found.rows] == ([32, 32] if mode == "strong" else [32, 64])
    for each in found.measurements:
        assert (each.steps, each.samples) == (5, 5 * each.batch_size)
        assert set(each.time) == set(range(each.ranks))
        assert sum(time["samples"] for time in each.time.values()) == each.samples, "only the second epoch is counted"
        for time in each.time.values():
            assert time["seconds"] > 0
    assert found.machine["cores"] >= 1


ON_ENGINES = """
import sys
import dtnn
found = dtnn.scaling.study(dtnn.zoo.mlp(), dtnn.data.mnist5k(), ranks=[1, 2], repeats=1, batch_size=32, steps=5)
found.save(sys.argv[1])
"""


@pytest.mark.limit(90)
def test_without_a_cluster_it_starts_mpi_engines_of_its_own(tmp_path):
    mpiexec = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    if not os.path.exists(mpiexec):
        pytest.skip("no mpiexec in this environment")
    command = [sys.executable, "-c", ON_ENGINES, str(tmp_path / "study.json")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=80)
    assert ran.returncode == 0, ran.stderr
    found = Study.load(tmp_path / "study.json")
    assert [row["ranks"] for row in found.rows] == [1, 2]
    assert found.rows[1]["step"]["transfer"] > 0
    assert {time["bytes"] > 0 for time in found.measurements[1].time.values()} == {True}, "the two ranks did exchange gradients"
