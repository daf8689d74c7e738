"""What a training returns is shown in a line, and is a plain dict all the same."""

import pickle

import numpy as np
from IPython.lib.pretty import pretty

import dtnn
from dtnn.training.trained import Trained


def test_the_result_of_a_run_is_shown_in_a_line_and_taken_by_a_model():
    digits = dtnn.data.mnist5k()
    with dtnn.Cluster(2, launcher="threads") as cluster:
        run = dtnn.zoo.mlp().start(digits.x_train[:200], digits.y_train[:200], cluster=cluster, batch_size=100)
        result = run.result(60)
    for shown in (repr(result), pretty(result), f"{result}"):
        assert "after 2 steps" in shown
        assert "\n" not in shown
        assert len(shown) < 130
    numbers = sum(array.size for array in result["weights"].values())
    assert f"{numbers:,} numbers in {len(result['weights'])} arrays" in repr(result)
    dtnn.zoo.mlp().load_state_dict(result["weights"])


def test_it_travels():
    there = pickle.loads(pickle.dumps(Trained(weights={"a": np.ones(3)}, training=None, steps=4)))
    assert type(there) is Trained
    assert there["steps"] == 4
    assert repr(there).startswith("<trained weights: 3 numbers in 1 array, after 4 steps;")
