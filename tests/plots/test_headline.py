"""The line of words above the picture."""

from dtnn.plots.headline import headline
from dtnn.plots.phase_words import phase_words
from dtnn.plots.story import Story
from dtnn.records import Epoch, Finish, Note, Paused, Phase, Resumed, Start, Step


def _words(records, told=None, waiting_for="", now=1000.0):
    word, parts = headline(Story(records), told, waiting_for, now)
    return " · ".join([word, *parts])


START = Start(990.0, 2, {"epochs": 5})


def test_before_the_first_step_it_says_what_is_waited_for_and_how_long():
    assert _words([], "waiting", "2 engines to start") == "waiting · for 2 engines to start"
    assert _words([START, Note(0, 996.0, "compiling 3 of 9 kernels")], "running") == "waiting · compiling 3 of 9 kernels · 4.0 s"
    assert _words([START]) == "waiting · for the first step · 10.0 s"
    assert _words([START, Note(0, 999.5, "waiting for all ranks")]) == "waiting · for all ranks"
    slowed = _words([START, Note(0, 999.5, "injected: rank 1 computes 2 times as long")])
    assert slowed == "waiting · for the first step · injected: rank 1 computes 2 times as long"


def test_in_training_it_says_how_far_and_how_well():
    told = [START, Step(63, 1, 0.5, 64, 0.1, 0.01, 999.5), Epoch(1, 63, 4000, 1.0, 0.1, {"loss": 1.0, "accuracy": 0.7}, 999.6)]
    told.append(Step(64, 2, 0.43, 64, 0.1, 0.01, 999.9))
    assert _words(told, "running") == "training · epoch 2 of 5 · loss 0.430 · accuracy 70.0 % · 6,400 samples/s · 2 ranks"


def test_a_model_that_was_trained_before_goes_on():
    told = [Start(990.0, 2, {"epochs": 5, "goes_on_after_steps": 1250}), Step(1, 1, 0.5, 64, 0.1, 0.01, 999.9)]
    assert _words(told, "running").endswith("2 ranks · after 1,250 earlier steps")


def test_a_validation_value_is_preferred_and_called_so():
    told = [
        START,
        Step(1, 1, 0.5, 64, 0.1, 0.01, 999.9),
        Epoch(1, 1, 64, 1.0, 0.1, {"accuracy": 0.7, "val_accuracy": 0.65}, 999.9),
    ]
    assert "validation accuracy 65.0 %" in _words(told)


def test_steps_that_stay_away_are_explained():
    told = [START, Step(1, 1, 0.5, 64, 0.1, 0.01, 990.0)]
    assert _words(told).endswith("no news for 10.0 s")
    assert _words([*told, Note(0, 991.0, "evaluating")]).endswith("evaluating for 9.0 s")


def test_ends_are_told_by_their_names():
    told = [START, Step(7, 1, 0.5, 64, 0.1, 0.01, 999.0)]
    for reason in ("stopped", "interrupted", "failed"):
        assert _words([*told, Finish(reason, 999.0)]).startswith(f"{reason} · at step 7, epoch 1 of 5")
    done = [*told, Epoch(1, 7, 64, 1.0, 0.1, {"loss": 0.4}, 999.0), Finish("done", 999.0)]
    assert _words(done).startswith("done · 1 epoch in 9.0 s · loss 0.400")


def test_a_pause_is_told_as_long_as_it_lasts_and_does_not_count_seconds():
    step = Step(7, 1, 0.5, 64, 0.1, 0.01, 900.0)
    paused = [START, step, Paused(7, 900.0, "paused by the user")]
    for told in (None, "paused"):
        words = _words(paused, told)
        assert words.startswith("paused · at step 7, epoch 1 of 5 · loss 0.500")
        assert words.endswith("run.resume() goes on")
        assert words == _words(paused, told, now=2000.0)
    assert _words([*paused, Resumed(7, 99.0, 999.9)]).startswith("training")
    assert _words([*paused, Finish("stopped", 999.9)]).startswith("stopped")


def test_a_pause_within_a_step_says_after_which_phase():
    phase = Phase(3, 1, "backward", 1, 1, [0.1, 0.2], [0.5, 0.25], 13.5)
    records = [Step(2, 1, 2.3, 64, 0.01, 0.5, 13.0), phase, Paused(3, 14.0, "paused by the user", "backward")]
    told = Story(records)
    word, parts = headline(told, now=20.0)
    assert (word, parts[0]) == ("paused", "in step 3, after backward")
    assert told.phase is phase
    records += [Resumed(3, 1.0, 15.0), Step(3, 1, 2.3, 64, 0.01, 0.5, 15.0)]
    told.read(records)
    assert told.phase is phase, "it is of the last step"
    told.read([*records, Step(4, 1, 2.3, 64, 0.01, 0.5, 16.0)])
    assert told.phase is None


def test_of_many_ranks_the_least_and_the_most_are_told():
    told = Phase(3, 1, "forward", 1, 1, [0.1] * 9, [*range(1, 9), float("nan")], 13.5)
    assert phase_words(told) == "forward of step 3 in 100 ms · loss of its samples, each rank: 1.00 to 8.00"
    few = Phase(3, 1, "forward", 1, 1, [0.1] * 2, [float("nan"), 2.0], 13.5)
    assert phase_words(few).endswith("each rank: - | 2.00")
