"""What goes down to the ranks of a run, where engines are played."""

import base64
from concurrent.futures import Future

import pytest

from dtnn.cluster.conducted import Conducted
from dtnn.cluster.flight import Flight
from dtnn.cluster.parcel import unpack
from dtnn.commands import Pause, Rate, Resume


class Engines:
    """One rank, which begins the run only after some messages, and writes down what it hears from then on."""

    size = 1

    def __init__(self, deaf):
        self.deaf, self.heard, self.mail = deaf, [], []

    def message(self, rank, what, number, command):
        self.mail.append((unpack(base64.b64decode(command))[0], Future()))
        return self.mail[-1][1]

    def read(self):
        for command, reply in [self.mail.pop(0) for _ in list(self.mail)]:
            begun = self.deaf <= 0
            self.deaf -= 1
            self.heard += [command] * begun
            reply.set_result({"content": {"begun": begun, "heard": begun}})


@pytest.mark.parametrize("deaf", range(6))
def test_commands_are_heard_in_their_order_whenever_the_run_begins(deaf):
    run, engines = Conducted(1, takes_commands=True), Engines(deaf)
    flight, asked = Flight(engines, run, 7, []), [Pause("first"), Rate(0.5), Resume()]
    for command in asked:
        run._request("command", command)
        flight._serve()
    for _ in range(20):
        engines.read()
        flight._serve()
    assert engines.heard == asked
