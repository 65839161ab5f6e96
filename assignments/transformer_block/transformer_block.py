"""The transformer block: layer norm, feed-forward, residual connections, and attention in the middle.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

    post-norm    X ──► + self_attention ──► layer_norm ──► + feed_forward ──► layer_norm
    pre-norm     X ──► + self_attention(layer_norm) ──────► + feed_forward(layer_norm)

Conventions: tokens are rows, so a sequence is `(…, tokens, features)`, and `…` stands for none, one or two
batch dimensions. A weight is `(in, out)` and is used as `X @ W`; only the modules of parts 5 and 6, which must
load PyTorch's weights, keep them as PyTorch does, `(out, in)`. A mask is boolean, True = may look, and lets every
token look at one token at least. Positions count from 0. Results keep the dtype and the device of the input, and
no input is ever changed.

The weights of a block, D = d_model, are the dictionary `p`:

    W_Q, W_K, W_V, W_O: (D, D)       b_Q, b_K, b_V, b_O: (D,)       attention
    W1: (D, d_ff)    b1: (d_ff,)     W2: (d_ff, D)    b2: (D,)      feed-forward
    gain1, bias1: (D,)               gain2, bias2: (D,)             the two layer norms
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

EPS = 1e-5  # ε of both layer norms of a block

# ------------------------------------------------------------------------------------------------------------
# Given: self-attention. There is nothing to write here, and you may use your own attention in its place.
# ------------------------------------------------------------------------------------------------------------


def self_attention(
    X: torch.Tensor, p: dict[str, torch.Tensor], n_heads: int, mask: torch.Tensor | None = None
) -> torch.Tensor:
    """Compute multi-head self-attention with biases and an output projection: the first sublayer of a block.

    X: (…, T, D)         the tokens
    p                    reads W_Q, b_Q, W_K, b_K, W_V, b_V, W_O, b_O
    mask                 None, or boolean, (T, T) or (…, T, T), True = may look; no head axis; axes may be 1
    returns (…, T, D)    without residual connection, without layer norm
    """
    *batch, T, D = X.shape
    blocked = None
    if mask is not None:  # PyTorch's function wants True = blocked, and a mask for every head of every example
        blocked = ~mask.expand(*batch, T, T).reshape(-1, T, T).repeat_interleave(n_heads, dim=0)
    tokens_first = X.reshape(-1, T, D).transpose(0, 1)  # (T, N, D)
    out, _ = F.multi_head_attention_forward(
        tokens_first, tokens_first, tokens_first, D, n_heads,
        torch.cat([p["W_Q"], p["W_K"], p["W_V"]], dim=1).T, torch.cat([p["b_Q"], p["b_K"], p["b_V"]]),
        None, None, False, 0.0, p["W_O"].T, p["b_O"], need_weights=False, attn_mask=blocked,
    )  # fmt: skip
    return out.transpose(0, 1).reshape(X.shape)


# ------------------------------------------------------------------------------------------------------------
# Part 1: layer norm
# ------------------------------------------------------------------------------------------------------------


def layer_norm(X: torch.Tensor, gain: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    """Standardise every token over its own features, then scale and shift it: gain ⊙ (x - μ)/√(σ² + ε) + bias.

    X: (…, T, d)          the tokens
    gain, bias: (d,)      one number per feature
    eps                   the ε inside the root
    returns (…, T, d)     μ is the mean of a token's d features, σ² their variance, divided by d (not by d - 1)
    """
    raise NotImplementedError("part 1: layer_norm")


# ------------------------------------------------------------------------------------------------------------
# Part 2: the feed-forward sublayer
# ------------------------------------------------------------------------------------------------------------


def feed_forward(
    X: torch.Tensor, W1: torch.Tensor, b1: torch.Tensor, W2: torch.Tensor, b2: torch.Tensor
) -> torch.Tensor:
    """Apply the same two linear layers with a ReLU between them to every token: ReLU(X W1 + b1) W2 + b2.

    X: (…, T, d)              the tokens; no information moves between them
    W1: (d, d_ff), b1: (d_ff,)
    W2: (d_ff, d), b2: (d,)
    returns (…, T, d)         without residual connection
    """
    raise NotImplementedError("part 2: feed_forward")


# ------------------------------------------------------------------------------------------------------------
# Part 3: the block with the layer norms after the residual connections
# ------------------------------------------------------------------------------------------------------------


def post_norm_block(
    X: torch.Tensor, p: dict[str, torch.Tensor], n_heads: int, mask: torch.Tensor | None = None
) -> torch.Tensor:
    """Compute LN(X + sublayer(X)), twice: first the sublayer is self-attention, then it is the feed-forward network.

    X: (…, T, D)         the tokens
    p                    the weights of the block: see the top of this file
    n_heads              how many heads the attention has; D is a multiple of it
    mask                 None, or boolean, (T, T) or (…, T, T), True = may look
    returns (…, T, D)

    The first layer norm uses gain1 and bias1, the second gain2 and bias2; ε is EPS in both.
    """
    raise NotImplementedError("part 3: post_norm_block")


# ------------------------------------------------------------------------------------------------------------
# Part 4: the block with the layer norms inside the residual connections
# ------------------------------------------------------------------------------------------------------------


def pre_norm_block(
    X: torch.Tensor, p: dict[str, torch.Tensor], n_heads: int, mask: torch.Tensor | None = None
) -> torch.Tensor:
    """Compute X + sublayer(LN(X)), twice: first the sublayer is self-attention, then it is the feed-forward network.

    X, p, n_heads, mask  as in part 3; gain1 and bias1 belong to the layer norm before the attention,
                         gain2 and bias2 to the one before the feed-forward network; ε is EPS in both
    returns (…, T, D)    there is no layer norm after the last residual connection
    """
    raise NotImplementedError("part 4: pre_norm_block")


# ------------------------------------------------------------------------------------------------------------
# Part 5: the block as a module
# ------------------------------------------------------------------------------------------------------------


class TransformerBlock(nn.Module):
    """A transformer block, post-norm or pre-norm. Loads an `nn.TransformerEncoderLayer`'s weights.

    Its parameters, and it has no others, have PyTorch's names, shapes and layout (`(out, in)`, D = d_model):

        self_attn.in_proj_weight   (3D, D)     rows 0 … D-1 make the queries, the next D the keys, then the values
        self_attn.in_proj_bias     (3D,)       in the same order
        self_attn.out_proj.weight  (D, D)      self_attn.out_proj.bias  (D,)
        linear1.weight             (d_ff, D)   linear1.bias             (d_ff,)
        linear2.weight             (D, d_ff)   linear2.bias             (D,)
        norm1.weight               (D,)        norm1.bias               (D,)     gain and bias of the first norm
        norm2.weight               (D,)        norm2.bias               (D,)     gain and bias of the second norm
    """

    def __init__(self, d_model: int, n_heads: int, d_ff: int, norm_first: bool = False) -> None:
        """Make the parameters. The gains start as 1, the biases of the norms as 0; the rest starts as you like.

        norm_first   False: post-norm, as in part 3; True: pre-norm, as in part 4
        """
        super().__init__()
        raise NotImplementedError("part 5: TransformerBlock.__init__")

    def forward(self, X: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        """Do what `nn.TransformerEncoderLayer(d_model, n_heads, d_ff, dropout=0.0, norm_first=norm_first)` does.

        X: (…, T, D)         the tokens
        mask                 None, or boolean, (T, T) or (…, T, T), True = may look
        returns (…, T, D)    the same in train() and in eval()
        """
        raise NotImplementedError("part 5: TransformerBlock.forward")


# ------------------------------------------------------------------------------------------------------------
# Part 6: the transformer
# ------------------------------------------------------------------------------------------------------------


class Transformer(nn.Module):
    """Token embedding, learned positions, a stack of causal blocks. Tokens in, a vector for every token out.

    Its parameters, and it has no others (and no other entries in its state_dict):

        embed.weight    (vocab_size, d_model)   row w is the vector of token w
        positions       (max_len, d_model)      row t is added to the token at position t
        blocks.0.…, blocks.1.…, …               n_layers blocks of part 5, with the names they have there
    """

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        norm_first: bool = False,
    ) -> None:
        """Make the parameters. Every block has its own; how embedding and positions start is up to you."""
        super().__init__()
        raise NotImplementedError("part 6: Transformer.__init__")

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the output of the last block: token t has seen the tokens 0 … t and no later one.

        tokens: (…, T)             integers from 0 to vocab_size - 1, 0 being a token like any other;
                                   T ≤ max_len, a longer sequence raises ValueError
        returns (…, T, d_model)    no layer norm and no output layer after the last block
        """
        raise NotImplementedError("part 6: Transformer.forward")
