"""Public tests: multi-head attention. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. The module is compared with PyTorch's own
as well. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number
from torch import nn

from softmark import (
    agree,
    draw,
    keeps_dtype,
    leaves_inputs,
    ops_independent_of,
    permutation_equivariant,
    raises,
    repeatable,
)

# Part 1: split_heads ----------------------------------------------------------------------------------------


@number("1.1")
def test_split(student, example):
    """Every head gets its own block of features of every token."""
    example(student.split_heads, "split_heads")


@number("1.2")
def test_split_batch(student, example):
    """The head axis stands directly before the tokens, in a batch as well."""
    example(student.split_heads, "split_heads, a batch")


@number("1.3")
def test_split_refuses(student):
    """A width that does not divide raises ValueError."""
    student.split_heads(draw("T D", T=4, D=6), 3)
    raises(ValueError, student.split_heads, draw("T D", T=4, D=8), 3)


# Part 2: merge_heads ----------------------------------------------------------------------------------------


@number("2.1")
@pytest.mark.parametrize("name", ["merge_heads", "merge_heads, a batch"])
def test_merge(student, example, name):
    """The heads of every token side by side, in order."""
    example(student.merge_heads, name)


@number("2.2")
def test_merge_after_split(student):
    """Merging is the way back from splitting."""
    X = draw("batch T D", batch=2, T=5, D=6)
    agree(student.merge_heads(student.split_heads(X, 3)), X)


# Part 3: multi_head_attention -------------------------------------------------------------------------------


def problem(m, n, heads):
    """Tokens, weights and the number of heads; all sizes differ."""
    sizes = {"m": m, "n": n, "D_q": 7, "D_kv": 5, "d_k": heads * 3, "d_v": heads * 2}
    return *draw("m D_q", "n D_kv", "D_q d_k", "D_kv d_k", "D_kv d_v", **sizes), heads


@number("3.1")
def test_attention(student, example):
    """Two sequences, two heads, no mask."""
    example(student.multi_head_attention, "multi_head_attention")


@number("3.2")
@pytest.mark.parametrize("name", ["masked", "large scores"])
def test_attention_masked(student, example, name):
    """The same under a mask; with large scores, too."""
    example(student.multi_head_attention, f"multi_head_attention, {name}")


@number("3.3")
def test_attention_batch(student, example):
    """A batch, each example with its own padding."""
    example(student.multi_head_attention, "multi_head_attention, a batch")


@number("3.4")
def test_attention_order(student):
    """Without a mask self-attention knows no order."""
    X, *weights = draw("T D", "D d", "D d", "D d", T=5, D=7, d=6)
    permutation_equivariant(lambda X: student.multi_head_attention(X, X, *weights, 2), X)


@number("3.5")
def test_attention_manners(student):
    """The dtype stays, and tokens, weights and mask stay as they were."""
    inputs = problem(m=4, n=4, heads=2)
    keeps_dtype(student.multi_head_attention, *inputs)
    leaves_inputs(student.multi_head_attention, *inputs, mask=torch.ones(4, 4, dtype=torch.bool).tril())


# Part 4: MultiHeadAttention ---------------------------------------------------------------------------------


@number("4.1")
def test_module(student, example):
    """Self-attention with biases and an output projection."""
    example(student.MultiHeadAttention, "MultiHeadAttention")


@number("4.2")
def test_module_masked(student, example):
    """The same under a causal mask."""
    example(student.MultiHeadAttention, "MultiHeadAttention, masked")


@number("4.3")
def test_module_cross(student, example):
    """Queries from one sequence, keys and values from another."""
    example(student.MultiHeadAttention, "MultiHeadAttention, cross")


@number("4.4")
def test_module_and_library(student):
    """PyTorch's own module with the same weights says the same about a batch, and gradients reach the weights."""
    theirs = nn.MultiheadAttention(8, 2, batch_first=True).double()
    theirs.load_state_dict({name: draw(" ".join(map(str, p.shape))) / 2 for name, p in theirs.named_parameters()})
    own = student.MultiHeadAttention(8, 2)
    own.load_state_dict(theirs.state_dict())
    X, real = draw("batch T D", batch=2, T=4, D=8), torch.tensor([[True, True, False, False], [True] * 4])
    agree(own(X, mask=real.unsqueeze(1)), theirs(X, X, X, key_padding_mask=~real)[0])
    repeatable(own, X)
    found = own.vjp((X,), {}, X).parameters
    missing = [name for name, gradient in found.items() if gradient is None]
    assert not missing, f"no gradient reaches {', '.join(missing)}"


@number("4.5")
def test_module_refuses(student):
    """A width that does not divide raises ValueError when the module is made."""
    student.MultiHeadAttention(6, 3)
    raises(ValueError, student.MultiHeadAttention, 8, 3)


# Part 5: no loop --------------------------------------------------------------------------------------------


@number("5.1")
def test_no_loop_over_tokens(student):
    """The number of tensor operations does not grow with the number of tokens."""
    few, many = problem(m=3, n=4, heads=2), problem(m=13, n=17, heads=2)
    ops_independent_of("the number of tokens", student.multi_head_attention, few, many)


@number("5.2")
def test_no_loop_over_heads(student):
    """The number of tensor operations does not grow with the number of heads."""
    few, many = problem(m=3, n=4, heads=2), problem(m=3, n=4, heads=9)
    ops_independent_of("the number of heads", student.multi_head_attention, few, many)


@number("5.3")
def test_module_without_loop(student):
    """The same holds for the module."""
    X = draw("T D", T=19, D=12)
    few, many = student.MultiHeadAttention(12, 2), student.MultiHeadAttention(12, 12)
    few.load_state_dict({name: weight.double() for name, weight in few.state_dict().items()})
    many.load_state_dict({name: weight.double() for name, weight in many.state_dict().items()})
    ops_independent_of("the number of tokens", few, (X[:3],), (X,))
    a, b = few.count_ops((X,), {}).total, many.count_ops((X,), {}).total
    assert b <= a + 3, f"{a} operations with 2 heads, {b} with 12"
