"""The lab of all-reduces without a browser."""

import asyncio
import threading

import pytest

from dtnn.lab import AllReduceLab
from dtnn.lab import allreduce_lab as module


@pytest.fixture
def lab():
    made = AllReduceLab("ring", ranks=4, length=8)
    yield made
    made.close()


def test_steps_forward_and_back(lab):
    pictures = [lab.picture.png]
    for _ in range(8):
        lab.forward()
        pictures.append(lab.picture.png)
    assert lab.round.value == 6
    assert len(set(pictures)) == 7
    assert lab.words() == "ring on 4 ranks, 8 numbers: after 6 rounds"
    assert lab.picture.image.value == pictures[-1]
    for _ in range(8):
        lab.back()
    assert lab.round.value == 0
    assert lab.picture.png == pictures[0]


def test_played_in_the_loop_and_stopped_by_a_second_click(lab, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.02)

    async def notebook():
        lab.play_button.click()
        assert lab.play_button.description == "■ stop"
        while lab._playing is not None:
            await asyncio.sleep(0.01)
        assert lab.round.value == 6
        lab.play_button.click()
        await asyncio.sleep(0.05)
        lab.play_button.click()
        stopped_at = lab.round.value
        await asyncio.sleep(0.1)
        assert lab.round.value == stopped_at < 6
        assert lab.play_button.description == "▶ play"

    asyncio.run(asyncio.wait_for(notebook(), 30))


def test_other_choices_are_watched_anew(lab):
    lab.ranks.value = 5
    lab.choice.value = "central"
    assert "8" in lab.facts.value
    assert lab.round.max == 8
    assert lab.words().splitlines() == ["central on 5 ranks, 8 numbers: round 1 of 8", "  rank 1 -> rank 0: numbers 0 to 7"]
    lab.choice.value = "native"
    assert "messages are not seen" in lab.words()
    assert "formula" not in lab.facts.value
    lab.ranks.value, lab.length.value = 16, 100_000
    lab.choice.value = "rabenseifner"
    assert lab.round.max == 8


def test_measured_and_compared_without_holding_the_loop(lab):
    async def notebook():
        await asyncio.gather(lab.measure(), lab.compare())

    asyncio.run(notebook())
    assert "the formula says 42.0 ms" not in lab.clock.value
    assert "the formula says 30.1 ms, the clock" in lab.clock.value  # 6 (5 ms + 16 bytes at 1 MB/s)
    for name in ("rabenseifner", "tree", "native"):
        assert f'<td style="padding: 0 14px 0 0">{name}</td>' in lab.bits.value
    assert "different" not in lab.bits.value


def test_an_all_reduce_of_ones_own(lab, monkeypatch):
    def mine(comm, array):
        comm.Allreduce(array)

    def wrong(comm, array):
        comm.Recv(array, (comm.rank + 1) % comm.size)

    def endless(comm, array):
        over.wait()

    over = threading.Event()
    lab._names = {"mine": mine, "wrong": wrong, "endless": endless, "not_one": lambda x: x}
    lab._after_cell()
    assert list(lab.choice.options)[:3] == ["mine", "wrong", "endless"]
    lab.choice.value = "mine"
    assert lab.message.text == ""
    lab.choice.value = "wrong"
    assert "rank 0" in lab.message.text
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    lab.choice.value = "endless"
    assert "has not ended after 0.2 s" in lab.message.text
    over.set()
    lab.choice.value = "tree"
    assert lab.message.text == ""


def test_an_all_reduce_that_a_cell_defines_is_offered_and_not_run(lab):
    ran = []

    def mine(comm, array):
        ran.append(comm.rank)
        comm.Allreduce(array)

    async def notebook():
        lab._names = {"mine": mine}
        lab._after_cell()
        await asyncio.sleep(0.3)

    lab.forward()
    asyncio.run(notebook())
    assert lab.choice.options[0] == "mine"
    assert (lab.choice.value, lab.round.value, ran, lab.message.text) == ("ring", 1, [], "")


def test_without_widgets_there_is_a_picture_and_words(lab):
    lab.forward()
    bundle = lab._repr_mimebundle_()
    assert {"image/png", "text/plain"} <= set(bundle)
    assert bundle["text/plain"].splitlines()[1] == "  rank 0 -> rank 1: numbers 4 to 5"


def test_what_goes_from_node_to_node_is_counted(lab):
    row = '<td style="padding: 0 14px 0 0">of these from node to node</td>'
    assert row in lab.facts.value
    assert lab._between() == (12, 192)  # of a ring over nodes of two ranks every second message
    lab.choice.value = "hierarchical"
    assert lab._between() == (4, 128)  # the first ranks of the nodes exchange halves: two messages of 4 numbers each, twice
    assert lab.seen.messages == lab._formula().messages == 8
    lab.node.value = 4
    assert lab._between() is None
    assert row not in lab.facts.value
    lab.node.value = 1
    assert lab._between() is None
    lab.choice.value, lab.node.value = "native", 2
    assert lab._between() is None
