"""Each update rule against a plain float64 reference, written from its formula for one array at a time."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from dtnn.nn import Layer, Parameter, Parameters
from dtnn.optim import LAMB, LARS, SGD, Adagrad, Adam, AdamW, Nadam, Progress, RMSProp, cosine

NOW = Progress(step=1, epoch=0.0)


class Weights(Layer):
    """A weight that decays, a bias that doesn't, and a frozen weight."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = Parameter(rng.normal(size=(5, 7)))
        self.bias = Parameter(rng.normal(size=5), decay=False)
        self.frozen = Parameter(rng.normal(size=3))
        self.frozen.trainable = False


def start(name):
    """The first weights (drawn as float32, as all weights are), for a computation in float64."""
    return getattr(Weights(), name).value.astype(np.float64)


def trained(optimizer, steps=6, dtype=np.float64, zero_weight=False, draw=np.random.default_rng):
    """Parameters after some updates with gradients that the seed gives, the gradients, and the state."""
    layer = Weights()
    parameters = Parameters(layer, dtype)
    if zero_weight:
        layer.weight.value[:] = 0
    state, gradients = optimizer.state(parameters), []
    for step in range(1, steps + 1):
        rng = draw(step)
        gradients.append({"weight": rng.normal(size=(5, 7)), "bias": rng.normal(size=5)})
        layer.weight.grad[:], layer.bias.grad[:] = gradients[-1].values()
        optimizer.update(parameters, state, Progress(step=step, epoch=(step - 1) / 3, steps_per_epoch=3, epochs=2))
        assert not parameters.grad.any()
    return layer, gradients, state


# ---- the references: w and g of one array in, w out; `decays` tells a weight from a bias


def sgd(w, grads, decays, lr=0.1, momentum=0.0, nesterov=False, weight_decay=0.0):
    v = 0
    for g in grads:
        g = g + decays * weight_decay * w
        v = momentum * v + g
        w = w - lr * (g + momentum * v if nesterov else v)
    return w


