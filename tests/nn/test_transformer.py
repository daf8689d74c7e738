"""LayerNorm, Embedding, Positions, attention, the encoder block."""

import numpy as np
import pytest

from dtnn.nn import (
    Dropout,
    Embedding,
    Flatten,
    LayerNorm,
    Linear,
    MultiHeadAttention,
    Parameters,
    Pass,
    Positions,
    Sequential,
    TransformerEncoderBlock,
    cross_entropy,
)
from tests.nn.checks import agree, build, check_gradients


def test_layer_norm():
    layer, _ = build(LayerNorm(), (6, 4))
    x = np.random.default_rng(0).standard_normal((6, 4, 5)) * 3 + 1
    np.testing.assert_allclose(layer(x), (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5), rtol=1e-10)
    check_gradients(LayerNorm(), (6, 4), 3)
    check_gradients(LayerNorm(), (6,), 3)
    agree(LayerNorm(), (20, 5), 70)


def test_embedding():
    layer, out = build(Embedding(10, 3), (4,))
    tokens = np.random.default_rng(0).integers(0, 10, (4, 6)).astype(np.int32)
    y, backward = layer.forward(tokens)
    assert out == (3, 4)
    np.testing.assert_array_equal(y, np.moveaxis(layer.weight.value[tokens], -1, 0))
    dy = np.random.default_rng(1).standard_normal(y.shape)
    assert backward(dy) is None
    expected = np.zeros((10, 3))
    np.add.at(expected, tokens, np.moveaxis(dy, 0, -1))
    np.testing.assert_allclose(layer.weight.grad, expected)


def test_tokens_are_checked():
    layer, _ = build(Embedding(10, 3), (4,))
    with pytest.raises(ValueError, match=r"Embedding\(10, 3\): token 10 is not in the vocabulary of 10; tokens must be 0 \.\. 9"):
        layer(np.full((4, 1), 10))
    with pytest.raises(ValueError, match=r"token -1 is not"):
        layer(np.full((4, 1), -1))
    with pytest.raises(TypeError, match=r"takes integer tokens, but got float32"):
        layer(np.zeros((4, 1), np.float32))


def test_linear_on_sequences():
    layer, out = build(Linear(3), (5, 4))
    x = np.random.default_rng(0).standard_normal((5, 4, 2))
    assert out == (3, 4)
    np.testing.assert_allclose(layer(x)[:, 2], layer(np.ascontiguousarray(x[:, 2])))
    check_gradients(Linear(3), (5, 4), 2, relu=True)
    agree(Linear(7), (5, 3), 17)


def reference(layer, x, causal):
    """Attention as the paper writes it, sample by sample."""
    D, T, N = x.shape
    size, out = D // layer.heads, np.empty_like(x)
    for n in range(N):
        qkv = layer.project.weight.value @ x[..., n] + layer.project.bias.value[:, None]
        heads = []
        for h in range(layer.heads):
            q, k, v = (qkv[part * D + h * size : part * D + (h + 1) * size].T for part in range(3))
            scores = q @ k.T / np.sqrt(size)
            if causal:
                scores[np.triu_indices(T, 1)] = -np.inf
            p = np.exp(scores - scores.max(1, keepdims=True))
            heads.append((p / p.sum(1, keepdims=True)) @ v)
        out[..., n] = layer.join.weight.value @ np.concatenate(heads, 1).T + layer.join.bias.value[:, None]
    return out


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    layer, out = build(MultiHeadAttention(2, causal), (6, 5))
    x = np.random.default_rng(0).standard_normal((6, 5, 3))
    assert out == (6, 5)
    np.testing.assert_allclose(layer(x), reference(layer, x, causal), rtol=1e-10, atol=1e-12)
    check_gradients(MultiHeadAttention(2, causal), (6, 5), 3)
    for count in (1, 16, 33):
        agree(MultiHeadAttention(3, causal), (12, 7), count)


def test_encoder_block():
    check_gradients(TransformerEncoderBlock(2, hidden=7), (6, 4), 3)
    check_gradients(TransformerEncoderBlock(2, causal=True), (4, 3), 2)
    agree(TransformerEncoderBlock(2), (8, 5), 18)


def test_a_small_transformer_learns():
    net = Sequential(Embedding(8, 16), Positions(), TransformerEncoderBlock(4, dropout=0.1), LayerNorm(), Flatten(), Linear(8))
    rng = np.random.default_rng(0)
    net.build((6,), rng)
    p, step = Parameters(net), Pass()
    losses = []
    for number in range(60):
        tokens = rng.integers(0, 8, (6, 32)).astype(np.int32)
        step.begin(number, 0, 32, 32, x=tokens)
        y, backward = net.forward(tokens, step)
        loss, d = cross_entropy(y, tokens[2])  # which token is the third?
        backward(d)
        losses.append(loss / 32)
        p.value -= 0.3 * p.grad
        p.grad[...] = 0
    assert losses[-1] < 0.5 * losses[0]
    assert "transformerencoderblock_1.attention.body.multiheadattention_1.project.weight" in [s.name for s in p.segments]
    assert isinstance(net.layers[2].attention.body.layers[2], Dropout)


def test_errors():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="TransformerEncoderBlock: hidden is 0; it must be at least 1"):
        TransformerEncoderBlock(2, hidden=0)
    with pytest.raises(ValueError, match=r"heads 4 must divide the 6 features"):
        MultiHeadAttention(4).build((6, 5), rng)
    for layer in (MultiHeadAttention(2), Positions()):
        with pytest.raises(ValueError, match=r"takes samples of shape \(D, T\), but gets \(6,\); put Embedding"):
            layer.build((6,), rng)
    with pytest.raises(
        ValueError, match=r"takes samples of shape \(T,\), but gets \(1, 2, 3\); it takes tokens, and must be the first layer"
    ):
        Embedding(3, 3).build((1, 2, 3), rng)
    assert repr(TransformerEncoderBlock(2, dropout=0.1)) == "TransformerEncoderBlock(2, dropout=0.1)"
