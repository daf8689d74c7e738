"""What one reads off the gradients of a step."""

import math

import numpy as np
import pytest

from dtnn.gradients import GradientView, noise_scale
from dtnn.records import GradientValues, Recorder

from .made import told, values


@pytest.fixture
def gradients():
    dice = np.random.default_rng(1)
    return {"conv2d_1": dice.standard_normal((3, 20)), "linear_1": dice.standard_normal((3, 50))}


def test_norms_columns_and_cosines(gradients):
    view = GradientView(told(gradients, [4, 4, 3]))
    assert view.norms.shape == (2, 3)
    assert view.norms[1, 2] == pytest.approx(np.linalg.norm(gradients["linear_1"][2]))
    assert view.total[0] == pytest.approx(np.linalg.norm(gradients["conv2d_1"].sum(0)))
    assert view.columns["layer"] == ["conv2d_1"] * 3 + ["linear_1"] * 3
    assert view.columns["rank"] == [0, 1, 2] * 2
    assert view.columns["samples"] == [4, 4, 3] * 2
    one, other = gradients["conv2d_1"][:2]
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert view.cosines("conv2d_1")[0, 1] == pytest.approx(cosine)
    together = np.concatenate(list(gradients.values()), axis=1)
    expected = together @ together.T / np.outer(*[np.linalg.norm(together, axis=1)] * 2)
    np.testing.assert_allclose(view.cosines(), expected)
    assert view.columns["cosine"][0] == pytest.approx(np.mean(view.cosines("conv2d_1")[0, 1:]))


def test_a_rank_without_samples_has_no_angle_and_no_say_in_the_noise(gradients):
    for array in gradients.values():
        array[0] = 0
    view = GradientView(told(gradients, [0, 4, 4]))
    assert np.isnan(view.cosines("linear_1")[0]).all()
    assert math.isnan(view.columns["cosine"][0])
    assert math.isfinite(view.columns["cosine"][1])
    alone = GradientView(told({name: array[1:] for name, array in gradients.items()}, [4, 4]))
    assert view.signal_and_noise() == pytest.approx(alone.signal_and_noise())


def test_the_noise_of_the_layers_adds_up_to_the_whole(gradients):
    view = GradientView(told(gradients, [4, 4, 3]))
    parts = np.array([view.signal_and_noise(layer) for layer in view.layers])
    np.testing.assert_allclose(parts.sum(0), view.signal_and_noise())


def test_one_rank_has_no_noise_scale(gradients):
    view = GradientView(told({name: array[:1] for name, array in gradients.items()}, [4]))
    assert math.isnan(view.noise_scale)
    assert "noise" not in str(view).splitlines()[-1]


def test_a_reduction_that_was_wrong_on_one_rank_is_said(gradients):
    right = gradients["linear_1"].sum(0)
    held = np.stack([right, right / 3, right])  # a mean for a sum
    view = GradientView(told(gradients, [4, 4, 3], after={"linear_1": held}))
    assert "rank 1 went on with something else than the sum: linear_1 was off by 66.7 %" in str(view)
    assert "rank 1" in view._repr_html_().rpartition("</table>")[2]
    assert view.off("linear_1").tolist() == pytest.approx([0, 2 / 3, 0])
    assert view.columns["after"][3:] == pytest.approx([np.linalg.norm(row) for row in held])
    assert GradientView(told(gradients, [4, 4, 3])).warning == ""


def test_the_numbers_come_back_bit_by_bit_and_thinned_ones_say_so():
    own = np.random.default_rng(2).standard_normal((2, 3, 5)).astype(np.float32)
    record = told({"linear_1": own.reshape(2, -1)}, [4, 4], asked="linear_1")
    view = GradientView(record, values("linear_1.weight", own, own.sum(0, keepdims=True)))
    np.testing.assert_array_equal(view.before(), own)
    np.testing.assert_array_equal(view.reduced("linear_1.weight")[0], own.sum(0))
    assert view.left_out == ""
    thinned = GradientView(record, values("linear_1.weight", own.reshape(2, -1)[:, ::4], own.reshape(2, -1)[:, ::4], every=4))
    assert thinned.before().shape == (2, 4)
    assert "not in full: linear_1.weight: one number in 4" in str(thinned)


