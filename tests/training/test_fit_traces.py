"""`fit` looks closely at steps as it is asked to, and its history explains itself."""

import json

import numpy as np
import pytest

from dtnn import Cluster, Model
from dtnn.nn import Linear, ReLU
from dtnn.parallel import Accumulate, AllReduce, Compressed
from dtnn.records import Trace
from tests.tracing.test_trace_file import check


def fitted(**settings):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((48, 4)).astype(np.float32), rng.integers(0, 3, 48)
    model = Model(Linear(50), ReLU(), Linear(3), input_shape=(4,))
    return model.fit(x, y, batch_size=8, show=False, **settings)


@pytest.mark.parametrize(("trace", "steps"), [(1, [1, 2, 3, 4, 5, 6]), (np.int64(4), [4]), (False, []), (None, []), (True, [2])])
def test_steps_are_traced_as_asked(trace, steps):
    assert fitted(trace=trace).records.column(Trace, "step") == steps


def test_a_step_is_traced_without_asking():
    history = fitted()
    assert [step.step for step in history.timeline().steps] == [2]
    assert {"linear_1", "linear_2", "loss"} <= {name for name, _, _ in history.explain().layers}


def test_all_ranks_of_a_cluster_are_traced():
    with Cluster(2, launcher="threads") as cluster:
        history = fitted(cluster=cluster, trace=2, epochs=2)
    assert [step.ranks for step in history.timeline().steps] == [[0, 1]] * 6
    assert "2 ranks" in history.explain().summary


@pytest.mark.parametrize("trace", [0, -3, 2.5, "often"])
def test_what_makes_no_sense_is_refused(trace):
    words = rf"trace={trace!r}: give a whole number of at least 1: every so many steps; True for"
    with pytest.raises((TypeError, ValueError), match=words):
        fitted(trace=trace)


@pytest.mark.parametrize(
    "strategy", ["native", "ring", AllReduce(overlap=True, bucket_bytes=400), Accumulate(2), Compressed("int8")]
)
def test_what_a_training_tells_is_a_file_that_tools_can_read(tmp_path, strategy):
    """Cases 92 and 94, on real traces; with overlap several messages are on their way at once."""
    with Cluster(3, launcher="threads") as cluster:
        history = fitted(cluster=cluster, trace=1, strategy=strategy)
    history.timeline().save(tmp_path / "trace.json")
    values = json.loads((tmp_path / "trace.json").read_text())
    events = check(values)
    assert values["distributedInfo"]["world_size"] == 3
    assert sum(event["name"].startswith("ProfilerStep#") for event in events) == 3 * 6
    assert history.timeline().picture()[1:4] == b"PNG"
