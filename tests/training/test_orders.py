"""Commands told to one rank act on all ranks after the same step, whatever keeps the replicas together."""

import time

import numpy as np
import pytest

from dtnn import Model, commands, optim
from dtnn.comm import Serial, run_threads
from dtnn.commands import Advance, Pause, Rate, Resume, Show
from dtnn.data import Samples
from dtnn.nn import Linear, ReLU
from dtnn.parallel import Accumulate, AllReduce, Compressed, Gossip, LocalSGD, ParameterServer, Sharded
from dtnn.records import Finish, Note, Paused, Resumed, Step, Stop
from dtnn.training import Checkpoint, train, with_callbacks
from dtnn.training.orders import Orders

STRATEGIES = [
    AllReduce(), AllReduce(lambda comm, array: comm.Allreduce(array)), AllReduce("ring"), AllReduce(overlap=True), Accumulate(2),
    Sharded(), LocalSGD(3), Gossip("ring"), Compressed("int8"), ParameterServer(), ParameterServer(None),
]  # fmt: skip
strategies = pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: repr(strategy).partition(" at 0x")[0][:60])


def rows(count=48):
    rng = np.random.default_rng(0)
    return Samples(rng.standard_normal((count, 4)).astype(np.float32), rng.integers(0, 3, count))


def network(**settings):
    return Model(Linear(5), ReLU(), Linear(3), input_shape=(4,), **settings)


def answered(comm, answers, model=None, **settings):
    """The records of a training on this rank that is answered at (rank, step), or where rank 0 tells nothing (rank, None)."""
    settings = {"batch_size": 8, "epochs": 3, "optimizer": optim.SGD(0.1, momentum=0.5), **settings}
    running, told, command = train(comm, model or network(), rows(), **settings), [], None
    asked = list(answers.get((comm.rank, None), ()))
    while True:
        try:
            record = running.send(command)
        except StopIteration:
            return told
        command = (asked.pop(0) if asked else None) if record is None else None
        if record is not None:
            told.append(record)
            if isinstance(record, Step):
                command = answers.get((comm.rank, record.step))


def course(records):
    """What happened, in short: the steps with their rates, and the pauses."""
    short = {
        Step: lambda r: (r.step, round(r.lr, 6)),
        Paused: lambda r: "paused",
        Resumed: lambda r: "on",
        Finish: lambda r: r.text,
    }
    return [short[type(record)](record) for record in records if type(record) in short]


@strategies
def test_all_ranks_pause_step_change_their_rate_and_go_on_together(strategy):
    answers = {
        (1, 2): Pause("let me look"),
        (0, None): [Rate(0.05), Advance(2), [Rate(factor=0.1), Resume()]],
        (2, 8): Stop("enough"),
    }
    told = run_threads(lambda comm: course(answered(comm, answers, strategy=strategy)), 3)
    assert told[0] == told[1] == told[2]
    steps = [entry for entry in told[0] if isinstance(entry, tuple)]
    rates = dict(steps)
    assert list(rates) == list(range(1, max(rates) + 1))
    before = told[0].index("paused")
    assert told[0][before : before + 5] == ["paused", "on", (before + 1, 0.05), (before + 2, 0.05), "paused"]
    assert set(list(rates.values())[:before]) == {0.1}
    assert set(list(rates.values())[before + 2 :]) == {0.01}
    assert told[0][-1] == "enough"
    assert max(rates) < 18
    if strategy != ParameterServer(None):  # where what is agreed on is some steps away
        seldom = {LocalSGD(3): (6, 9), Gossip("ring"): (6, 12)}  # ranks hear of each other
        assert (before, max(rates)) == seldom.get(strategy, (3, 9))


@strategies
def test_a_pause_changes_no_bit(strategy):
    if strategy == ParameterServer(None):
        pytest.skip("two runs of it differ anyway")

    def job(comm):
        paused, straight = network(), network()
        answered(comm, {(0, 3): Pause(), (0, None): [Advance(1), Resume()]}, paused, strategy=strategy)
        answered(comm, {}, straight, strategy=strategy)
        return np.array_equal(paused.parameters.value, straight.parameters.value)

    assert all(run_threads(job, 3))


