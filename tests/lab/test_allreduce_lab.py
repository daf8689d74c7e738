"""The lab of all-reduces without a browser."""

import asyncio
import io
import threading
import time

import pytest
from PIL import Image

from dtnn.comm import collectives
from dtnn.lab import AllReduceLab


@pytest.fixture
def lab():
    made = AllReduceLab("ring", ranks=4, length=8)
    yield made
    made.close()


def between(lab):
    return lab.choice.between(lab.seen)


async def settled(lab):
    """Give the loop time until what was chosen is shown."""
    while lab.choice is not lab._asked and not lab.message.text:
        await asyncio.sleep(0.01)


def test_steps_forward_and_back(lab):
    pictures = [lab.picture.png]
    for _ in range(8):
        lab.forward()
        pictures.append(lab.picture.png)
    assert lab.player.round.value == 6
    assert len(set(pictures)) == 7
    assert lab.words() == "ring on 4 ranks, 8 numbers: after 6 rounds"
    assert lab.picture.image.value == pictures[-1]
    for _ in range(8):
        lab.back()
    assert lab.player.round.value == 0
    assert lab.picture.png == pictures[0]


def test_played_in_the_loop_and_stopped_by_a_second_click(lab, monkeypatch):
    monkeypatch.setattr("dtnn.lab.player.SECONDS", 0.02)

    async def notebook():
        lab.player.button.click()
        assert lab.player.button.description == "■ stop"
        while lab.player.playing:
            await asyncio.sleep(0.01)
        assert lab.player.round.value == 6
        lab.player.button.click()
        await asyncio.sleep(0.05)
        lab.player.button.click()
        stopped_at = lab.player.round.value
        await asyncio.sleep(0.1)
        assert lab.player.round.value == stopped_at < 6
        assert lab.player.button.description == "▶ play"

    asyncio.run(asyncio.wait_for(notebook(), 30))


def test_other_choices_are_watched_anew(lab):
    lab.controls.ranks.value = 5
    lab.controls.algorithm.value = "central"
    assert "8" in lab.facts.value
    assert lab.player.round.max == 8
    assert lab.words().splitlines() == ["central on 5 ranks, 8 numbers: round 1 of 8", "  rank 1 -> rank 0: numbers 0 to 7"]
    assert repr(lab) == lab.words(), "in a terminal"
    lab.controls.algorithm.value = "native"
    assert "messages are not seen" in lab.words()
    assert "formula" not in lab.facts.value
    lab.controls.ranks.value, lab.controls.length.value = 16, 100_000
    lab.controls.algorithm.value = "rabenseifner"
    assert lab.player.round.max == 8


def test_measured_and_compared_without_holding_the_loop(lab):
    async def notebook():
        await asyncio.gather(lab.measure(), lab.compare())

    asyncio.run(notebook())
    assert "the formula says 30.0 ms, the clock" in lab.measured.clock.value  # 6 (5 ms + 8 bytes at 1 MB/s)
    for name in ("rabenseifner", "tree", "native"):
        assert f'<td style="padding: 0 14px 0 0">{name}</td>' in lab.measured.bits.value
    assert "different" not in lab.measured.bits.value


def test_an_all_reduce_of_ones_own(lab, monkeypatch):
    def mine(comm, array):
        comm.Allreduce(array)

    def wrong(comm, array):
        comm.Recv(array, (comm.rank + 1) % comm.size)

    def endless(comm, array):
        over.wait()

    over = threading.Event()
    lab.controls.names = {"mine": mine, "wrong": wrong, "endless": endless, "not_one": lambda x: x}
    lab.controls.refresh()
    assert list(lab.controls.algorithm.options)[:3] == ["mine", "wrong", "endless"]
    lab.controls.algorithm.value = "mine"
    assert lab.message.text == ""
    lab.controls.algorithm.value = "wrong"
    assert "rank 0" in lab.message.text
    monkeypatch.setattr("dtnn.lab.allreduce_choice.PATIENCE", 0.2)
    lab.controls.algorithm.value = "endless"
    assert "has not ended after 0.2 s" in lab.message.text
    over.set()
    lab.controls.algorithm.value = "tree"
    assert lab.message.text == ""


def test_an_all_reduce_that_a_cell_defines_is_offered_and_not_run(lab):
    ran = []

    def mine(comm, array):
        ran.append(comm.rank)
        comm.Allreduce(array)

    async def notebook():
        lab.controls.names = {"mine": mine}
        lab.controls.refresh()
        await asyncio.sleep(0.3)

    lab.forward()
    asyncio.run(notebook())
    assert lab.controls.algorithm.options[0] == "mine"
    assert (lab.controls.algorithm.value, lab.player.round.value, ran, lab.message.text) == ("ring", 1, [], "")