def test_numbers_that_were_not_told_and_damaged_ones_are_refused():
    own = np.zeros((2, 3), np.float32)
    view = GradientView(told({"linear_1": own}, [4, 4]), values("linear_1.bias", own, own))
    with pytest.raises(ValueError, match=r"numbers of 'linear_1.weight' were not told in step 7; there are linear_1.bias"):
        view.before("linear_1.weight")
    for name in ([1], {}, np.zeros(2), 3):
        with pytest.raises(ValueError, match=r"were not told in step 7; there are linear_1.bias"):
            view.before(name)
    for broken in ({"dtype": "object"}, {"shape": [4]}, {"before": ["?"]}, {"before": ["AAA"]}, {"shape": "no"}, {"before": 3}):
        entry = {**view.parameters["linear_1.bias"], **broken}
        damaged = GradientView(view.told, GradientValues(7, {"linear_1.bias": entry}, 1.0))
        with pytest.raises(ValueError, match=r"gradients of linear_1.bias in step 7 are damaged"):
            damaged.before()
    with pytest.raises(ValueError, match=r"no layer 'linear_2' with gradients; there are linear_1"):
        view.cosines("linear_2")


def test_the_right_one_is_found_among_a_runs_records(gradients):
    kept = [told(gradients, [4, 4, 3], step) for step in (10, 20)]
    one, two = (values(f"{name}.weight", np.zeros((3, 2)), np.zeros((1, 2)), step=20) for name in ("conv2d_1", "linear_1"))
    asked = told(gradients, [4, 4, 3], 20, "linear_1")
    records = Recorder.from_json(Recorder([kept[0], one, kept[1], two, asked]).to_json())
    assert GradientView.of(records).asked == "linear_1"
    assert list(GradientView.of(records, 20, "").parameters) == ["conv2d_1.weight"]
    assert list(GradientView.of(records, 20, "linear_1").parameters) == ["linear_1.weight"]
    assert GradientView.of(records, 10).parameters == {}
    with pytest.raises(ValueError, match="no gradients of step 15 were kept; there are those of steps 10, 20"):
        GradientView.of(records, 15)
    with pytest.raises(ValueError, match=r"no gradients of any step were kept.*keep_gradients_every=100"):
        GradientView.of([])


def test_the_noise_scale_of_many_steps_is_that_of_the_samples():
    """Samples whose gradients lie around a known one with a known variance; single steps are far off."""
    dice = np.random.default_rng(3)
    true, deviation, size = dice.standard_normal(40), 3.0, 40
    expected = size * deviation**2 / (true @ true)

    def step(number, samples):
        total = sum(samples)
        own = [(true + deviation * dice.standard_normal((count, size))).sum(0) / total for count in samples]
        return told({"linear_1": np.stack(own)}, samples, number)

    even = noise_scale([step(number, [8, 8]) for number in range(600)])
    uneven = noise_scale([step(number, [9, 2, 5]) for number in range(600)])
    assert even == pytest.approx(expected, rel=0.15)
    assert uneven == pytest.approx(expected, rel=0.15)
    assert math.isnan(noise_scale([]))


def test_a_last_batch_of_one_sample_does_not_spoil_the_noise_scale():
    rng = np.random.default_rng(0)
    whole = [told({"a": rng.standard_normal((2, 50)) + 1}, [8, 8]) for _ in range(20)]
    last = told({"a": np.stack([rng.standard_normal(50), np.zeros(50)])}, [1, 0])
    assert noise_scale([*whole, last]) == noise_scale(whole) > 0


def test_a_noise_that_is_negative_is_no_number_of_samples():
    view = GradientView(told({"linear_1": np.array([[0.025, 0.0], [1.5, 0.0]])}, [4, 12]))
    assert view.noise_scale < 0
    assert view.noise_words == "no noise scale: in this step the ranks differ less than noise would make them"
    assert str(view).splitlines()[2].split()[-1] == "-"
