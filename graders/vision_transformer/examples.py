"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from reference import vision_transformer as ref
from softmark import example, module_example, numbers


def counted(n, c, height, width):
    """Return pictures whose pixels say where they are: picture, channel, row and column, as in 1234."""
    digits = torch.meshgrid(*(torch.arange(1, size + 1) for size in (n, c, height, width)), indexing="ij")
    return sum(10**power * digit for power, digit in zip((3, 2, 1, 0), digits, strict=True)).double()


EMBEDDING = {"channels": 2, "size": (4, 6), "p": 2, "d_model": 3}
TRANSFORMER = {"channels": 2, "size": (4, 2), "p": 2, "d_model": 4, "n_heads": 2, "d_ff": 3, "n_layers": 2}
SEEN = numbers("query", 2, 2), numbers("features", 2, 3, 2, 4), numbers("W_q", 3, 2) / 2, numbers("W_x", 3, 3) / 2
TABLE = numbers("table", 7, 2)

EXAMPLES = {
    "patches": example(ref.patches, counted(2, 2, 4, 6), 2),
    "patches, three rows": example(ref.patches, counted(1, 3, 3, 6), 3),
    "unpatch": example(ref.unpatch, ref.patches(counted(2, 2, 4, 6), 2), 2, (2, 3)),
    "unpatch, one column": example(ref.unpatch, ref.patches(counted(1, 3, 6, 2), 2), 2, (3, 1)),
    "PatchEmbedding": module_example(ref.PatchEmbedding, EMBEDDING, numbers("images", 2, 2, 4, 6)),
    "image_attention": example(ref.image_attention, *SEEN, numbers("v", 3)),
    "image_attention, large scores": example(ref.image_attention, *SEEN, 1000 * numbers("v", 3)),
    "VisionTransformer": module_example(
        ref.VisionTransformer, {**TRANSFORMER, "n_classes": 3}, numbers("images", 3, 2, 4, 2)
    ),
    "resize_positions, larger": example(ref.resize_positions, TABLE, (2, 3), (3, 5)),
    "resize_positions, smaller": example(ref.resize_positions, TABLE, (3, 2), (2, 1)),
    "similarity": example(ref.similarity, numbers("X", 2, 3, 2)),
    "similarity, three tokens": example(ref.similarity, torch.tensor([[0.8], [0.2], [0.1]], dtype=torch.float64)),
    "similarity, one token": example(ref.similarity, torch.tensor([[0.8, 0.2, 0.1]], dtype=torch.float64)),
}
