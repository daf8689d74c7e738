import inspect
import math
import pickle

import pytest

from dtnn.optim import (
    SGD,
    Progress,
    constant,
    cosine,
    every_n_epochs,
    legw,
    one_cycle,
    plateau,
    poly,
    scaled,
    schedule,
    step,
    warm_up,
)


def at(epoch, epochs=10, steps_per_epoch=4, past=()):
    return Progress(
        step=round(epoch * steps_per_epoch) + 1, epoch=epoch, steps_per_epoch=steps_per_epoch, epochs=epochs, past=past
    )


def rates(of, *epochs, **more):
    return [pytest.approx(of(at(epoch, **more)), abs=1e-12) for epoch in epochs]


def test_constant():
    assert rates(constant(0.1), 0, 5, 9.75) == [0.1, 0.1, 0.1]


def test_step_falls_when_the_epochs_are_done():
    assert rates(step(1.0, (3, 6), 0.5), 0, 2.75, 3, 5.75, 6, 9) == [1, 1, 0.5, 0.5, 0.25, 0.25]


def test_every_n_epochs():
    assert rates(every_n_epochs(1.0, 2, 0.5, least=0.2), 0, 1.75, 2, 4, 8) == [1, 1, 0.5, 0.25, 0.2]


def test_cosine():
    assert rates(cosine(1.0, end=0.2), 0, 2.5, 5, 10) == [1, 0.6 + 0.4 * math.sqrt(0.5), 0.6, 0.2]


def test_poly():
    assert rates(poly(1.0), 0, 5, 10) == [1, 0.25, 0]
    assert rates(poly(1.0, power=1.0, end=0.5), 0, 5, 10) == [1, 0.75, 0.5]


def test_one_cycle_rises_and_falls():
    cycle = one_cycle(1.0, rising=0.4, start=0.1, end=0.01)
    assert rates(cycle, 0, 2, 4, 7, 10) == [0.1, 0.55, 1.0, 0.505, 0.01]


def test_warm_up_ends_at_the_rate_and_leaves_the_schedule_alone():
    warm = warm_up(1.0, epochs=2)
    assert rates(warm, 0, 0.25, 1.75, 2, 5) == [1 / 8, 2 / 8, 1, 1, 1]
    assert rates(warm_up(step(1.0, (3,)), 2), 2.5, 3) == [1, 0.1]
    assert rates(warm_up(1.0, 2, start=0.5), 0.75) == [0.75]


def test_warm_up_of_less_than_a_step():
    assert rates(warm_up(1.0, epochs=0), 0) == [1.0]
    assert rates(warm_up(1.0, epochs=0.1), 0) == [1.0]


def test_settings_are_checked_when_it_is_made():
    with pytest.raises(TypeError, match="lr"):
        cosine()
    with pytest.raises(TypeError, match="speed"):
        cosine(0.1, speed=2)


@pytest.mark.parametrize("make", [constant, cosine, poly, one_cycle, step, every_n_epochs, warm_up, plateau])
def test_shows_itself_and_travels(make):
    made = make(0.1)
    assert repr(made) == f"{make.__name__}(0.1)"
    assert eval(repr(made)) == made
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again(at(2)) == made(at(2))
    assert next(iter(inspect.signature(make).parameters)) in ("lr", "then")  # the progress is no setting


def test_of_your_own():
    @schedule
    def halved(progress, lr, times=1):
        return lr / 2**times

    assert halved(1.0, times=3)(at(0)) == 0.125
    assert repr(SGD(halved(1.0))) == "SGD(lr=halved(1.0))"


def test_the_end_of_no_training():
    assert Progress(step=1, epoch=0.0, epochs=0).fraction == 1.0  # `fit(epochs=0)` has nothing left


def test_scaled_is_explicit():  # case 40
    assert (scaled(0.1, 4), scaled(0.1, 4, "sqrt"), scaled(0.1, 4, None)) == (0.4, 0.2, 0.1)
    assert scaled(cosine(1.0), 4)(at(5)) == pytest.approx(2.0)
    assert repr(scaled(cosine(1.0), 4)) == "times(cosine(1.0), 4)"
    assert pickle.loads(pickle.dumps(scaled(cosine(1.0), 4)))(at(0)) == 4.0


@pytest.mark.parametrize("times", [1, 4, 16])
def test_legw_warms_up_in_as_many_steps_whatever_the_batch(times):
    """sqrt(k) the rate, k times the epochs: of 64 / k steps each."""
    made, per_epoch = legw(0.1, times, epochs=0.25), 64 // times
    rates = [made(Progress(n, (n - 1) / per_epoch, steps_per_epoch=per_epoch, epochs=20)) for n in range(1, 33)]
    assert rates == pytest.approx([0.1 * times**0.5 * min(1, n / 16) for n in range(1, 33)])


def test_legw_takes_schedules_and_refuses_smaller_batches():
    assert legw(poly(1.0, 2), 4, 0.5)(at(5)) == pytest.approx(2 * 0.25)
    assert pickle.loads(pickle.dumps(legw(0.1, 4))) == legw(0.1, 4)
    with pytest.raises(ValueError, match=r"times=0.5: .*1 or more"):
        legw(0.1, 0.5)


def test_scaled_by_another_rule_is_refused():
    with pytest.raises(ValueError, match=r"""rule='cubic' is no way .*"linear", "sqrt" or None"""):
        scaled(0.1, 4, "cubic")
    with pytest.raises(ValueError, match=r"ranks=0: .*1 or more"):
        scaled(0.1, 0)


@pytest.mark.parametrize("make", [lambda: warm_up(cosine), lambda: scaled(cosine, 2), lambda: legw(poly, 2)])
def test_what_makes_a_schedule_is_none(make):
    with pytest.raises(TypeError, match=r"=<function (?:cosine|poly) at .*: give a "):
        make()
