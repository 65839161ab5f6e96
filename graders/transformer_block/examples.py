"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from reference import transformer_block as ref
from softmark import example, module_example, numbers


def block_weights(D, d_ff):
    """Return the dictionary p of a block."""
    shapes = {
        **{f"W_{name}": (D, D) for name in "QKVO"}, **{f"b_{name}": (D,) for name in "QKVO"},
        "W1": (D, d_ff), "b1": (d_ff,), "W2": (d_ff, D), "b2": (D,),
        "gain1": (D,), "bias1": (D,), "gain2": (D,), "bias2": (D,),
    }  # fmt: skip
    return {name: numbers(name, *shape) / 2 for name, shape in shapes.items()}


X, P = numbers("X", 3, 4), block_weights(4, 5)
CAUSAL = torch.ones(3, 3, dtype=torch.bool).tril()
NORM = numbers("gain", 4), numbers("bias", 4)
BLOCK = {"d_model": 4, "n_heads": 2, "d_ff": 5}
STACK = {"vocab_size": 7, "max_len": 6, **BLOCK, "n_layers": 2}
TOKENS = torch.tensor([[3, 0, 3], [6, 1, 1]])

EXAMPLES = {
    "layer_norm": example(ref.layer_norm, X, *NORM, 0.1),
    "layer_norm, small numbers": example(ref.layer_norm, numbers("X", 2, 3, 4) / 1000, *NORM, 1e-5),
    "feed_forward": example(
        ref.feed_forward, X, numbers("W1", 4, 5), numbers("b1", 5), numbers("W2", 5, 4), numbers("b2", 4)
    ),
    "post_norm_block": example(ref.post_norm_block, X, P, 2),
    "post_norm_block, masked": example(ref.post_norm_block, X, P, 2, CAUSAL),
    "pre_norm_block": example(ref.pre_norm_block, X, P, 2),
    "pre_norm_block, masked": example(ref.pre_norm_block, X, P, 2, CAUSAL),
    "TransformerBlock": module_example(ref.TransformerBlock, BLOCK, X),
    "TransformerBlock, norm_first": module_example(ref.TransformerBlock, {**BLOCK, "norm_first": True}, X, CAUSAL),
    "Transformer": module_example(ref.Transformer, STACK, TOKENS),
    "Transformer, norm_first": module_example(ref.Transformer, {**STACK, "norm_first": True}, TOKENS),
}
