"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from graders.seq2seq.lent import step
from reference import seq2seq as ref
from softmark import example, lend, module_example, numbers

LENGTHS = torch.tensor([3, 1, 4])
SOURCE = numbers("states", 3, 5, 2)
SENTENCES = torch.tensor([[4, 0, 2, 5, 1], [3, 1, 0, 0, 5], [1, 2, 0, 3, 3]]), LENGTHS
TARGETS = torch.tensor([[1, 3, 2, 0, 0], [2, 0, 0, 0, 0], [3, 1, 3, 1, 2]])
LARGE = torch.tensor([[1000.0, -1000.0, 999.0], [-1000.0, -999.0, 1000.0]], dtype=torch.float64)


def searched(state, start, end, limit, width=0):
    """Return the example of a search, greedy without a width. It may call `step` once too often: its answer tells."""
    lent = lend(step, calls=limit + 1)
    if width:
        return example(ref.beam_search, lent, state, start, end, width, limit)
    return example(ref.greedy, lent, state, start, end, limit)


def tables(label, n, v, end, of_end):
    """Return the state of `step` for n sentences; the logits of END are moved by a number."""
    state = numbers(label, n, v, v)
    state[..., end] += of_end
    return state.flatten(1)


EXAMPLES = {
    "dot_scores": example(ref.dot_scores, numbers("query", 2, 3), numbers("states", 2, 4, 3)),
    "bilinear_scores": example(
        ref.bilinear_scores, numbers("query", 2, 3), numbers("states", 2, 4, 2), numbers("W", 3, 2)
    ),
    "bilinear_scores, equal widths": example(
        ref.bilinear_scores, numbers("query", 2, 3), numbers("states", 2, 4, 3), numbers("W", 3, 3)
    ),
    "additive_scores": example(
        ref.additive_scores, numbers("query", 2, 3) / 2, numbers("states", 2, 4, 2) / 2, numbers("W_q", 4, 3) / 2,
        numbers("W_x", 4, 2) / 2, numbers("v", 4),
    ),
    "context": example(ref.context, numbers("scores", 3, 5), SOURCE, torch.full((3,), 5)),
    "context, padding": example(ref.context, numbers("scores", 3, 5), SOURCE, LENGTHS),
    "context, an empty sentence": example(ref.context, numbers("scores", 2, 3), SOURCE[:2, :3], torch.tensor([0, 2])),
    "context, large scores": example(ref.context, LARGE, SOURCE[:2, :3], torch.tensor([3, 2])),
    "Encoder": module_example(ref.Encoder, {"vocab_size": 6, "embedding_size": 2, "hidden_size": 3}, *SENTENCES),
    "Decoder": module_example(
        ref.Decoder, {"vocab_size": 5, "embedding_size": 2, "hidden_size": 3, "states_size": 2},
        torch.tensor([[1, 4, 2], [1, 3, 0], [1, 0, 0]]), numbers("h", 3, 3) / 2, SOURCE, LENGTHS,
    ),
    "Decoder, equal widths": module_example(
        ref.Decoder, {"vocab_size": 4, "embedding_size": 2, "hidden_size": 2, "states_size": 2},
        torch.tensor([[1], [1], [3]]), numbers("h", 3, 2) / 2, SOURCE, LENGTHS,
    ),
    "teacher_forced_loss, all": example(ref.teacher_forced_loss, numbers("logits", 3, 5, 4), TARGETS, -100),
    "teacher_forced_loss, padding": example(ref.teacher_forced_loss, numbers("logits", 3, 5, 4), TARGETS, 0),
    "teacher_forced_loss, no id": example(
        ref.teacher_forced_loss, numbers("logits", 3, 5, 4), TARGETS.masked_fill(TARGETS == 0, -100), -100
    ),
    "teacher_forced_loss, large logits": example(
        ref.teacher_forced_loss, LARGE[:, None], torch.tensor([[1], [2]]), 0
    ),
    "teacher_forced_loss, nothing": example(
        ref.teacher_forced_loss, numbers("logits", 2, 2, 3), torch.zeros(2, 2, dtype=torch.int64), 0
    ),
    "greedy": searched(tables("one", 1, 4, 2, -9), 1, 2, 4),
    "greedy, a batch": searched(tables("batch", 4, 4, 2, 0.5), 1, 2, 6),
    "greedy, equal logits": searched(torch.zeros(1, 16, dtype=torch.float64), 1, 3, 2),
    "beam_search, some end": searched(tables("beam", 1, 4, 2, 0.6), 1, 2, 4, width=3),
    "beam_search, none ends": searched(tables("beam", 1, 4, 2, -9), 1, 2, 3, width=2),
    "beam_search, width 1": searched(tables("one", 1, 4, 2, -9), 1, 2, 4, width=1),
    "beam_search, a wide beam": searched(tables("wide", 1, 3, 0, 0.5), 1, 0, 2, width=9),
}  # fmt: skip