def test_a_rate_is_used_from_the_same_step_on_as_one_rank_would():
    def trained(comm):
        model = network(dtype="float64")
        answered(comm, {(0, 4): Rate(0.02), (0, 9): Rate()}, model, optimizer=optim.Adam(0.01))
        return model.parameters.value.copy()

    alone = trained(Serial())
    for value in run_threads(trained, 3):
        np.testing.assert_allclose(value, alone, rtol=1e-9, atol=1e-12)
    other = network(dtype="float64")
    answered(Serial(), {}, other, optimizer=optim.Adam(0.01))
    assert np.abs(other.parameters.value - alone).max() > 1e-4


def test_a_factor_keeps_the_schedules_shape_and_no_factor_goes_back_to_it():
    schedule = optim.cosine(0.1)
    plain = [record.lr for record in answered(Serial(), {}, optimizer=optim.SGD(schedule)) if isinstance(record, Step)]
    answers = {(0, 2): Rate(factor=0.5), (0, 8): Rate()}
    told = [record.lr for record in answered(Serial(), answers, optimizer=optim.SGD(schedule)) if isinstance(record, Step)]
    assert told[:3] == plain[:3]
    assert told[3:9] == pytest.approx([rate / 2 for rate in plain[3:9]])
    assert told[9:] == plain[9:]


class Own:
    """An optimizer in plain Python, whose rate nobody knows how to change."""

    def state(self, parameters):
        return {}

    def rate(self, progress):
        return 0.1

    def update(self, parameters, state, progress):
        parameters.value[: parameters.trainable] -= 0.1 * parameters.grad[: parameters.trainable]
        parameters.grad[:] = 0

    def __repr__(self):
        return "Own()"


def test_an_optimizer_without_a_rate_to_change_is_said_and_trains_on():
    told = answered(Serial(), {(0, 2): Rate(0.5)}, optimizer=Own())
    assert "Own() has no lr, so its learning rate can't be changed" in [
        record.text for record in told if isinstance(record, Note)
    ]
    assert told[-1].reason == "done"


def test_a_changed_rate_is_kept_in_a_checkpoint_for_the_same_optimizer(tmp_path):
    model, straight = network(), network()
    answers = {(0, 2): Rate(0.02)}
    answered(Serial(), answers, straight, epochs=4)
    answered(Serial(), answers, model, epochs=2)
    model.training = Checkpoint.of(*model.training.parts())
    assert model.training.rate == Rate(0.02)
    on = answered(Serial(), {}, model, epochs=4, resume=model.training)
    assert {record.lr for record in on if isinstance(record, Step)} == {0.02}
    np.testing.assert_array_equal(model.parameters.value, straight.parameters.value)
    other = answered(Serial(), {}, model, epochs=5, resume=model.training, optimizer=optim.SGD(0.3, momentum=0.5))
    assert {record.lr for record in other if isinstance(record, Step)} == {0.3}
    plain, arrays = model.training.parts()
    del plain["rate"]  # a file of an earlier dtnn
    assert Checkpoint.of(plain, arrays).rate == Rate()


def test_an_epochs_seconds_do_not_count_its_pauses():
    def patient(command):
        time.sleep(0.3)
        return command

    running, command, epochs = train(Serial(), network(), rows(), epochs=1, batch_size=8), None, []
    try:
        while True:
            record = running.send(command)
            command = Pause() if getattr(record, "step", 0) == 2 and isinstance(record, Step) else None
            command = patient(Resume()) if record is None else command
            epochs += [record]
    except StopIteration:
        pass
    found = {type(record).__name__: record for record in epochs}
    assert found["Resumed"].seconds >= 0.3
    assert found["Epoch"].seconds < found["Resumed"].seconds


