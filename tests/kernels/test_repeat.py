"""Repeat: the Python that decides runs once, and anew where scratch arrays or teams would be others."""

import threading

import numpy as np

from dtnn import machine
from dtnn.kernels.repeat import Repeat
from dtnn.kernels.tape import call


def test_it_is_asked_anew_by_another_thread_and_for_another_number_of_threads():
    x, y, asked = np.ones(3), np.zeros(3), []

    def decide():
        asked.append(threading.get_ident())
        call(np.add, x, y, y)

    again = Repeat(decide)
    for number in (1, 1, 1):
        with machine.threads(number):
            again()
    assert len(asked) == 1
    other = threading.Thread(target=lambda: [again(), again()])
    other.start()
    other.join()
    assert len(asked) == 2
    again()
    assert len(asked) == 3
    if machine.cores() > 1:
        with machine.threads(2):
            again()
        assert len(asked) == 4
    assert (y == len(asked) + 2 + 1).all(), "each turn adds once, asked or not"
