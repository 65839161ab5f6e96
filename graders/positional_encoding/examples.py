"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

from reference import positional_encoding as ref
from softmark import example, module_example, numbers

EXAMPLES = {
    "angles": example(ref.angles, 10, 8),
    "angles, an odd width": example(ref.angles, 8, 7),
    "sinusoidal": example(ref.sinusoidal, 10, 8),
    "sinusoidal, an odd width": example(ref.sinusoidal, 8, 7),
    "add_positions": example(ref.add_positions, numbers("X", 5, 4)),
    "add_positions, a batch": example(ref.add_positions, numbers("X", 2, 5, 4)),
    "shift_matrix": example(ref.shift_matrix, 2, 6),
    "shift_matrix, to the left": example(ref.shift_matrix, -5, 4),
    "LearnedPositions": module_example(ref.LearnedPositions, {"max_len": 6, "d": 3}, numbers("X", 4, 3)),
    "LearnedPositions, a batch": module_example(ref.LearnedPositions, {"max_len": 6, "d": 3}, numbers("X", 2, 4, 3)),
    "relative_bias": example(ref.relative_bias, 3, 5, numbers("table", 13)),
    "relative_bias, far offsets": example(ref.relative_bias, 6, 7, numbers("table", 5)),
    "relative_bias, heads": example(ref.relative_bias, 3, 4, numbers("table", 2, 5)),
}
