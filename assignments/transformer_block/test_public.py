"""Public tests: the transformer block. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. Layer norm and the module are compared
with PyTorch's own as well. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number
from torch import nn

from softmark import (
    agree,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    permutation_equivariant,
    raises,
    works_on_meta,
)


def block_weights(D, d_ff):
    """The dictionary p of a block."""
    square, vector = (
        [f"W_{name}" for name in "QKVO"],
        ["b_Q", "b_K", "b_V", "b_O", "b2", "gain1", "bias1", "gain2", "bias2"],
    )
    weights = dict(zip(square, draw(*["D D"] * 4, D=D), strict=True))
    weights |= dict(zip(vector, draw(*["D"] * 9, D=D), strict=True))
    weights |= dict(zip(("W1", "b1", "W2"), draw("D d_ff", "d_ff", "d_ff D", D=D, d_ff=d_ff), strict=True))
    return weights


def library_norm(X, gain, bias, eps):
    return nn.functional.layer_norm(X, gain.shape, gain, bias, eps)


# Part 1: layer_norm -----------------------------------------------------------------------------------------


@number("1.1")
def test_layer_norm(student, example):
    """Every token over its own features, then gain and bias."""
    example(student.layer_norm, "layer_norm")


@number("1.2")
def test_layer_norm_small(student, example):
    """Small numbers in a batch, where ε matters."""
    example(student.layer_norm, "layer_norm, small numbers")


@number("1.3")
def test_layer_norm_and_library(student):
    """PyTorch's own says the same about a batch, and about numbers around 10 000 in float32."""
    X, gain, bias = draw("batch T d", "d", "d", batch=2, T=3, d=6)
    agree(student.layer_norm, library_norm, X, gain, bias, 1e-3)
    agree(student.layer_norm, library_norm, (3 * X + 10_000).float(), gain.float(), bias.float(), 1e-5)


@number("1.4")
def test_layer_norm_manners(student):
    """The dtype stays, and the inputs stay as they were."""
    inputs = *draw("T d", "d", "d", T=3, d=6), 1e-5
    keeps_dtype(student.layer_norm, *inputs)
    leaves_inputs(student.layer_norm, *inputs)


# Part 2: feed_forward ---------------------------------------------------------------------------------------


@number("2.1")
def test_feed_forward(student, example):
    """Two linear layers with a ReLU between them."""
    example(student.feed_forward, "feed_forward")


@number("2.2")
def test_feed_forward_tokens(student):
    """Tokens do not mix: each gives the same alone."""
    X, *weights = draw("T d", "d d_ff", "d_ff", "d_ff d", "d", T=4, d=3, d_ff=5)
    alone = torch.cat([student.feed_forward(token.unsqueeze(0), *weights) for token in X])
    agree(student.feed_forward, alone, X, *weights)


# Part 3: post_norm_block ------------------------------------------------------------------------------------


@number("3.1")
def test_post_norm(student, example):
    """LN(X + sublayer(X)), twice."""
    example(student.post_norm_block, "post_norm_block")


@number("3.2")
def test_post_norm_masked(student, example):
    """The same under a causal mask."""
    example(student.post_norm_block, "post_norm_block, masked")


@number("3.3")
def test_post_norm_order(student):
    """Without a mask the block knows no order, and leaves its inputs as they were."""
    X, p = draw("T D", T=5, D=6), block_weights(6, 7)
    permutation_equivariant(student.post_norm_block, X, p, 3)
    leaves_inputs(student.post_norm_block, X, p, 3)


# Part 4: pre_norm_block -------------------------------------------------------------------------------------


@number("4.1")
def test_pre_norm(student, example):
    """X + sublayer(LN(X)), twice."""
    example(student.pre_norm_block, "pre_norm_block")


@number("4.2")
def test_pre_norm_masked(student, example):
    """The same under a causal mask."""
    example(student.pre_norm_block, "pre_norm_block, masked")


@number("4.3")
def test_pre_norm_order(student):
    """Without a mask the block knows no order, and leaves its inputs as they were."""
    X, p = draw("T D", T=5, D=6), block_weights(6, 7)
    permutation_equivariant(student.pre_norm_block, X, p, 3)
    leaves_inputs(student.pre_norm_block, X, p, 3)


# Part 5: TransformerBlock -----------------------------------------------------------------------------------


def pytorch_layer(norm_first):
    """PyTorch's own, with weights and biases that are not small."""
    theirs = nn.TransformerEncoderLayer(8, 2, 11, dropout=0.0, batch_first=True, norm_first=norm_first).double()
    theirs.load_state_dict({name: draw(" ".join(map(str, p.shape))) / 2 for name, p in theirs.named_parameters()})
    return theirs


@number("5.1")
def test_block(student, example):
    """A post-norm block."""
    example(student.TransformerBlock, "TransformerBlock")


@number("5.2")
def test_block_norm_first(student, example):
    """A pre-norm block under a causal mask."""
    example(student.TransformerBlock, "TransformerBlock, norm_first")


@number("5.3")
@pytest.mark.parametrize("norm_first", [False, True])
def test_block_and_library(student, norm_first):
    """PyTorch's own layer with the same weights says the same, and has the same gradients."""
    theirs, own = pytorch_layer(norm_first), student.TransformerBlock(8, 2, 11, norm_first=norm_first)
    own.load_state_dict(theirs.state_dict())
    X = draw("batch T D", batch=2, T=4, D=8)
    agree(own, theirs, X)
    gradients_agree(own, theirs, X)
    real = torch.tensor([[True, True, False, False], [True, True, True, True]])
    agree(own(X, mask=real.unsqueeze(1)), theirs(X, src_key_padding_mask=~real))


@number("5.4")
def test_block_begins_plain(student):
    """The gains begin as 1, the biases of the norms as 0."""
    begins = student.TransformerBlock(8, 2, 11).parameters()
    agree(begins["norm1.weight"].double(), torch.ones(8, dtype=torch.float64))
    agree(begins["norm2.bias"].double(), torch.zeros(8, dtype=torch.float64))


# Part 6: Transformer ----------------------------------------------------------------------------------------


@number("6.1")
@pytest.mark.parametrize("name", ["Transformer", "Transformer, norm_first"])
def test_transformer(student, example, name):
    """Embedding, positions and two causal blocks."""
    example(student.Transformer, name)


@number("6.2")
def test_transformer_is_causal(student):
    """Another last token changes no output before it, and gradients reach every parameter."""
    own, tokens = student.Transformer(9, 6, 4, 2, 5, 2), torch.tensor([[3, 1, 4, 1, 5]])
    other = torch.tensor([[3, 1, 4, 1, 8]])
    agree(own(other)[:, :-1], own(tokens)[:, :-1])
    works_on_meta(own, tokens)
    found = own.vjp((tokens,), {}, own(tokens)).parameters
    missing = [name for name, gradient in found.items() if gradient is None]
    assert not missing, f"no gradient reaches {', '.join(missing)}"
    assert "positions" in found, "the positions are no parameter"


@number("6.3")
def test_transformer_refuses(student):
    """A sequence that is too long raises ValueError; one of the full length does not."""
    own = student.Transformer(9, 4, 4, 2, 5, 1)
    own(torch.tensor([1, 2, 3, 4]))
    raises(ValueError, own, torch.tensor([1, 2, 3, 4, 5]))