def test_the_same_command_on_all_ranks_is_meant_once_and_different_ones_follow_each_other():
    def job(comm):
        orders = Orders(comm)
        orders.hear(Advance(3))
        orders.agree()
        left = orders.left, len(orders.told)
        orders.hear(Rate(0.1 * (comm.rank + 1)))
        rates = []
        for _ in range(3):
            orders.agree()
            rates.append(round(orders.rate.lr, 3))
        return left, rates, len(orders.told)

    assert run_threads(job, 3) == [((3, 0), [0.1, 0.2, 0.3], 0)] * 3


@pytest.mark.undisturbed
def test_ranks_that_pause_sleep_and_hear_of_a_failure():
    def job(comm):
        if comm.rank == 0:
            time.sleep(0.3)
            raise ValueError("while others pause")
        orders = Orders(comm)
        orders.left = 0
        began = time.thread_time()
        with pytest.raises(RuntimeError, match="rank 0 failed"):
            list(orders.wait())
        return time.thread_time() - began

    with pytest.raises(ValueError, match="while others pause"):
        run_threads(job, 2)


def test_callbacks_commands_and_those_from_outside_all_arrive():
    heard = []

    def job():
        while True:
            answer = yield "a record"
            heard.append(answer)
            answer = yield None
            heard.append(answer)

    shown = []
    running = with_callbacks(job(), [shown.append, lambda record: Rate(0.5), lambda record: [Pause(), None]], None)
    assert next(running) == "a record"
    assert running.send(Stop("outside")) is None
    assert running.send(Resume()) == "a record"
    assert heard == [[Stop("outside"), Rate(0.5), Pause()], Resume()]
    assert shown == ["a record"]


def test_a_fit_that_holds_the_cell_can_not_be_paused():
    x, y = rows().x, rows().y
    with pytest.raises(RuntimeError, match=r"a callback paused this training.*model.start\(...\), then run.resume\(\)"):
        network().fit(x, y, callbacks=[lambda record: Pause() if isinstance(record, Step) else None], show=False)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Rate(-0.1), r"lr=-0.1: give a learning rate of at least 0"),
        (lambda: Rate(float("nan")), r"lr=nan: give a learning rate"),
        (lambda: Rate("fast"), r"lr='fast': give a learning rate"),
        (lambda: Rate(True), r"lr=True: give a learning rate"),
        (lambda: Rate(factor=0), r"factor=0: give a number above 0"),
        (lambda: Rate(0.1, 0.5), r"lr=0.1 and factor=0.5: give one of them"),
        (lambda: Advance(0), r"steps=0: give a whole number of at least 1"),
        (lambda: Advance(1.5), r"steps=1.5: give a whole number"),
        (lambda: Advance(True), r"steps=True: give a whole number"),
        (lambda: Rate(10**400), r"lr is a whole number of 401 digits; give one that a float can hold"),
    ],
)
def test_commands_that_make_no_sense_are_refused(make, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


@pytest.mark.parametrize("make", [Pause, Stop, Show])
@pytest.mark.parametrize("text", [None, 0.93, b"x", np.array([1, 2]), ["conv2d_1"]])
def test_a_command_that_could_not_travel_is_refused_where_it_is_made(make, text):
    """...and does not end the training that it is told to."""
    with pytest.raises(TypeError, match=rf"{make.__name__}\(.*give text, such as"):
        make(text)


def test_what_is_no_command_is_refused():
    with pytest.raises(TypeError, match=r"answered 'stop'; the answer to a record is dtnn.Stop.*Rate.*or None"):
        answered(Serial(), {(0, 2): "stop"})


@pytest.mark.parametrize(
    ("heard", "left"), [([Pause(), Show("a")], 1), ([Pause(), Resume(), Show("a")], np.inf), ([Show("a"), Pause()], 0)]
)
def test_what_is_to_be_shown_makes_a_step_only_of_a_training_that_pauses(heard, left):
    orders = Orders(Serial())
    orders.hear(heard)
    orders.agree()
    assert (orders.left, orders.shown) == (left, ["a"])


def test_commands_travel_as_text():
    told = [Stop("enough"), Pause("why"), Resume(), Advance(np.int64(3)), Rate(1, 1), Rate(factor=0.5), Show("linear_1")]
    assert commands.from_text(commands.to_text(told)) == told
