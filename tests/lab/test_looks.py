"""How panels say what went wrong."""

from dtnn.lab.looks import in_words
from dtnn.sentence import note


def test_what_was_noted_on_an_error_is_said():
    assert in_words(note(ValueError("negative"), "raised by the callback tell")) == "negative (raised by the callback tell)"
    assert in_words(note(KeyError("a"), "raised by the callback tell")) == "KeyError: 'a' (raised by the callback tell)"


def test_the_rank_is_said_once():
    error = note(RuntimeError("a mistake"), "raised by the callback tell")
    error.rank = 1
    assert in_words(error) == "rank 1: a mistake (raised by the callback tell)"
    assert in_words(RuntimeError("rank 1 failed")) == "rank 1 failed"
