"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from reference import multi_head as ref
from softmark import example, module_example, numbers

WEIGHTS = numbers("W_Q", 4, 6) / 2, numbers("W_K", 5, 6) / 2, numbers("W_V", 5, 4)
TOKENS = numbers("X_q", 2, 4), numbers("X_kv", 3, 5)
BATCH = numbers("X_q", 2, 3, 4), numbers("X_kv", 2, 4, 5)
SOME = torch.tensor([[True, False, True], [False, True, True]])
LENGTHS = torch.tensor([[[True, True, False, False]], [[True, True, True, False]]])
CAUSAL = torch.ones(4, 4, dtype=torch.bool).tril()
MODULE = {"d_model": 6, "n_heads": 3}

EXAMPLES = {
    "split_heads": example(ref.split_heads, numbers("X", 4, 6), 3),
    "split_heads, a batch": example(ref.split_heads, numbers("X", 2, 5, 6), 3),
    "merge_heads": example(ref.merge_heads, numbers("H", 3, 4, 2)),
    "merge_heads, a batch": example(ref.merge_heads, numbers("H", 2, 3, 4, 2)),
    "multi_head_attention": example(ref.multi_head_attention, *TOKENS, *WEIGHTS, 2),
    "multi_head_attention, masked": example(ref.multi_head_attention, *TOKENS, *WEIGHTS, 2, SOME),
    "multi_head_attention, a batch": example(ref.multi_head_attention, *BATCH, *WEIGHTS, 2, mask=LENGTHS),
    "multi_head_attention, large scores": example(
        ref.multi_head_attention, 200 * TOKENS[0], TOKENS[1], *WEIGHTS, 2, SOME
    ),
    "MultiHeadAttention": module_example(ref.MultiHeadAttention, MODULE, numbers("X", 4, 6) / 2),
    "MultiHeadAttention, masked": module_example(ref.MultiHeadAttention, MODULE, numbers("X", 4, 6) / 2, mask=CAUSAL),
    "MultiHeadAttention, cross": module_example(
        ref.MultiHeadAttention, MODULE, numbers("X_q", 2, 6) / 2, numbers("X_kv", 3, 6) / 2
    ),
}
