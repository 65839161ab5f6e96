"""Hidden tests: the transformer block, 20 points. Part 1: layer norm.

Each test shows one thing that can be wrong, and the tests of a part go from the isolated to the full. The reference of
parts 5 and 6 is compared with PyTorch's nn.TransformerEncoderLayer.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.transformer_block.inputs import EPS, batch_id
from reference import transformer_block as ref
from softmark import (
    Category,
    Failed,
    agree,
    agree_in_turn,
    draw,
    draw_integers,
    fail,
    gradients_agree,
    to_float32,
    well_behaved,
)


def draw_tokens(batch=(), T=5, d=6, dtype=torch.float64):
    """Draw X, gain and bias."""
    return draw("batch T d", "d", "d", batch=batch, T=T, d=d, dtype=dtype)


@number("1.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [{"T": 5, "d": 3}, {"T": 3, "d": 8}, {"T": 4, "d": 4}], ids=["5x3", "3x8", "4x4"])
def test_layer_norm(student, sizes):
    """Standardise every token, then gain and bias."""
    X, gain, bias = draw_tokens(**sizes)
    X = X + draw("T 1", T=sizes["T"])
    agree(student.layer_norm, ref.layer_norm, X, gain, bias, EPS)
    agree(student.layer_norm, ref.layer_norm, X[:1], gain, bias, EPS)


@number("1.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(4,), (2, 3)], ids=batch_id)
def test_layer_norm_batch(student, batch):
    """Every token of every example has its own mean and variance."""
    agree(student.layer_norm, ref.layer_norm, *draw_tokens(batch, T=5, d=7), EPS)


@number("1.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("case", ["small_variance", "large_eps", "constant_tokens"])
def test_layer_norm_eps(student, case):
    """ε stands beside the variance, inside the root."""
    X, gain, bias = draw_tokens((6,), d=4)
    if case == "constant_tokens":
        X[:, 1:4] = torch.tensor([2.5, 0.0, -1.5], dtype=X.dtype)[:, None]
    if case == "small_variance":
        sizes = torch.logspace(-4, -2, 5, dtype=X.dtype)[:, None]  # σ² from far below ε to above it
        X, gain = sizes * X, 30 * gain
    agree(student.layer_norm, ref.layer_norm, X, gain, bias, EPS if case == "small_variance" else 0.1)


@number("1.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("offset", [10_000, -30_000])
def test_layer_norm_offset(student, offset):
    """Tokens far away from 0, in float32."""
    _, gain, bias = draw_tokens(d=8)
    X = offset + draw_integers(-4, 5, "2 5 8").double()  # all sums are exact
    want = ref.layer_norm(X, gain, bias, EPS)
    agree(student.layer_norm, want, X, gain, bias, EPS)
    single = to_float32((X, gain, bias))
    try:
        agree(student.layer_norm, want.float(), *single, EPS)
    except Failed as failure:
        if failure.verdict.category not in (Category.VALUE, Category.NAN):
            raise
        error = (student.layer_norm(*single, EPS).double() - want).abs().max()
        if error <= 0.05:  # a mean that is summed up step by step is off by some thousandths, the shortcut by ones
            return
        fact = "tokens with a large mean come out wrong in float32, though not in float64: digits get lost on the way"
        fail(Category.PROPERTY, fact)


@number("1.5")
@weight(0.5)
@visibility("after_published")
def test_layer_norm_gradients(student):
    """Gradients reach the tokens, the gain and the bias; mean and variance pass their share on."""
    X, gain, bias = draw_tokens((2,), d=4)
    for scale in (1, 40):
        gradients_agree(student.layer_norm, ref.layer_norm, scale * X, gain, bias, EPS)


@number("1.6")
@weight(0.5)
@visibility("after_published")
def test_layer_norm_manners(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before."""
    well_behaved(student.layer_norm, ref.layer_norm, *draw_tokens((2,), dtype=torch.float32), EPS)
    X, gain, bias = draw_tokens(T=3, d=1)
    calls = draw_tokens((2,)), draw_tokens((1, 3), T=7, d=9), (X, gain, 40 * bias)
    agree_in_turn(student.layer_norm, ref.layer_norm, *((*each, EPS) for each in calls))
