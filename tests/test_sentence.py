"""An error in one line, with what was noted on it."""

import pickle

from dtnn.sentence import note, noted, sentence


class Old(ValueError):
    """As an exception is in Python 3.10: nobody can add a note."""

    @property
    def add_note(self):
        raise AttributeError


def test_kind_words_and_notes():
    assert sentence(ValueError("negative width")) == "ValueError: negative width"
    assert sentence(ValueError()) == "ValueError"
    assert sentence(note(note(ValueError("a"), "b"), "c")) == "ValueError: a (b; c)"


def test_notes_are_kept_where_python_has_none_and_travel():
    error = pickle.loads(pickle.dumps(note(note(Old("a"), "b"), "c")))
    assert noted(error) == " (b; c)"
    assert type(error) is Old
    assert str(error) == "a"


def test_the_error_itself_comes_back():
    error = KeyError("a")
    assert note(error, "b") is error


def test_what_others_have_put_there_does_no_harm():
    error = ValueError("a")
    error.__notes__ = ["b", 3]
    assert sentence(error) == "ValueError: a (b)"
