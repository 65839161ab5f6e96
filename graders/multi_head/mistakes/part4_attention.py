"""Named mistakes: the module, its scale, its keys and values, its mask, and what it returns."""

import math

import torch

from graders.multi_head.pieces import attend, block, mix, packed, scores
from reference import multi_head as ref
from softmark import mistake


@mistake(
    ref.MultiHeadAttention.forward,
    id="S01",
    says="Your module does not scale the scores.",
    hint="Divide by the square root of the width of a key of one head.",
)
def module_without_scale(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    d_k = K.shape[-1] // self.n_heads
    return self.out_proj(attend(Q * math.sqrt(d_k), K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    id="S03",
    says="Your module scales by √d_model; the width of a key is d_model / n_heads.",
    hint="d_k is the width of a key inside one head: take it after the split.",
)
def module_scales_by_d_model(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    return self.out_proj(attend(Q / math.sqrt(self.n_heads), K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module always attends to X_q itself; X_kv has no influence.",
    hint="Only when X_kv is None do keys and values come from X_q.",
)
def module_ignores_x_kv(self, X_q, X_kv=None, mask=None):
    mask = mask if mask is not None and mask.shape[-1] in (1, X_q.shape[-2]) else None
    return self.out_proj(attend(*packed(self, X_q, None), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    id="M01",
    says="Your module takes the mask as PyTorch's module does, True = blocked.",
    hint="In this course True means may look, in this part too.",
)
def module_inverts_mask(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    allowed = None if mask is None else ~mask
    return self.out_proj(mix(block(scores(Q, K), allowed, torch.finfo(Q.dtype).min), V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module takes the mask as PyTorch's module does, True = blocked, and some rows become NaN.",
    hint="In this course True means may look, in this part too.",
)
def module_inverts_mask_to_nan(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    return self.out_proj(mix(block(scores(Q, K), None if mask is None else ~mask), V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module always attends to X_q itself; X_kv has no influence, and its mask does not fit.",
    hint="Only when X_kv is None do keys and values come from X_q.",
)
def module_replaces_x_kv(self, X_q, X_kv=None, mask=None):
    return self.out_proj(attend(*packed(self, X_q, None), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module takes the mask as PyTorch's module does, True = blocked.",
    hint="In this course True means may look, as in scaled_dot_product_attention.",
)
def module_inverts_mask_to_zero(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    A = torch.softmax(block(scores(Q, K), None if mask is None else ~mask), dim=-1)
    return self.out_proj(ref.merge_heads(torch.nan_to_num(A, nan=0.0) @ V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module is always causal, and ignores the mask.",
    hint="mask=None means that every query may look at every key; look for is_causal.",
)
def module_always_causal(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    past = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool, device=Q.device).tril()
    return self.out_proj(attend(Q, K, V, self.n_heads, past))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module is causal where no mask is given.",
    hint="mask=None means that every query may look at every key; look for is_causal.",
)
def module_causal_by_default(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    past = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool, device=Q.device).tril()
    return self.out_proj(attend(Q, K, V, self.n_heads, past if mask is None else mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module multiplies the scores with the mask: a blocked key gets the score 0 and with it some weight.",
    hint="exp(0) is 1; a blocked score has to go to -∞.",
)
def module_multiplies_scores_with_mask(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    S = scores(Q, K)
    return self.out_proj(mix(S if mask is None else S * mask.unsqueeze(-3), V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module applies the mask after the softmax, so the rows of weights sum to less than 1.",
    hint="Block before the softmax, so that the allowed keys share the whole attention.",
)
def module_masks_after_softmax(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    A = torch.softmax(scores(Q, K), dim=-1)
    return self.out_proj(ref.merge_heads((A if mask is None else A * mask.unsqueeze(-3)) @ V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module ignores the mask.",
    hint="Blocked keys must have no influence at all on the result.",
)
def module_ignores_mask(self, X_q, X_kv=None, mask=None):
    return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, None))


@mistake(
    ref.MultiHeadAttention.forward,
    id="M18",
    says="Your module's mask has no head axis: head i gets the mask of example i.",
    hint="The mask needs an axis of length 1 where the scores have the heads.",
)
def module_mask_without_head_axis(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    S = scores(Q, K)
    return self.out_proj(mix(S if mask is None else S.masked_fill(~mask, -math.inf), V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="You add X_q to the result: the residual connection belongs to the block around this layer.",
    hint="Return what the output projection gives, nothing else.",
)
def module_adds_residual(self, X_q, X_kv=None, mask=None):
    return X_q + self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="You return a tuple as nn.MultiheadAttention does; here it is the output alone.",
    hint="The handout says what forward returns.",
)
def module_returns_tuple(self, X_q, X_kv=None, mask=None):
    return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask)), None
