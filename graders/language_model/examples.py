"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from graders.language_model.writing import SIZES, described, learning, mode_after, model_weights, written
from reference import language_model as ref
from softmark import example, module_example, numbers

TEXT = torch.tensor([5, 6, 7, 8, 9, 1, 2, 4, 3, 0])
LOGITS = numbers("logits", 2, 4, 3)
TARGETS = torch.tensor([[1, 0, 2, 1], [2, 2, 0, 1]])
IGNORED = torch.tensor([[1, -100, 2, 1], [-100, -100, 0, -100]])
LARGE = torch.tensor([[1000.0, -1000.0, 999.0], [-1000.0, -999.0, 1000.0]], dtype=torch.float64)
MODEL = dict(zip(("vocab_size", "context", "d_model", "n_heads", "n_layers"), SIZES, strict=True))
ROWS = numbers("rows", 3, 6)
TIED = torch.tensor([[1.0, 2.0, 2.0, 0.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
WEIGHTS = model_weights()
IDS = torch.tensor([[1, 4, 0], [3, 3, 1], [2, 0, 4]])
UNIFORMS = torch.tensor([[0.1, 0.8, 0.45], [0.55, 0.3, 0.95], [0.7, 0.05, 0.6]], dtype=torch.float64)
PIECES = torch.tensor([[0, 0.25, 0.5, 0, 0.25, 0]], dtype=torch.float64).repeat(7, 1)
PLACES = torch.tensor([0, 0.1, 0.25, 0.5, 0.75, 0.8, 1 - 2.0**-53], dtype=torch.float64)


def writing(uniforms=UNIFORMS, context=4, **options):
    return example(written, WEIGHTS, IDS, uniforms, context, options)


EXAMPLES = {
    "windows": example(ref.windows, TEXT, 3, torch.tensor([4, 0, 6])),
    "windows, one after the other": example(ref.windows, TEXT, 3),
    "windows, the last one does not fit": example(ref.windows, TEXT, 5),
    "next_token_loss, all targets": example(ref.next_token_loss, LOGITS, TARGETS),
    "next_token_loss, some ignored": example(ref.next_token_loss, LOGITS, IGNORED),
    "next_token_loss, an id ignored": example(ref.next_token_loss, LOGITS, TARGETS, 2),
    "next_token_loss, one row": example(ref.next_token_loss, LOGITS[0], TARGETS[0]),
    "next_token_loss, large logits": example(ref.next_token_loss, LARGE, torch.tensor([1, 2])),
    "next_token_loss, none counts": example(ref.next_token_loss, LOGITS, torch.full((2, 4), 1), 1),
    "perplexity": example(ref.perplexity, LOGITS, TARGETS),
    "perplexity, some ignored": example(ref.perplexity, LOGITS, IGNORED),
    "perplexity, none counts": example(ref.perplexity, LOGITS, torch.full((2, 4), -100)),
    "LanguageModel": module_example(ref.LanguageModel, MODEL, torch.tensor([[1, 4, 0], [3, 3, 2]])),
    "LanguageModel, two blocks": module_example(
        ref.LanguageModel, {**MODEL, "n_layers": 2}, torch.tensor([[[0, 1], [2, 3]], [[4, 4], [1, 0]]])
    ),
    "with_temperature, 2": example(ref.with_temperature, ROWS, 2),
    "with_temperature, 0.5": example(ref.with_temperature, ROWS, 0.5),
    "with_temperature, 0": example(ref.with_temperature, ROWS, 0),
    "with_temperature, 0 and ties": example(ref.with_temperature, TIED, 0),
    "with_temperature, large logits": example(ref.with_temperature, LARGE, 0.001),
    "top_k, 1": example(ref.top_k, ROWS, 1),
    "top_k, 3": example(ref.top_k, ROWS, 3),
    "top_k, 2 and ties": example(ref.top_k, TIED, 2),
    "top_k, 9": example(ref.top_k, ROWS, 9),
    "top_p, 0.7": example(ref.top_p, ROWS, 0.7),
    "top_p, 0.95": example(ref.top_p, ROWS, 0.95),
    "top_p, 0.6 and ties": example(ref.top_p, TIED, 0.6),
    "top_p, 0": example(ref.top_p, ROWS, 0),
    "top_p, 1": example(ref.top_p, LARGE, 1),
    "top_p, exactly": example(ref.top_p, torch.zeros(2, 2, dtype=torch.float64), 0.5),
    "choose": example(ref.choose, torch.softmax(ROWS, dim=-1), UNIFORMS[0]),
    "choose, edges": example(ref.choose, PIECES, PLACES),
    "choose, a gap": example(ref.choose, torch.tensor([[0.4, 0.5, 0.0]]), torch.tensor([0.95])),
    "generate, rows": writing(),
    "generate, a context of 2": writing(context=2),
    "generate, temperature 0": writing(temperature=0),
    "generate, k and p": writing(temperature=2, k=3, p=0.6),
    "generate, END": writing(torch.cat([UNIFORMS, UNIFORMS.flip(1)], dim=1), end=4),
    "generate, in train()": example(mode_after, WEIGHTS, IDS, UNIFORMS, True),
    "generate, in eval()": example(mode_after, WEIGHTS, IDS, UNIFORMS, False),
    "freeze": example(learning, ["norm", "blocks.0.linear1.weight"]),
    "freeze, nothing": example(learning, []),
    "features": example(described, WEIGHTS, IDS, torch.tensor([2, 3, 1])),
}
