"""A TransformerBlock with the right parameters that uses them, its mask or its batch wrongly."""

import torch
import torch.nn.functional as F

from graders.transformer_block.pieces import (
    attend,
    blocking,
    network,
    norm1,
    norm2,
    post_norm,
    pre_norm,
    with_norms_exchanged,
    with_weights_turned,
    without_output_projection,
)
from reference import transformer_block as ref
from softmark import mistake


def weights_of(block):
    """The weights of a module as part 3 and part 4 name them."""
    W_q, W_k, W_v = block.self_attn.in_proj_weight.chunk(3)
    b_q, b_k, b_v = block.self_attn.in_proj_bias.chunk(3)
    p = {"W_Q": W_q.T, "W_K": W_k.T, "W_V": W_v.T, "b_Q": b_q, "b_K": b_k, "b_V": b_v}
    p |= {"W_O": block.self_attn.out_proj.weight.T, "b_O": block.self_attn.out_proj.bias}
    p |= {"W1": block.linear1.weight.T, "b1": block.linear1.bias}
    p |= {"W2": block.linear2.weight.T, "b2": block.linear2.bias}
    p |= {"gain1": block.norm1["weight"], "bias1": block.norm1["bias"]}
    return p | {"gain2": block.norm2["weight"], "bias2": block.norm2["bias"]}


def run(block, X, p, mask):
    """Part 5 as it should be, with any weights."""
    return (ref.pre_norm_block if block.norm_first else ref.post_norm_block)(X, p, block.n_heads, mask)


def run_around(block, X, attention):
    """Part 5 as it should be, around any attention."""
    return (pre_norm if block.norm_first else post_norm)(X, weights_of(block), attention)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module is always post-norm: norm_first has no effect.",
    hint="Ask norm_first which of the two blocks it is.",
)
def module_always_post_norm(self, X, mask=None):
    return ref.post_norm_block(X, weights_of(self), self.n_heads, mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module is always pre-norm: norm_first has no effect.",
    hint="Ask norm_first which of the two blocks it is.",
)
def module_always_pre_norm(self, X, mask=None):
    return ref.pre_norm_block(X, weights_of(self), self.n_heads, mask)


@mistake(
    ref.TransformerBlock.forward,
    id="B09",
    says="Your module uses norm2 where norm1 belongs and the other way round.",
    hint="norm1 goes with the attention, norm2 with the feed-forward network.",
)
def module_norms_exchanged(self, X, mask=None):
    return run(self, X, with_norms_exchanged(weights_of(self)), mask)


@mistake(
    ref.TransformerBlock.forward,
    id="H11",
    says="Your module takes in_proj_weight apart as keys, queries, values.",
    hint="The handout gives the order of the three blocks of rows.",
)
def module_unpacks_keys_first(self, X, mask=None):
    p = weights_of(self)
    p |= {"W_Q": p["W_K"], "b_Q": p["b_K"], "W_K": p["W_Q"], "b_K": p["b_Q"]}
    return run(self, X, p, mask)


@mistake(
    ref.TransformerBlock.forward,
    id="H11",
    says="Your module takes in_proj_weight apart as queries, values, keys.",
    hint="The handout gives the order of the three blocks of rows.",
)
def module_unpacks_values_second(self, X, mask=None):
    p = weights_of(self)
    p |= {"W_V": p["W_K"], "b_V": p["b_K"], "W_K": p["W_V"], "b_K": p["b_V"]}
    return run(self, X, p, mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module uses the attention's weights without transposing them.",
    hint="PyTorch keeps weights as (out, in); the functions of parts 3 and 4 want (in, out).",
)
def module_does_not_transpose(self, X, mask=None):
    return run(self, X, with_weights_turned(weights_of(self)), mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module uses out_proj.weight without transposing it.",
    hint="PyTorch keeps weights as (out, in); W_O of parts 3 and 4 is (in, out).",
)
def module_does_not_transpose_out_proj(self, X, mask=None):
    p = weights_of(self)
    return run(self, X, {**p, "W_O": p["W_O"].T}, mask)


@mistake(
    ref.TransformerBlock.forward,
    id="S31",
    says="The queries of your module get no bias.",
    hint="The first third of in_proj_bias belongs to them.",
)
def module_without_query_bias(self, X, mask=None):
    p = weights_of(self)
    return run(self, X, p | {"b_Q": torch.zeros_like(p["b_Q"])}, mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module leaves out the output projection of the attention.",
    hint="self_attn.out_proj mixes the concatenated heads.",
)
def module_without_output_projection(self, X, mask=None):
    return run(self, X, without_output_projection(weights_of(self)), mask)


@mistake(
    ref.TransformerBlock.forward,
    id="M01",
    says="Your module hands its mask to PyTorch as it is, where True means blocked.",
    hint="In this course True means may look: something has to be turned round on the way.",
)
def module_inverts_mask(self, X, mask=None):
    p = weights_of(self)
    return run_around(self, X, lambda Z: attend(Z, Z, p, self.n_heads, blocking(mask)))


@mistake(
    ref.TransformerBlock.forward,
    says="Your module turns the mask round before it passes it on.",
    hint="Parts 3 and 4 take the mask as the module does: True means may look.",
)
def module_passes_opposite_mask(self, X, mask=None):
    return run(self, X, weights_of(self), None if mask is None else ~mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module ignores the mask.",
    hint="Pass it on to the attention.",
)
def module_ignores_mask(self, X, mask=None):
    return run(self, X, weights_of(self), None)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module is causal even without a mask.",
    hint="Where a token may look is for the mask to say; None means everywhere.",
)
def module_always_causal(self, X, mask=None):
    T = X.shape[-2]
    causal = torch.ones(T, T, dtype=torch.bool, device=X.device).tril()
    return run(self, X, weights_of(self), causal if mask is None else mask)


