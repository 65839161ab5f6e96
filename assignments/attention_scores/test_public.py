"""Public tests: attention scores. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. The rest are properties that every right
solution has. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number

from softmark import (
    agree,
    causal,
    draw,
    keeps_dtype,
    leaves_inputs,
    permutation_equivariant,
    rows_sum_to_one,
    works_on_meta,
)

# Part 1: attend ---------------------------------------------------------------------------------------------


@number("1.1")
def test_attend(student, example):
    """The context of one query."""
    example(student.attend, "attend")


@number("1.2")
def test_attend_batch(student, example):
    """A batch of queries, each with its own tokens."""
    example(student.attend, "attend, a batch")


@number("1.3")
def test_attend_manners(student):
    """The dtype stays, and the inputs stay as they were."""
    h, X = draw("d", "T d", T=4, d=3)
    keeps_dtype(student.attend, h, X)
    leaves_inputs(student.attend, h, X)


# Part 2: project --------------------------------------------------------------------------------------------


@number("2.1")
def test_project(student, example):
    """Queries, keys and values, in this order."""
    example(student.project, "project")


@number("2.2")
def test_project_batch(student):
    """Every example of a batch is projected as if it were alone."""
    X, *weights = draw("batch T D", "D d_k", "D d_k", "D d_v", batch=2, T=4, D=5, d_k=3, d_v=2)
    alone = [student.project(x, *weights) for x in X]
    agree(student.project, tuple(torch.stack(tensors) for tensors in zip(*alone, strict=True)), X, *weights)


# Part 3: scores ---------------------------------------------------------------------------------------------


@number("3.1")
def test_scores(student, example):
    """The score matrix S = Q Kᵀ / √d_k."""
    example(student.scores, "scores")


@number("3.2")
def test_scores_batch(student, example):
    """A score matrix for every example of a batch."""
    example(student.scores, "scores, a batch")


@number("3.3")
def test_scores_manners(student):
    """The dtype stays, and queries and keys stay as they were."""
    Q, K = draw("m d_k", "n d_k", m=3, n=4, d_k=6)
    keeps_dtype(student.scores, Q, K)
    leaves_inputs(student.scores, Q, K)


# Part 4: softmax_rows ---------------------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("name", ["softmax_rows", "softmax_rows, a batch"])
def test_softmax_rows(student, example, name):
    """The weights of every row."""
    example(student.softmax_rows, name)


@number("4.2")
def test_softmax_rows_large(student, example):
    """Scores around +1000 and around -1000."""
    example(student.softmax_rows, "softmax_rows, large scores")


@number("4.3")
def test_softmax_rows_float32(student):
    """Large scores in float32, which overflows much sooner."""
    S = 300 * draw("m n", m=4, n=6, dtype=torch.float32)
    rows_sum_to_one(student.softmax_rows, S)
    keeps_dtype(student.softmax_rows, S)
    leaves_inputs(student.softmax_rows, S)


# Part 5: masked_softmax -------------------------------------------------------------------------------------


@number("5.1")
def test_masked_softmax(student, example):
    """Blocked keys get no weight; a row that may look nowhere is 0."""
    example(student.masked_softmax, "masked_softmax")


@number("5.2")
def test_masked_softmax_spread(student, example):
    """The scores of blocked keys do not matter, however high they are."""
    example(student.masked_softmax, "masked_softmax, spread scores")


@number("5.3")
def test_masked_softmax_heads(student, example):
    """One mask for all heads and queries of an example."""
    example(student.masked_softmax, "masked_softmax, heads")


@number("5.4")
def test_masked_softmax_manners(student):
    """The dtype stays, and scores and mask stay as they were."""
    S, mask = draw("m n", m=4, n=4), torch.ones(4, 4, dtype=torch.bool).tril()
    keeps_dtype(student.masked_softmax, S, mask)
    leaves_inputs(student.masked_softmax, S, mask)


@number("5.5")
def test_masked_softmax_gradient(student):
    """A row that may look nowhere has a gradient of 0, not NaN."""
    S, weights = draw("m n", "m n", m=3, n=4)
    mask = torch.tensor([[True, True, False, True], [False, False, False, False], [True, True, True, True]])
    gradient = student.masked_softmax.vjp((S, mask), {}, weights).args[0]
    assert gradient is not None, "no gradient reaches the scores"
    assert bool(gradient.isfinite().all()), "the gradient holds NaN or inf"
    agree(gradient[1], torch.zeros(4, dtype=S.dtype))


# Part 6: attention ------------------------------------------------------------------------------------------


@number("6.1")
def test_attention(student, example):
    """Output and weights without a mask."""
    example(student.attention, "attention")


@number("6.2")
def test_attention_masked(student, example):
    """Output and weights under a mask."""
    example(student.attention, "attention, masked")


@number("6.3")
def test_attention_weights(student):
    """The rows of the weights sum to 1, in a batch as well."""
    Q, K, V = draw("batch m d_k", "batch n d_k", "batch n d_v", batch=2, m=3, n=4, d_k=6, d_v=5)
    rows_sum_to_one(student.attention, Q, K, V, output=1)


@number("6.4")
def test_attention_and_library(student):
    """PyTorch's own function says the same about a batch."""
    Q, K, V = draw("batch m d_k", "batch n d_k", "batch n d_v", batch=2, m=4, n=4, d_k=6, d_v=5)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    agree(student.attention(Q, K, V, mask=mask)[0], torch.nn.functional.scaled_dot_product_attention(Q, K, V, mask))


@number("6.5")
def test_attention_order(student):
    """Without a mask attention knows no order; with a causal one the future does not matter."""
    Q, K, V = draw("T d_k", "T d_k", "T d_v", T=4, d_k=6, d_v=5)
    permutation_equivariant(student.attention, Q, K, V, permute=(0, 1, 2))
    causal(student.attention, Q, K, V, torch.ones(4, 4, dtype=torch.bool).tril(), change=(0, 1, 2))


@number("6.6")
def test_attention_gradient(student):
    """Gradients reach queries, keys and values."""
    Q, K, V, weights = draw("m d_k", "n d_k", "n d_v", "m d_v", m=3, n=4, d_k=6, d_v=5)
    found = student.attention.vjp((Q, K, V), {}, (weights, None)).args
    missing = [name for name, gradient in zip("QKV", found, strict=True) if gradient is None]
    assert not missing, f"no gradient reaches {', '.join(missing)}"


# Part 7: masks ----------------------------------------------------------------------------------------------


@number("7.1")
def test_causal_mask(student, example):
    """True on and below the diagonal."""
    example(student.causal_mask, "causal_mask")


@number("7.2")
def test_padding_mask(student, example):
    """True where there is a real token, with an axis for the queries."""
    example(student.padding_mask, "padding_mask")


@number("7.3")
def test_masks_combine(student):
    """The two combine with &, and the padding mask is made on the device of the lengths."""
    both = torch.tensor([[[True, False, False], [True, True, False], [True, True, False]]])
    agree(student.causal_mask(3) & student.padding_mask(torch.tensor([2]), 3), both)
    works_on_meta(student.padding_mask, torch.tensor([2]), 3)
