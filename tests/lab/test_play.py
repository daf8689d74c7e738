"""The playground's training is the real one, held after each step."""

import itertools
import threading
import time

import numpy as np
import pytest

from dtnn import parallel
from dtnn.comm import Serial
from dtnn.data import batches, toy2d
from dtnn.lab.in_plane import in_plane
from dtnn.lab.pairs import PAIRS
from dtnn.lab.play import Play
from dtnn.lab.play_net import PlayNet
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


def assert_no_threads():
    """The ranks' threads end soon."""
    end = time.monotonic() + 5
    while any("of a playground" in thread.name for thread in threading.enumerate()) and time.monotonic() < end:
        time.sleep(0.01)
    assert not [thread.name for thread in threading.enumerate() if "of a playground" in thread.name]


def numbers(model):
    """The weights of a model, one after the other."""
    return np.concatenate([array.reshape(-1) for array in model.parameters.state().values()])


def test_its_weights_are_those_of_one_rank(play_of):
    play = play_of()
    model = play.net.model(seed=0)
    records = train(Serial(), model, toy2d.circle(40).train, optimizer=SGD(0.2), batch_size=16, epochs=9, metrics=())
    losses = [record.loss for record in itertools.islice((r for r in records if isinstance(r, Step)), 7)]
    play.forward(7)
    assert play.losses.values == pytest.approx(losses, rel=1e-5)
    assert np.allclose(play.weights(), numbers(model), atol=1e-6)
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
    play = play_of(strategy=parallel.ParameterServer(1, exact=True))
    assert 0 not in play.owners()[0], "known before the first step"
    play.forward(2)
    assert play.servers == 1
    assert 0 not in play.owners()[0]
    assert (play.gradients[0] == 0).all()
    assert play.shares.tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize(("name", "steps"), [("circle", 200), ("xor", 60), ("gauss", 20), ("spiral", 60)])
def test_two_weights_learn_each_set(name, steps):
    data = getattr(toy2d, name)(noise=0.1)
    play = Play(data, ranks=2, batch=200, net=PlayNet(pair=PAIRS[name]), lr=1.0)
    before = play.loss_at(play.first[None])[0]
    play.forward(steps)
    play.close()
    assert ((play.outputs(data.x_train) > 0.5) == data.y_train).mean() >= 0.98
    assert play.losses.values[0] == pytest.approx(before, rel=1e-5), "the surface is that of what is trained"
    assert play.loss_at(play.mean_weights()[None])[0] < 0.5 * before
    assert (len(play.path.values), play.path.last.shape) == (steps, (2, 2))
    assert np.allclose(play.path.last, play.weights())


def test_gradients_are_told_with_the_weights_that_they_are_for(play_of):
    """A worker behind a server that is three steps ahead computes with the weights of three steps ago."""
    play = play_of(net=PlayNet(pair=PAIRS["circle"]), strategy=parallel.ParameterServer(3, exact=True), batch=8)
    play.forward(5)  # the first epoch, at whose end the workers catch up
    stale = play.path.values[0][0]
    assert np.allclose(play.asked_at[1:], stale, atol=1e-6), "step 5, with the server's weights after step 1"
    now = play.owners()[1]
    around = stale + [[1e-2, 0], [-1e-2, 0], [0, 1e-2], [0, -1e-2]]
    losses = play.net.losses(play.inputs[now], play.data.y_train[now], around)
    assert play.gradients.sum(0) == pytest.approx([(losses[0] - losses[1]) / 2e-2, (losses[2] - losses[3]) / 2e-2], abs=1e-3)


def test_bytes_are_those_of_a_step(play_of):
    dense, sparse = play_of(ranks=2), play_of(ranks=2, strategy=parallel.Compressed("sign"))
    for play in (dense, sparse):
        play.forward(5)
    assert 4 * 114 <= dense.sent < 4 * 114 + 250
    assert sparse.sent < 0.5 * dense.sent


def test_it_may_be_closed_in_the_middle(play_of):
    play = play_of()
    stepping = threading.Thread(target=play.forward, args=(10**6,))
    stepping.start()
    while play.step < 3:
        time.sleep(0.001)
    play.close()
    stepping.join(5)
    assert not stepping.is_alive()
    done = play.step
    play.forward(3)
    assert play.step == done, "it is over"
    assert_no_threads()


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
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError):
        play.forward()
    assert time.monotonic() - began < 5, "it does not wait for what has ended"
    play.close()
    assert_no_threads()


def test_the_plane_of_gradients():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((4, 30))
    flat = in_plane(np.vstack([vectors, vectors.sum(0)]), vectors.sum(0))
    assert flat[:-1].sum(0) == pytest.approx(flat[-1])
    assert flat[-1] == pytest.approx([np.linalg.norm(vectors.sum(0)), 0], abs=1e-9)
    assert in_plane(np.zeros((2, 3)), np.zeros(3)).tolist() == [[0, 0], [0, 0]]
