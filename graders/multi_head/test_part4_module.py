"""Hidden tests: the module.

Student and reference load the weights of PyTorch's own module. A reference that disagrees with it is an error of the
grader.
"""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from torch import nn

from graders.multi_head.inputs import COMBINATIONS, UNEVEN, combination, mask_of_kind
from graders.multi_head.modules import modules
from softmark import (
    agree,
    agree_in_turn,
    causal_mask,
    confirm_reference,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    padding_mask,
    raises,
    random_mask,
    repeatable,
    uses_weights,
    works_on_meta,
)

CROSSES = [((), 4, 7), ((2,), 5, 3), ((2, 4), 3, 1), ((), 5, 5), ((3,), 4, 4), ((2, 2), 5, 5), ((), 33, 65)]
MASKS = [(kind, batch) for kind in ("causal", "padding", "both", "cross") for batch in [(2,), (3,)]]
MASKS += [("square", (2,)), ("square", (2, 3)), ("band", ()), ("later", (2,)), ("wide", (2,)), ("low scores", (3,))]


def run_torch(theirs, n_heads, X_q, X_kv=None, mask=None):
    """Return what PyTorch's own module answers. Its masks are True where looking is forbidden."""
    X_kv = X_q if X_kv is None else X_kv
    m, n = X_q.shape[-2], X_kv.shape[-2]
    if mask is not None:
        blocked = ~mask.expand(*X_q.shape[:-2], m, n).reshape(-1, m, n)
        mask = blocked.repeat_interleave(n_heads, dim=0)
    queries, keys = X_q.reshape(-1, *X_q.shape[-2:]), X_kv.reshape(-1, *X_kv.shape[-2:])
    output, _ = theirs(queries, keys, keys, attn_mask=mask)
    return output.reshape(X_q.shape)


def check_module(student, d_model, n_heads, *args, **kwargs):
    """Check that the student's module gives the numbers of the reference and of PyTorch."""
    own, ours, theirs = modules(student, d_model, n_heads)
    confirm_reference(
        lambda: ours(*args, **kwargs),
        lambda: run_torch(theirs, n_heads, *args, **kwargs),
        "PyTorch's nn.MultiheadAttention",
    )
    agree(own, ours, *args, **kwargs)
    return own, ours


def combined_calls(student, step=4):
    """Yield the module of both, and a call, for rows in which conditions meet; in both modes and precisions."""
    for place, n_heads in enumerate([1, 2, 3, 6]):
        own, ours, _ = modules(student, 6, n_heads)
        dtype = [torch.float64, torch.float32][place % 2]
        own.load_state_dict(ours.to(dtype).state_dict())
        for row in range(place, COMBINATIONS, step):
            batch, m, n, kind = combination(row)
            X_q, X_kv = draw("batch m D", "batch n D", batch=batch, m=m, n=n, D=6, dtype=dtype)
            own.train(row % 8 < 4)
            own_tokens = X_q if row % 2 else None
            yield own, ours, (X_q, own_tokens if m == n else X_kv, mask_of_kind(kind, batch, m, n))


@number("4.1")
@weight(0.5)
@visibility("after_published")
def test_module_parameters(student):
    """Four parameters with the names and shapes of nn.MultiheadAttention's; one head."""
    own, theirs = student.MultiHeadAttention(6, 1), nn.MultiheadAttention(6, 1)
    own.has_entries(theirs.state_dict())
    expected = {name: tuple(p.shape) for name, p in theirs.named_parameters()}
    agree({name: tuple(p.shape) for name, p in own.parameters().items()}, expected)
    uses_weights(own, draw("m D", m=5, D=6))


@number("4.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(
    ("batch", "m", "D", "n_heads"),
    [
        *[((), 5, 12, 3), ((2,), 5, 12, 3), ((2, 4), 5, 12, 3), ((1,), 4, 10, 2), ((3,), 1, 6, 1), ((4,), 6, 1, 1)],
        *[((3,), 3, 9, 3), ((2, 2), 4, 4, 2), ((5,), 5, 10, 2), ((), 12, 12, 3)],  # with sizes that are equal
        *[((), 33, 4, 2), ((), 65, 3, 3), ((), 4, 34, 17), ((), 3, 66, 2)],  # and large ones
    ],
)
def test_module_self_attention(student, batch, m, D, n_heads):
    """Self-attention with biases and the output projection: the numbers of PyTorch's own module."""
    check_module(student, D, n_heads, draw("batch m D", batch=batch, m=m, D=D))