def adam(w, grads, decays, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
    m = v = 0
    for t, g in enumerate(grads, 1):
        d = decays * weight_decay * w
        g = g if decoupled else g + d
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g**2
        w = w - lr * m / (1 - betas[0] ** t) / (np.sqrt(v / (1 - betas[1] ** t)) + eps) - lr * decoupled * d
    return w


def adamw(w, grads, decays, weight_decay=0.01, **settings):
    return adam(w, grads, decays, weight_decay=weight_decay, decoupled=True, **settings)


def nadam(w, grads, decays, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3):
    def mu(t):
        return betas[0] * (1 - 0.5 * 0.96 ** (t * momentum_decay))

    product, m, v = 1, 0, 0
    for t, g in enumerate(grads, 1):
        g = g + decays * weight_decay * w
        product *= mu(t)
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g**2
        ahead = mu(t + 1) * m / (1 - product * mu(t + 1)) + (1 - mu(t)) * g / (1 - product)
        w = w - lr * ahead / (np.sqrt(v / (1 - betas[1] ** t)) + eps)
    return w


def rmsprop(w, grads, decays, lr=0.01, alpha=0.99, eps=1e-8, momentum=0.0, centered=False, weight_decay=0.0):
    v = m = b = 0
    for g in grads:
        g = g + decays * weight_decay * w
        v, m = alpha * v + (1 - alpha) * g**2, alpha * m + (1 - alpha) * g
        b = momentum * b + g / (np.sqrt(v - centered * m**2) + eps)
        w = w - lr * b
    return w


def adagrad(w, grads, decays, lr=0.01, initial=0.0, eps=1e-10, weight_decay=0.0):
    s = initial
    for g in grads:
        g = g + decays * weight_decay * w
        s = s + g**2
        w = w - lr * g / (np.sqrt(s) + eps)
    return w


def lars(w, grads, decays, lr=0.1, momentum=0.9, weight_decay=5e-4, trust=1e-3):
    v, d = 0, decays * weight_decay
    for g in grads:
        norms = np.linalg.norm(w), np.linalg.norm(g)
        r = trust * norms[0] / (norms[1] + d * norms[0]) if decays and all(norms) else 1
        v = momentum * v + lr * r * (g + d * w)
        w = w - v
    return w


def lamb(w, grads, decays, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
    m = v = 0
    for t, g in enumerate(grads, 1):
        m, v = betas[0] * m + (1 - betas[0]) * g, betas[1] * v + (1 - betas[1]) * g**2
        u = m / (1 - betas[0] ** t) / (np.sqrt(v / (1 - betas[1] ** t)) + eps) + decays * weight_decay * w
        norms = np.linalg.norm(w), np.linalg.norm(u)
        w = w - lr * (norms[0] / norms[1] if decays and all(norms) else 1) * u
    return w


CASES = [
    (SGD, sgd, dict(lr=0.1)),
    (SGD, sgd, dict(lr=0.1, weight_decay=0.3)),
    (SGD, sgd, dict(lr=0.1, momentum=0.9)),
    (SGD, sgd, dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.3)),
    (Adam, adam, dict()),
    (Adam, adam, dict(lr=0.1, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.3)),
    (AdamW, adamw, dict()),
    (AdamW, adamw, dict(lr=0.1, weight_decay=0.3)),
    (Nadam, nadam, dict()),
    (Nadam, nadam, dict(lr=0.1, betas=(0.8, 0.9), weight_decay=0.3, momentum_decay=0.1)),
    (RMSProp, rmsprop, dict()),
    (RMSProp, rmsprop, dict(alpha=0.9, momentum=0.9, weight_decay=0.3)),
    (RMSProp, rmsprop, dict(alpha=0.9, centered=True)),
    (RMSProp, rmsprop, dict(alpha=0.9, centered=True, momentum=0.5)),
    (Adagrad, adagrad, dict()),
    (Adagrad, adagrad, dict(lr=0.1, initial=0.1, weight_decay=0.3)),
    (LARS, lars, dict()),
    (LARS, lars, dict(lr=1.0, momentum=0.5, weight_decay=0.3, trust=0.02)),
    (LAMB, lamb, dict()),
    (LAMB, lamb, dict(lr=0.1, weight_decay=0.3)),
]
NAMES = [f"{cls.__name__}-{'-'.join(settings)}" for cls, _, settings in CASES]
ALL = [cls() for cls in (SGD, Adam, AdamW, Nadam, RMSProp, Adagrad, LARS, LAMB)]


@pytest.mark.parametrize(("make", "reference", "settings"), CASES, ids=NAMES)
def test_follows_its_formula(make, reference, settings):
    layer, gradients, _ = trained(make(**settings))
    for name, decays in (("weight", True), ("bias", False)):  # a bias doesn't decay, and isn't adapted to its norm
        expected = reference(start(name), [g[name] for g in gradients], decays, **settings)
        np.testing.assert_allclose(getattr(layer, name).value, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("make", "reference", "settings"), CASES, ids=NAMES)
def test_float32_is_close_and_stays_float32(make, reference, settings):  # case 72
    rate = np.float64(settings.get("lr", np.sqrt(0.5) * 0.01))
    layer, gradients, state = trained(make(**{**settings, "lr": rate}), steps=10, dtype=np.float32)
    expected = reference(start("weight"), [g["weight"] for g in gradients], True, **{**settings, "lr": rate})
    np.testing.assert_allclose(layer.weight.value, expected, rtol=1e-4, atol=1e-5)
    vectors = [value for name, value in state.items() if isinstance(value, np.ndarray) and name != "product"]
    assert {a.dtype for a in (layer.weight.value, layer.weight.grad, *vectors)} == {np.dtype(np.float32)}


@pytest.mark.parametrize("optimizer", ALL, ids=repr)
def test_frozen_weights_stay(optimizer):
    layer, _, state = trained(optimizer)
    assert np.array_equal(layer.frozen.value, Weights().frozen.value)
    assert all(np.size(value) <= 64 for value in state.values())  # none kept for it: 35 and 5 numbers, each rounded up to 16s


@pytest.mark.parametrize("optimizer", [SGD(0.1), Adam(), AdamW(), Nadam(), RMSProp(), Adagrad()], ids=repr)
def test_decay_all_decays_biases(optimizer):
    some = replace(optimizer, lr=0.1, weight_decay=0.3, decay_all=True)
    layer, gradients, _ = trained(some)
    reference = {SGD: sgd, Adam: adam, AdamW: adamw, Nadam: nadam, RMSProp: rmsprop, Adagrad: adagrad}[type(optimizer)]
    expected = reference(start("bias"), [g["bias"] for g in gradients], True, lr=0.1, weight_decay=0.3)
    np.testing.assert_allclose(layer.bias.value, expected, rtol=1e-12, atol=1e-13)


def one_weight(optimizer, gradients, dtype=np.float64):
    layer = Weights()
    parameters = Parameters(layer, dtype)
    layer.weight.value[:] = 1
    state, values = optimizer.state(parameters), []
    for g in gradients:
        layer.weight.grad[:] = g
        optimizer.update(parameters, state, NOW)
        values.append(layer.weight.value[0, 0])
    return values


def test_adam_in_numbers():  # case 70
    np.testing.assert_allclose(one_weight(Adam(), [0.1, 0.1, -0.2]), [0.999, 0.998, 0.99807565], rtol=0, atol=5e-9)
    np.testing.assert_allclose(one_weight(Adam(), [1e-8]), [0.9995], rtol=0, atol=1e-9)


def test_adams_defaults_are_the_papers():  # case 71
    assert (Adam().lr, Adam().betas, Adam().eps) == (1e-3, (0.9, 0.999), 1e-8)


@pytest.mark.parametrize("optimizer", [LARS(weight_decay=0), LAMB(weight_decay=0)], ids=repr)
def test_weights_that_are_all_zero_get_moving(optimizer):
    layer, _, _ = trained(optimizer, zero_weight=True)
    assert np.isfinite(layer.weight.value).all()
    assert layer.weight.value.all()


@pytest.mark.parametrize("optimizer", ALL, ids=repr)
def test_no_gradient_changes_nothing_but_by_decay(optimizer):
    without = replace(optimizer, weight_decay=0.0)
    values = one_weight(without, [0.0, 0.0])
    assert values == [1.0, 1.0]


@pytest.mark.parametrize("optimizer", [*ALL, RMSProp(centered=True)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_is_not_hidden(optimizer, dtype):
    assert np.isnan(one_weight(optimizer, [np.nan], dtype)[0])


@pytest.mark.parametrize("optimizer", [SGD(0.1, momentum=0.9), LAMB(0.1)], ids=repr)
def test_state_is_all_that_has_to_be_kept(optimizer):  # case 48
    whole, _, _ = trained(optimizer, steps=4)
    layer, _, state = trained(optimizer, steps=2)
    parameters, state = Parameters(layer, np.float64), pickle.loads(pickle.dumps(state))
    for step in (3, 4):
        rng = np.random.default_rng(step)
        layer.weight.grad[:], layer.bias.grad[:] = rng.normal(size=(5, 7)), rng.normal(size=5)
        optimizer.update(parameters, state, Progress(step=step, epoch=(step - 1) / 3, steps_per_epoch=3, epochs=2))
    assert np.array_equal(layer.weight.value, whole.weight.value)


def test_schedule_is_asked_at_each_update():
    layer, gradients, _ = trained(SGD(cosine(0.1)), steps=6)
    expected = start("weight")
    for k, g in enumerate(gradients):
        expected -= 0.05 * (1 + np.cos(np.pi * k / 6)) * g["weight"]
    np.testing.assert_allclose(layer.weight.value, expected, rtol=1e-12)


# ---- clipping


@pytest.mark.parametrize("optimizer", ALL, ids=repr)
def test_clipping_is_by_the_norm_of_all_weights_together(optimizer):
    clipped, gradients, _ = trained(replace(optimizer, clip_norm=1.5))

    class Draw:  # the same gradients, clipped by hand
        def __init__(self, step):
            g = gradients[step - 1]
            norm = np.sqrt((g["weight"] ** 2).sum() + (g["bias"] ** 2).sum())
            assert norm > 1.5
            self.parts = iter([a * (1.5 / norm) for a in g.values()])

        def normal(self, size):
            return next(self.parts)

    by_hand, _, _ = trained(optimizer, draw=Draw)
    np.testing.assert_allclose(clipped.weight.value, by_hand.weight.value, rtol=1e-12, atol=1e-14)


def test_a_small_gradient_is_not_clipped():
    free, _, _ = trained(SGD(0.1))
    clipped, _, _ = trained(SGD(0.1, clip_norm=100.0))
    assert np.array_equal(free.weight.value, clipped.weight.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_clipping_does_not_hide_what_is_not_finite(bad):
    assert not np.isfinite(one_weight(SGD(0.1, clip_norm=1.0), [bad])[0])


# ---- settings


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (SGD, dict(lr=-0.1), r"SGD: lr=-0.1 must be a number >= 0, such as 0.01, or a schedule"),
        (SGD, dict(lr=float("nan")), r"SGD: lr=nan must be"),
        (SGD, dict(lr="0.1"), r"SGD: lr='0.1' must be"),
        (SGD, dict(lr=10**400), r"SGD: lr=10+\.\.\. \(int\) must be a number >= 0"),
        (SGD, dict(momentum=1.0), r"SGD: momentum=1.0 must be a number >= 0 and < 1, such as 0.9"),
        (SGD, dict(nesterov=True), r"SGD: nesterov=True needs a momentum.*momentum=0.9"),
        (Adam, dict(betas=(0.9, 1.0)), r"Adam: betas=\(0.9, 1.0\) must be two numbers .* such as \(0.9, 0.999\)"),
        (Adam, dict(betas=0.9), r"Adam: betas=0.9 must be two numbers"),
        (AdamW, dict(eps=0.0), r"AdamW: eps=0.0 must be a small number > 0, such as 1e-8"),
        (Nadam, dict(momentum_decay=-1), r"Nadam: momentum_decay=-1 must be"),
        (RMSProp, dict(alpha=1.5), r"RMSProp: alpha=1.5 must be"),
        (Adagrad, dict(initial=-1), r"Adagrad: initial=-1 must be"),
        (LARS, dict(trust=0), r"LARS: trust=0 must be a number > 0, such as 0.001"),
        (LAMB, dict(weight_decay=-1), r"LAMB: weight_decay=-1 must be"),
        (LAMB, dict(clip_norm=0), r"LAMB: clip_norm=0 must be a number > 0, such as 1.0, or None"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)


@pytest.mark.parametrize("bad", [np.nan, -1.0, None, "fast"])
def test_a_schedule_that_gives_no_rate_is_named(bad):
    optimizer = SGD(lambda progress: bad)
    with pytest.raises(ValueError, match=rf"SGD: the schedule lr=.* gave {bad!r} at step 7; it must give a number >= 0"):
        optimizer.rate(Progress(step=7, epoch=0.0))


@pytest.mark.parametrize("optimizer", [*ALL, SGD(cosine(0.1), momentum=0.9, nesterov=True), Adam(betas=(0.8, 0.9))], ids=repr)
def test_repr_makes_it_again_and_it_travels(optimizer):
    import dtnn.optim

    assert eval(repr(optimizer), vars(dtnn.optim)) == optimizer
    assert pickle.loads(pickle.dumps(optimizer)) == optimizer
    assert copy.deepcopy(optimizer) == optimizer
    assert hash(optimizer) == hash(copy.deepcopy(optimizer))


def test_settings_are_frozen():
    with pytest.raises(AttributeError):
        SGD().lr = 1.0
