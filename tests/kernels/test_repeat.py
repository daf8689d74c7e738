"""Repeat: the Python that decides runs once, and anew where scratch arrays or teams would be others."""

import threading
import time

import numpy as np
import pytest

from dtnn import machine
from dtnn.kernels.gather import gather
from dtnn.kernels.parts import here, team
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


@pytest.mark.skipif(machine.cores() < 2, reason="two threads need two cores")
def test_helpers_of_another_number_of_threads_sleep_on():
    rows, indices, out = np.ones((64, 4096), np.float32), np.arange(64), np.empty((4096, 64), np.float32)
    again = Repeat(lambda: gather(rows, indices, out))
    with machine.threads(2):
        again()
    helpers = team(2)

    def asleep():
        end = time.monotonic() + 60
        while not helpers.asleep and time.monotonic() < end:
            time.sleep(0.01)
        return bool(helpers.asleep)

    assert asleep()
    woken, helpers.wake = [], lambda: woken.append(True)
    for _ in range(3):
        again()
    assert not woken
    with machine.threads(2):
        again()
        again()
    assert woken
    del here.teams[2]