@mistake(
    ref.TransformerBlock.forward,
    id="H07",
    says="Your module lines its masks up with the wrong examples: all examples for head 0 come first, then head 1.",
    hint="PyTorch wants the masks of all heads of example 0, then those of example 1: repeat or repeat_interleave?",
)
def module_tiles_masks(self, X, mask=None):
    T, batch, p = X.shape[-2], X.shape[:-2], weights_of(self)

    def attention(Z):
        if mask is None:
            return ref.self_attention(Z, p, self.n_heads)
        masks = mask.expand(*batch, T, T).reshape(-1, T, T).repeat(self.n_heads, 1, 1)
        masks = masks.unflatten(0, (-1, self.n_heads)).unflatten(0, batch or (1,))
        return attend_by_head(Z, p, self.n_heads, masks if batch else masks.squeeze(0))

    return run_around(self, X, attention)


def attend_by_head(X, p, n_heads, mask):
    """Attention with a mask for every head, (…, n_heads, T, T)."""
    one = {name: p[name] for name in ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")}
    Q, K, V = (X @ one[f"W_{r}"] + one[f"b_{r}"] for r in "QKV")
    Q, K, V = (Y.unflatten(-1, (n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
    S = (Q @ K.transpose(-1, -2) / K.shape[-1] ** 0.5).masked_fill(~mask, torch.finfo(X.dtype).min)
    return (torch.softmax(S, dim=-1) @ V).transpose(-3, -2).flatten(-2) @ p["W_O"] + p["b_O"]


@mistake(
    ref.TransformerBlock.forward,
    says="Your tokens look at the same place of the other examples instead of their own sequence.",
    hint="nn.MultiheadAttention takes (T, N, D) unless it is made with batch_first=True.",
)
def module_attends_across_the_batch(self, X, mask=None):
    p = weights_of(self)

    def attention(Z):
        if Z.dim() == 2:
            return ref.self_attention(Z, p, self.n_heads, mask)
        return ref.self_attention(Z.transpose(-3, -2), p, self.n_heads, mask).transpose(-3, -2)

    return run_around(self, X, attention)


@mistake(
    ref.TransformerBlock.forward,
    says="You press the batch into one axis and then attend along it: tokens look at other examples.",
    hint="nn.MultiheadAttention takes (T, N, D) unless it is made with batch_first=True.",
)
def module_attends_along_flat_batch(self, X, mask=None):
    p, N = weights_of(self), X.reshape(-1, *X.shape[-2:]).shape[0]
    allowed = None if mask is None else mask.expand(*X.shape[:-2], *2 * X.shape[-2:-1])
    if allowed is not None and allowed.shape[-1] != N:
        raise RuntimeError("the mask is (T, T), and the attention goes over N examples")

    def attention(Z):
        flat = Z.reshape(-1, *Z.shape[-2:]).transpose(0, 1)  # (T, N, D)
        return ref.self_attention(flat, p, self.n_heads, allowed).transpose(0, 1).reshape(Z.shape)

    return run_around(self, X, attention)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module's attention has a single head.",
    hint="Keep n_heads in the constructor and use it in forward.",
)
def module_with_one_head(self, X, mask=None):
    p = weights_of(self)
    return run_around(self, X, lambda Z: ref.self_attention(Z, p, 1, mask))


@mistake(
    ref.TransformerBlock.forward,
    id="B19",
    says="Your module returns a tuple, as nn.MultiheadAttention does.",
    hint="The block returns one tensor.",
)
def module_returns_tuple(self, X, mask=None):
    return run(self, X, weights_of(self), mask), None


@mistake(
    ref.TransformerBlock.forward,
    says="Your module uses GELU in its feed-forward network.",
    hint="It is ReLU, as in part 2.",
)
def module_with_gelu(self, X, mask=None):
    p = weights_of(self)

    def attention(Z):
        return ref.self_attention(Z, p, self.n_heads, mask)

    def other_network(Z):
        return F.gelu(Z @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]

    if self.norm_first:
        Y = X + attention(norm1(X, p))
        return Y + other_network(norm2(Y, p))
    Y = norm1(X + attention(X), p)
    return norm2(Y + other_network(Y), p)


@mistake(
    ref.TransformerBlock.forward,
    says="The layer norms of your module use an ε of 1e-12.",
    hint="EPS, 1e-5, is also the default of PyTorch.",
)
def module_other_eps(self, X, mask=None):
    p = weights_of(self)
    if self.norm_first:
        Y = X + ref.self_attention(norm1(X, p, 1e-12), p, self.n_heads, mask)
        return Y + network(norm2(Y, p, 1e-12), p)
    Y = norm1(X + ref.self_attention(X, p, self.n_heads, mask), p, 1e-12)
    return norm2(Y + network(Y, p), p, 1e-12)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module reads its parameters through .data, so no gradient reaches them.",
    hint="Use the parameters themselves: the optimiser needs their gradients.",
)
def module_detaches_weights(self, X, mask=None):
    return run(self, X, {name: w.detach() for name, w in weights_of(self).items()}, mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module changes its own gains in place, so the second call gives another result.",
    hint="A forward pass leaves the parameters as they are.",
)
def module_changes_its_weights(self, X, mask=None):
    Y = run(self, X, weights_of(self), mask)
    self.norm1["weight"].data.mul_(0.5)
    return Y