def test_without_widgets_there_is_a_picture_and_words(lab):
    lab.forward()
    bundle = lab._repr_mimebundle_()
    assert {"image/png", "text/plain"} <= set(bundle)
    assert bundle["text/plain"].splitlines()[1] == "  rank 0 -> rank 1: numbers 4 to 5"


def test_what_goes_from_node_to_node_is_counted(lab):
    row = '<td style="padding: 0 14px 0 0">of these from node to node</td>'
    assert row in lab.facts.value
    assert between(lab) == (12, 96)  # of a ring over nodes of two ranks every second message
    lab.controls.algorithm.value = "hierarchical"
    assert between(lab) == (4, 64)  # the first ranks of the nodes exchange halves: two messages of 4 numbers each, twice
    assert lab.seen.messages == lab.choice.cost.messages == 8
    lab.controls.node.value = 4
    assert between(lab) is None
    assert row not in lab.facts.value
    lab.controls.node.value = 1
    assert between(lab) is None
    lab.controls.algorithm.value, lab.controls.node.value = "native", 2
    assert between(lab) is None


def test_the_largest_is_watched_without_holding_the_notebook(lab):
    """16 ranks and 100,000 numbers: the loop is held while it is drawn, not while it runs."""
    lab.controls.ranks.value = 16
    held = []

    async def beats():
        """What this process computes from one turn of the loop to the next, whatever else the machine does."""
        last = time.process_time()
        while True:
            await asyncio.sleep(0.005)
            held.append(time.process_time() - last)
            last = time.process_time()

    async def notebook():
        beating = asyncio.get_running_loop().create_task(beats())
        lab.controls.length.value = 100_000
        for name in ("ring", "central", "in_float64", "torus"):
            lab.controls.algorithm.value = name
            await asyncio.wait_for(settled(lab), 30)
            assert lab.choice.name == name
        await asyncio.sleep(0.01)
        beating.cancel()

    asyncio.run(asyncio.wait_for(notebook(), 60))
    assert lab.message.text == ""
    print(f"longest block {1e3 * max(held):.0f} ms")
    assert max(held) < 0.3, "the first picture of so many ranks takes 0.1 s"


def test_of_two_choices_that_run_the_last_is_shown(lab):
    go = threading.Event()

    def late(comm, array):
        go.wait(10)
        comm.Allreduce(array)

    async def notebook():
        lab.controls.names = {"late": late}
        lab.controls.refresh()
        lab.controls.algorithm.value = "late"
        assert "it runs" in lab.facts.value
        lab.controls.algorithm.value = "tree"
        go.set()
        await asyncio.sleep(0.3)

    asyncio.run(asyncio.wait_for(notebook(), 30))
    assert (lab.choice.name, lab.message.text) == ("tree", "")
    assert "formula" in lab.facts.value


def test_a_wrong_one_spoils_its_row_only(lab, monkeypatch):
    def wrong(comm, array):
        raise ValueError("I am <wrong>")

    def endless(comm, array):
        while True:
            comm.Barrier()

    monkeypatch.setattr("dtnn.lab.allreduce_measured.PATIENCE", 0.3)
    lab.controls.names = {"wrong": wrong, "endless": endless}
    lab.compare()
    assert "rank" in lab.measured.bits.value
    assert "I am &lt;wrong&gt;" in lab.measured.bits.value
    assert "it has not ended after 0.3 s" in lab.measured.bits.value
    assert lab.measured.bits.value.count("the same") == len(collectives.ALGORITHMS)
    assert lab.measured.message.text == ""
    assert lab.measured.comparing.button.description == "compare bits"


def test_an_error_while_it_is_measured_is_said_there(lab):
    calls = []

    def second(comm, array):
        calls.append(comm.rank)
        if len(calls) > comm.size:
            raise ValueError("not twice")
        comm.Allreduce(array)

    lab.controls.names = {"second": second}
    lab.controls.refresh()
    lab.controls.algorithm.value = "second"
    lab.measure()
    assert "not twice" in lab.measured.message.text
    assert lab.measured.clock.value == ""
    assert lab.measured.measuring.button.description == "measure"
    lab.controls.algorithm.value = "ring"
    lab.measure()
    assert lab.measured.message.text == ""
    assert "the formula says" in lab.measured.clock.value


def test_a_measurement_is_ended_by_a_second_click(lab):
    async def notebook():
        lab.measured.latency.value = 1000.0
        doing = lab.measure()
        while "measuring" not in lab.measured.clock.value:
            await asyncio.sleep(0.01)
        assert lab.measured.measuring.button.description == "■ stop"
        await asyncio.sleep(0.5)
        begin = time.monotonic()
        lab.measured.measuring.button.click()
        await doing
        assert time.monotonic() - begin < 4, "six messages of a second each"

    asyncio.run(asyncio.wait_for(notebook(), 30))
    assert (lab.measured.clock.value, lab.measured.message.text) == ("", "")
    assert not lab.measured.measuring.busy


