"""The playground's training is the real one, held after each step."""

import itertools
import threading
import time

import numpy as np
import pytest

from dtnn import parallel
from dtnn.comm import Serial
from dtnn.data import batches, toy2d
from dtnn.lab.play import Play, in_plane
from dtnn.optim import SGD
from dtnn.records import Step
from dtnn.training import train


@pytest.fixture
def play_of():
    """The function that makes a play, which is closed in the end."""
    made = []

    def make(**how):
        made.append(Play(toy2d.circle(40), **{"ranks": 3, "batch": 16, "lr": 0.2, **how}))
        return made[-1]

    yield make
    for play in made:
        play.close()


def test_its_weights_are_those_of_one_rank(play_of):
    play = play_of()
    alone = play_of(ranks=1)
    records = train(Serial(), alone.model, toy2d.circle(40).train, optimizer=SGD(0.2), batch_size=16, epochs=9, metrics=())
    losses = [record.loss for record in itertools.islice((r for r in records if isinstance(r, Step)), 7)]
    play.forward(7)
    assert play.losses == pytest.approx(losses, rel=1e-5)
    assert np.allclose(play.weights(), alone.model.parameters.value, atol=1e-6)
    assert np.ptp(play.weights(), axis=0).max() == 0


def test_the_parts_add_up_to_the_gradient(play_of):
    play, alone = play_of(), play_of(ranks=1)
    play.forward(3)
    alone.forward(3)
    assert play.gradients.shape == (3, alone.used.size)
    assert np.allclose(play.gradients.sum(0), alone.gradients[0], atol=1e-6)
    assert np.allclose(play.used, alone.used, atol=1e-6)
    assert not np.allclose(play.gradients[0], play.gradients[1])


def test_local_steps_let_the_replicas_part_and_meet(play_of):
    play = play_of(strategy=parallel.LocalSGD(2), batch=8)
    spreads = []
    for _ in range(4):
        play.forward()
        spreads.append(np.ptp(play.weights(), axis=0).max())
    assert [spread > 1e-4 for spread in spreads] == [True, False, True, False]


def test_a_compressed_gradient_is_another_than_the_sum(play_of):
    play = play_of(strategy=parallel.Compressed("sign"))
    play.forward()
    assert not np.allclose(play.used, play.gradients.sum(0), atol=1e-4)


def test_a_server_gets_no_points(play_of):
    play = play_of(strategy=parallel.ParameterServer(1))
    play.forward(2)
    assert play.servers == 1
    assert 0 not in play.owners()[0]
    assert (play.gradients[0] == 0).all()


def test_owners_are_those_who_train(play_of):
    play = play_of()
    owners, now = play.owners()
    assert not now.any()
    play.forward(4)  # the first of the second epoch: 40 points in batches of 16
    owners, now = play.owners()
    first = next(iter(batches(40, 16, 0, 2)))
    assert sorted(np.flatnonzero(now)) == sorted(first)
    assert [(owners[first] == rank).sum() for rank in range(3)] == [6, 5, 5]


def test_it_learns_and_its_outputs_are_probabilities(play_of):
    play = play_of(batch=40)
    play.forward(400)
    rows = toy2d.circle(40).train
    said = play.outputs(rows.x)
    assert ((said >= 0) & (said <= 1)).all()
    assert ((said > 0.5) == rows.y).mean() > 0.9


def test_a_failing_rank_is_told_and_its_threads_end(play_of):
    class Bad:
        def begin(self, comm, parameters, optimizer):
            exchange = parallel.AllReduce().begin(comm, parameters, optimizer)
            if comm.rank == 1:
                exchange.update = lambda progress: 1 / 0
            return exchange

    play = play_of(strategy=Bad())
    with pytest.raises(ZeroDivisionError):
        play.forward(2)
    play.close()
    end = time.monotonic() + 5
    while any("of a playground" in thread.name for thread in threading.enumerate()) and time.monotonic() < end:
        time.sleep(0.01)
    assert not [thread.name for thread in threading.enumerate() if "of a playground" in thread.name]


def test_the_plane_of_gradients():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((4, 30))
    flat = in_plane(np.vstack([vectors, vectors.sum(0)]), vectors.sum(0))
    assert flat[:-1].sum(0) == pytest.approx(flat[-1])
    assert flat[-1] == pytest.approx([np.linalg.norm(vectors.sum(0)), 0], abs=1e-9)
    assert in_plane(np.zeros((2, 3)), np.zeros(3)).tolist() == [[0, 0], [0, 0]]
