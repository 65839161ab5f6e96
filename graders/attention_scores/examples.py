"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from reference import attention_scores as ref
from softmark import example, numbers

LARGE = torch.tensor([[1000.0, 1001.0, 998.0], [-1000.0, -1001.0, -998.0], [1000.0, 0.0, -1000.0]])
SOME = torch.tensor([[True, False, True, True], [False, True, False, False], [False, False, False, False]])
SPREAD = torch.tensor([[-990.0, 30.0, -991.0, -992.0], [25.0, -20000.0, 20.0, 1.0], [3.0, 2.0, 1.0, 0.0]])
OF_TWO = torch.tensor([[[[True, True, False, True]]], [[[False, True, True, False]]]])
QKV = (numbers("Q", 3, 6), numbers("K", 4, 6), numbers("V", 4, 3))

EXAMPLES = {
    "attend": example(ref.attend, numbers("h", 3), numbers("X", 4, 3)),
    "attend, a batch": example(ref.attend, numbers("h", 2, 3), numbers("X", 2, 4, 3)),
    "project": example(
        ref.project, numbers("X", 4, 5), numbers("W_Q", 5, 3), numbers("W_K", 5, 3), numbers("W_V", 5, 2)
    ),
    "scores": example(ref.scores, numbers("Q", 4, 6), numbers("K", 3, 6)),
    "scores, a batch": example(ref.scores, numbers("Q", 2, 3, 5), numbers("K", 2, 4, 5)),
    "softmax_rows": example(ref.softmax_rows, numbers("S", 4, 3)),
    "softmax_rows, a batch": example(ref.softmax_rows, numbers("S", 2, 3, 4)),
    "softmax_rows, large scores": example(ref.softmax_rows, LARGE.double()),
    "masked_softmax": example(ref.masked_softmax, numbers("S", 3, 4), SOME),
    "masked_softmax, spread scores": example(ref.masked_softmax, SPREAD.double(), SOME),
    "masked_softmax, heads": example(ref.masked_softmax, numbers("S", 2, 2, 3, 4), OF_TWO),
    "attention": example(ref.attention, *QKV),
    "attention, masked": example(ref.attention, *QKV, SOME),
    "causal_mask": example(ref.causal_mask, 5),
    "padding_mask": example(ref.padding_mask, torch.tensor([3, 0, 1]), 4),
}
