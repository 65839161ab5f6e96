"""Hidden tests: the transformer block, 20 points. Part 1: layer norm.

Each test shows one thing that can be wrong, and the tests of a part go from the isolated to the full. The reference of
parts 5 and 6 is compared with PyTorch's nn.TransformerEncoderLayer.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.transformer_block.inputs import EPS
from reference import transformer_block as ref
from softmark import (
    Category,
    Failed,
    agree,
    agree_at_extremes,
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
@pytest.mark.parametrize(("T", "d"), [(5, 3), (3, 8), (4, 4), (33, 2), (2, 33), (100, 3), (16, 65)])
def test_layer_norm(student, T, d):
    """Standardise every token, then gain and bias."""
    X, gain, bias = draw_tokens(T=T, d=d)
    X = 10 * X + draw("T 1", T=T)  # so far apart that ε shows nowhere: where it stands is asked in test 1.3
    agree(student.layer_norm, ref.layer_norm, X, gain, bias, EPS)
    agree(student.layer_norm, ref.layer_norm, X[:1], gain, bias, EPS)


@number("1.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(4,), (2, 3), (5,), (7,), (1,), (33,), (7, 5), (5, 7)])
def test_layer_norm_batch(student, batch):
    """Every token of every example has its own mean and variance."""
    X, gain, bias = draw_tokens(batch, T=5, d=7)
    agree(student.layer_norm, ref.layer_norm, 10 * X, gain, bias, EPS)


@number("1.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("case", ["small_variance", "large_eps", "constant_tokens", "other_eps"])
def test_layer_norm_eps(student, case):
    """ε stands beside the variance, inside the root."""
    X, gain, bias = draw_tokens((6,), d=4)
    if case == "constant_tokens":
        X[:, 1:4] = torch.tensor([2.5, 0.0, -1.5], dtype=X.dtype)[:, None]
    small = torch.logspace(-4, -2, 5, dtype=X.dtype)[:, None] * X  # σ² from far below ε to above it
    if case == "small_variance":
        X, gain = small, 30 * gain
    if case == "other_eps":
        for eps in (0.0, 1e-10, 2.0, 1e4):
            for tokens in X, small:
                agree(student.layer_norm, ref.layer_norm, tokens, gain, bias, eps)
            gradients_agree(student.layer_norm, ref.layer_norm, X, gain, bias, eps)
    agree(student.layer_norm, ref.layer_norm, X, gain, bias, EPS if case == "small_variance" else 0.1)


@number("1.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("offset", [10_000, -30_000, "of each token", "of each example"])
def test_layer_norm_offset(student, offset):
    """Tokens far away from 0, in float32."""
    _, gain, bias = draw_tokens(d=8)
    offsets = {
        "of each token": torch.tensor([10_000, -30_000, 1000, 0, -5]).repeat(2, 1)[..., None],
        "of each example": torch.tensor([20_000, -100])[:, None, None],
    }
    X = offsets.get(offset, offset) + draw_integers(-4, 5, "2 5 8").double()  # all sums are exact
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
    agree_at_extremes(student.layer_norm, ref.layer_norm, X, gain, bias, 1e5)
    for sizes in ((), 33, 3), ((2, 3), 1, 5), ((1,), 2, 2), ((), 3, 1):
        gradients_agree(student.layer_norm, ref.layer_norm, *draw_tokens(*sizes), 0.1)
    constant = torch.tensor([2.5, 0.0, -1.5], dtype=X.dtype)[:, None]
    X[:, 1:4] = constant
    for given in X, constant.expand(3, 4).clone():
        gradients_agree(student.layer_norm, ref.layer_norm, given, gain, bias, 0.1)


@number("1.6")
@weight(0.5)
@visibility("after_published")
def test_layer_norm_manners(student):
    """float32 stays float32, inputs are unchanged, any device works, and earlier calls make no difference."""
    well_behaved(student.layer_norm, ref.layer_norm, *draw_tokens((2,), dtype=torch.float32), EPS)
    X, gain, bias = draw_tokens(T=3, d=1)
    calls = draw_tokens((2,)), draw_tokens((1, 3), T=7, d=9), (X, gain, 40 * bias)
    agree_in_turn(student.layer_norm, ref.layer_norm, *((*each, EPS) for each in calls))
    X, gain, bias = draw_tokens((2,))
    for scale in (0, 1e-30, 1e4):
        agree(student.layer_norm, ref.layer_norm, scale * X, gain, bias, EPS)
        agree(student.layer_norm, ref.layer_norm, X, scale * gain, bias, EPS)
        agree(student.layer_norm, ref.layer_norm, X, gain, scale * bias, EPS)