def test_what_would_take_minutes_is_not_begun(lab):
    lab.measured.latency.value, lab.controls.length.value, lab.measured.bandwidth.value = 1000.0, 100_000, 0.001
    lab.measure()
    assert lab.measured.message.text == "that takes 606 s; at most 60 s are measured: take fewer numbers or faster links"
    assert lab.measured.clock.value == ""


def test_links_between_nodes_are_slower(lab):
    lab.controls.algorithm.value, lab.measured.slower.value = "hierarchical", 4.0
    lab.measure()
    assert "its messages take 50.2 ms on such links, the clock" in lab.measured.clock.value  # 2 x 5 within, 2 x 4 x 5 between


def test_the_grid_of_the_torus_is_chosen(lab):
    assert lab.controls.grid.layout.display == "none"
    lab.controls.ranks.value, lab.controls.algorithm.value = 12, "torus"
    assert lab.controls.grid.layout.display == ""
    assert [name for name, _ in lab.controls.grid.options] == ["1 × 12", "2 × 6", "3 × 4", "4 × 3", "6 × 2", "12 × 1"]
    assert lab.words().startswith("torus (3 × 4) on 12 ranks, 8 numbers: round 1 of 10")
    lab.controls.grid.value = 2
    assert lab.words().startswith("torus (2 × 6) on 12 ranks, 8 numbers: round 1 of 12")
    assert lab.seen.messages == lab.choice.cost.messages == 144
    lab.controls.ranks.value = 5
    assert lab.controls.grid.value == 1
    given = AllReduceLab("torus", ranks=8, grid=(4, 2))
    assert given.words().startswith("torus (4 × 2) on 8 ranks")
    given.close()


@pytest.mark.parametrize(
    ("grid", "error", "words"),
    [((3, 3), ValueError, "has 9 places for 4 ranks; there are 1 × 4, 2 × 2, 4 × 1"), (4, TypeError, "rows and columns")],
)
def test_a_grid_has_a_place_for_each_rank(grid, error, words):
    with pytest.raises(error, match=words):
        AllReduceLab("torus", ranks=4, grid=grid)


def test_a_saved_notebook_has_the_last_round(lab, monkeypatch):
    import IPython.display

    sent = []
    monkeypatch.setattr("dtnn.lab.keeping.KEPT", 0.05)
    monkeypatch.setattr("dtnn.lab.player.SECONDS", 0.01)
    monkeypatch.setattr(
        IPython.display, "display", lambda bundle, **how: "update" in how and sent.append((bundle["text/plain"], how["update"]))
    )

    async def notebook():
        lab._ipython_display_()
        lab.forward()
        lab.forward()
        while len(sent) < 2:
            await asyncio.sleep(0.01)
        lab.play()
        while len(sent) < 3:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(notebook(), 30))
    assert [update for _, update in sent] == [False, True, True]
    assert "round 1 of 6" in sent[0][0]
    assert "round 3 of 6" in sent[1][0]
    assert "after 6 rounds" in sent[2][0]


def test_large_letters_are_sharp():
    for ranks, height in ((8, 460), (16, 620)):
        lab = AllReduceLab(ranks=ranks, length=100_000, big=True)
        asyncio.run(settled(lab))
        width, drawn = Image.open(io.BytesIO(lab.png())).size
        assert abs(width - 840) <= 1
        assert abs(drawn - height) <= 1
        lab.close()


def test_a_page_without_widgets_has_a_picture_though_the_first_one_takes_a_while():
    def slow(comm, array):
        time.sleep(0.2)
        comm.Allreduce(array)

    async def notebook():
        lab = AllReduceLab(slow)
        bundle = lab._repr_mimebundle_()
        lab.close()
        return bundle

    bundle = asyncio.run(notebook())
    assert "image/png" in bundle
    assert bundle["text/plain"].startswith("slow on 4 ranks, 8 numbers: the library's own")


def test_one_that_runs_for_long_is_told_in_words():
    go = threading.Event()

    async def notebook():
        lab = AllReduceLab(lambda comm, array: go.wait(20) and comm.Allreduce(array))
        bundle = lab._repr_mimebundle_()
        go.set()
        await settled(lab)
        lab.close()
        return bundle, lab.words()

    bundle, words = asyncio.run(asyncio.wait_for(notebook(), 30))
    assert "image/png" not in bundle
    assert bundle["text/plain"] == "yours on 4 ranks, 8 numbers: it runs"
    assert "at first" in words


def test_a_double_click_measures_once(lab, mouse):
    async def notebook():
        lab.measured.measuring.button.click()
        lab.measured.measuring.button.click()
        while lab.measured.measuring.busy:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(notebook(), 30))
    assert "the formula says" in lab.measured.clock.value
