"""Plants several mistakes at once. Two edits of one function become one, if their places do not overlap."""

from __future__ import annotations

from collections.abc import Sequence

from softmark.edits.changes import EditError
from softmark.edits.edited import EditedFunction
from softmark.verdict.mistakes import Mistake
from softmark.verdict.plant import Planting


def plants_of(mistakes: Sequence[Mistake]) -> Planting:
    """Return the variants that make all of these mistakes, each with its target."""
    if len(mistakes) == 1:
        return mistakes[0].plants
    edits: dict[int, EditedFunction] = {}
    for edit in [edit for mistake in mistakes for edit in mistake.edits]:
        before = edits.get(id(edit.target))
        both = edit if before is None else before.composed(edit)
        if both is None:
            raise EditError(f"these mistakes of {edit.definition.name} cannot be made together")
        edits[id(edit.target)] = both
    variants = [plant for mistake in mistakes if not mistake.edits for plant in mistake.plants]
    return [*variants, *((edit.target, edit.function) for edit in edits.values())]


def can_be_made_together(a: Mistake, b: Mistake) -> bool:
    """Return whether two mistakes of one function are edits that can be made together."""
    shared = [(one, two) for one in a.edits for two in b.edits if one.target is two.target]
    return bool(shared) and all(one.composed(two) is not None for one, two in shared)