@number("4.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("batch", "m", "n"), CROSSES)
def test_module_cross_attention(student, batch, m, n):
    """Cross-attention: keys and values from X_kv, longer or shorter than X_q or as long, one query, one key."""
    check_module(student, 12, 3, *draw("batch m D", "batch n D", batch=batch, m=m, n=n, D=12))


@number("4.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("kind", "batch"), MASKS)
def test_module_masks(student, kind, batch):
    """A causal mask, a padding mask, both, any other, and one for cross-attention; True means may look."""
    X_q, X_kv = draw("batch m D", "batch n D", batch=batch, m=5, n=7, D=12)
    causal, padding = (
        causal_mask(5),
        padding_mask([4, 2, 5, 1, 3, 4][: math.prod(batch)], 5).unflatten(0, batch or (1,)),
    )
    masks = {
        "causal": causal,
        "padding": padding,
        "both": causal & padding,
        "cross": random_mask(*batch, 5, 7),
        "wide": torch.ones(5, 7, dtype=torch.bool).tril(),
        "square": random_mask(*batch, 5, 5),
        "band": causal.triu(-1),
        "later": causal.mT,
        "low scores": torch.zeros(3, 1, 7, dtype=torch.bool).scatter(-1, torch.tensor([[[4]], [[1]], [[2]]]), True),
    }
    if kind == "low scores":  # the only key that is allowed is so long that about half of its scores are very low
        X_kv = X_kv * torch.where(masks[kind].mT, torch.tensor([1e2, 1e4, 2e6]).double()[:, None, None], 1.0)
    check_module(student, 12, 3, X_q, X_kv if kind in ("cross", "wide", "low scores") else None, masks[kind])


@number("4.5")
@weight(0.5)
@visibility("after_published")
def test_module_gradients(student):
    """Gradients reach both inputs and all four parameters, in both modes, with one head, query or key, too."""
    args = *draw("batch m D", "batch n D", batch=(2,), m=5, n=7, D=12), random_mask(2, 5, 7)
    own, ours = check_module(student, 12, 3, *args)
    gradients_agree(own, ours, *args)
    gradients_agree(own, ours, 40 * args[0], *args[1:])
    for own, ours, call in combined_calls(student, step=7):
        gradients_agree(own, ours, *call)


@number("4.6")
@weight(0.5)
@visibility("after_published")
def test_module_uneven_width(student):
    """A d_model that is no multiple of n_heads raises ValueError when the module is made."""
    student.MultiHeadAttention(12, 3)
    for d_model, n_heads in UNEVEN:
        raises(ValueError, student.MultiHeadAttention, d_model, n_heads)


@number("4.7")
@weight(0.25)
@visibility("after_published")
def test_module_is_clean(student):
    """The same numbers in both modes and whatever came before, in float32 and on any device; inputs are unchanged."""
    args = *draw("batch m D", "batch n D", batch=(2,), m=5, n=7, D=12), random_mask(2, 5, 7)
    own, ours, _ = modules(student, 12, 3)
    own.eval()
    keeps_dtype(own, *args, dtypes=[torch.float64])
    works_on_meta(own, *args)
    leaves_inputs(own, *args)
    repeatable(own, *args)
    other, its_ours, _ = modules(student, 10, 2)
    X_q, X_kv, mask = args
    longer, token = draw("batch m D", "batch n D", batch=(1,), m=6, n=8, D=12), draw("1 1 1 D", D=12)
    calls = (
        args,
        longer,
        [X_q],
        (40 * X_q, X_kv, random_mask(2, 5, 7)),
        (token, token, torch.ones(1, 1, 1, 1, dtype=torch.bool)),
    )
    agree_in_turn(own, ours, *calls)
    for n_heads in (3, 4):  # other objects of the same width are used in between
        another, its_own, _ = modules(student, 12, n_heads)
        agree(another, its_own, *args)
        agree(own, ours, *args)
    agree(other, its_ours, draw("m D", m=5, D=10))
    agree(own, ours, *args)
    own.train()
    agree(own, ours, *args)
    ours.load_state_dict(its_own.state_dict())
    own.load_state_dict(its_own.state_dict())  # and its weights change between two calls
    agree(own, ours, *args)
    for tokens in (X_kv * (torch.arange(7)[:, None] != 2), X_kv[:, :1].expand(2, 7, 12), X_kv.abs(), 0 * X_kv):
        agree(own, ours, X_q, tokens.contiguous())
    agree(own, ours, X_q / 1000)
    ours.float()
    own.load_state_dict(ours.state_dict())
    agree(own, ours, X_q.float(), X_kv.float(), mask)
    only = torch.arange(7).eq(3).expand(2, 1, 7)
    agree(own, ours, X_q.float(), (X_kv * torch.where(only.mT, 1e6, 1.0)).float(), only)
    keeps_dtype(own, *args, dtypes=[torch.float32])
    for own, ours, call in combined_calls(student):
        agree(own, ours, *call)
