"""Records travel as JSON and come back equal."""

import json
import math

import pytest

from dtnn.records import (
    Clock,
    Epoch,
    Finish,
    Gradients,
    GradientValues,
    Ledger,
    Message,
    Note,
    Paused,
    Phase,
    Place,
    Recorder,
    Refused,
    Resumed,
    Share,
    Span,
    Start,
    Step,
    Trace,
    Weights,
    from_dict,
    to_dict,
)

SPANS = [Span(0, "forward", 0, 0.0, 0.1, "forward"), Span(0, "Recv from 1", 40, 0.1, 0.05)]
MESSAGES = [Message(0, 1, 3, 40, 0.1, 0.05)]

RECORDS = [
    Place(rank=1, machine={"host": "here", "cores": 2}),
    Start(time=1.0, ranks=2, settings={"model": "Model(...)", "batch_size": 64}),
    Note(rank=0, time=2.0, text="compiling"),
    Step(step=1, epoch=1, loss=2.5, samples=64, lr=0.1, seconds=0.01, time=3.0),
    Ledger(0, 1, 1, 32, 1000, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 2.1, 3.0),
    Ledger(1, 1, 1, 32, 1000, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 2.3, 3.0, pack=0.2, hidden=0.1, loss=2.4, memory=10**8),
    Step(2, 1, 2.4, 64, 0.1, 0.01, 3.0, gradient=1.5),
    *SPANS,
    *MESSAGES,
    Clock(1, 11.56, 2e-5, 7.0, 3.0),
    Clock(2, 0.0, math.inf, 7.0, 3.0),
    Trace(0, 1, 7.5, 0.15, SPANS, MESSAGES, 3.0),
    Epoch(epoch=1, step=1, samples=64, seconds=1.0, lr=0.1, metrics={"loss": 2.5, "val_loss": math.inf}, time=4.0),
    Share(1, 1, 1, 32, {"loss": 2.4, "val_loss": math.nan}, 4.0),
    Paused(1, 4.1, "paused by the user"),
    Resumed(1, 0.5, 4.6),
    Refused("linear_1", "ranks are at different steps", 4.7),
    Phase(1, 1, "forward", 1, 2, [0.1, 0.2], [2.3, math.nan], 4.7),
    Paused(1, 4.7, "paused by the user", "forward"),
    Gradients(
        1, "", [32, 32], 0.5, ["linear_1"], [[1.0, 2.0]], [[3.0]], [3.0], [[0.0]], [[[1.0, math.nan], [math.nan, 1.0]]], 4.8
    ),
    GradientValues(1, {"linear_1.bias": {"shape": [2], "dtype": "float32", "every": 1, "before": ["", ""], "after": [""]}}, 4.8),
    Weights(1, 3, "", {"linear_1.bias": {"shape": [1], "dtype": "float32", "values": "AACAPw=="}}, 4.9),
    Finish(reason="done", time=5.0),
]


def test_every_record_survives_json():
    back = Recorder.from_json(Recorder(RECORDS).to_json())
    assert back == RECORDS
    assert [type(record) for record in back] == [type(record) for record in RECORDS]


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_know_survive(loss):
    record = Step(step=1, epoch=1, loss=loss, samples=1, lr=0.1, seconds=0.1, time=0.0)
    text = Recorder([record]).to_json()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    back = Recorder.from_json(text)[0].loss
    assert back == loss or (math.isnan(loss) and math.isnan(back))


def test_what_is_not_known_is_refused():
    with pytest.raises(ValueError, match="type 'dance' is not known; known are start"):
        from_dict({"type": "dance"})
    with pytest.raises(ValueError, match="'note' has no field 'shout'"):
        from_dict({**to_dict(RECORDS[2]), "shout": True})
    with pytest.raises(ValueError, match="'note' needs the field 'time'"):
        from_dict({"type": "note", "rank": 0})
    with pytest.raises(TypeError, match="not by 3"):
        from_dict(3)
    with pytest.raises(TypeError, match="3 is no record; records are Start, Place"):
        to_dict(3)


def test_a_ledger_that_was_saved_before_packing_was_measured_is_read():
    old = to_dict(RECORDS[4])
    del old["pack"], old["hidden"]
    assert from_dict(old) == RECORDS[4]


def test_a_trace_holds_spans_and_messages():
    told = to_dict(Trace(3, 9, 7.5, 0.15, SPANS, MESSAGES, 3.0))
    with pytest.raises(TypeError, match="rank 3 in step 9"):
        from_dict({**told, "spans": [1, 2]})
    with pytest.raises(TypeError, match="rank 3 in step 9"):
        from_dict({**told, "messages": told["spans"]})


def test_a_long_list_of_records_says_how_many_there_are():
    few, many = Recorder(RECORDS[:3]), Recorder(RECORDS[2:3] * 1000)
    assert repr(few) == repr(list(few))
    assert repr(many) == "<Recorder of 1,000 records: 1,000 Note>"


def test_arrays_kept_as_text_are_not_printed():
    text = "QUJD" * 1000
    arrays = {"linear_1.weight": {"shape": [10, 784], "dtype": "float32", "every": 2, "before": [text], "after": [text]}}
    told = GradientValues(3, arrays, 0.5)
    assert repr(told) == "GradientValues(step=3, parameters={linear_1.weight (10, 784) float32}, time=0.5)"
    told = Weights(0, 3, "linear_1", {"linear_1.bias": {"shape": [10], "dtype": "float32", "values": text}}, 0.5)
    assert repr(told) == "Weights(rank=0, step=3, asked='linear_1', arrays={linear_1.bias (10,) float32}, time=0.5)"
    assert repr(Weights(0, 3, "", None, 0.5)).endswith("arrays=None, time=0.5)"), "whatever a damaged file has"
