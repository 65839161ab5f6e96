"""Softmark grades deep-learning homework.

Everything that a hidden test, a file of mistakes or a file of worked examples may use is here:
`from softmark import agree, draw, mistake`; and for a student's notebook `check`, and `%check` after
`%load_ext softmark`. A name is looked up on first use, so that `import softmark` costs nothing in a process that never
compares numbers. docs/api.md describes each name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # each name once more, for type checkers and editors
    from softmark.authoring.examples import ExampleCall as ExampleCall
    from softmark.authoring.examples import example as example
    from softmark.authoring.examples import module_example as module_example
    from softmark.authoring.examples import numbers as numbers
    from softmark.check import check as check
    from softmark.course.decorators import hide_errors as hide_errors
    from softmark.course.decorators import leaderboard as leaderboard
    from softmark.course.decorators import number as number
    from softmark.course.decorators import partial_credit as partial_credit
    from softmark.course.decorators import tags as tags
    from softmark.course.decorators import visibility as visibility
    from softmark.course.decorators import weight as weight
    from softmark.grading.student import Student as Student
    from softmark.verdict import Answer as Answer
    from softmark.verdict import Category as Category
    from softmark.verdict import Cause as Cause
    from softmark.verdict import Code as Code
    from softmark.verdict import CodeLine as CodeLine
    from softmark.verdict import Failed as Failed
    from softmark.verdict import Gradients as Gradients
    from softmark.verdict import Lines as Lines
    from softmark.verdict import OpCount as OpCount
    from softmark.verdict import Picture as Picture
    from softmark.verdict import StudentCallable as StudentCallable
    from softmark.verdict import StudentModule as StudentModule
    from softmark.verdict import TestContext as TestContext
    from softmark.verdict import Verdict as Verdict
    from softmark.verdict import Work as Work
    from softmark.verdict import agree as agree
    from softmark.verdict import agree_at_extremes as agree_at_extremes
    from softmark.verdict import agree_in_turn as agree_in_turn
    from softmark.verdict import batch_independent as batch_independent
    from softmark.verdict import causal as causal
    from softmark.verdict import causal_mask as causal_mask
    from softmark.verdict import confirm_reference as confirm_reference
    from softmark.verdict import current_test as current_test
    from softmark.verdict import draw as draw
    from softmark.verdict import draw_documents as draw_documents
    from softmark.verdict import draw_integers as draw_integers
    from softmark.verdict import draw_text as draw_text
    from softmark.verdict import equivalent as equivalent
    from softmark.verdict import fail as fail
    from softmark.verdict import gradients_agree as gradients_agree
    from softmark.verdict import ignores_padding as ignores_padding
    from softmark.verdict import keeps_dtype as keeps_dtype
    from softmark.verdict import leaves_inputs as leaves_inputs
    from softmark.verdict import lend as lend
    from softmark.verdict import mistake as mistake
    from softmark.verdict import naming_only as naming_only
    from softmark.verdict import ops_independent_of as ops_independent_of
    from softmark.verdict import padding_mask as padding_mask
    from softmark.verdict import permutation_equivariant as permutation_equivariant
    from softmark.verdict import raises as raises
    from softmark.verdict import random_mask as random_mask
    from softmark.verdict import repeatable as repeatable
    from softmark.verdict import rows_sum_to_one as rows_sum_to_one
    from softmark.verdict import to_float32 as to_float32
    from softmark.verdict import uses_inputs as uses_inputs
    from softmark.verdict import uses_weights as uses_weights
    from softmark.verdict import well_behaved as well_behaved
    from softmark.verdict import within_limit as within_limit
    from softmark.verdict import without_values as without_values
    from softmark.verdict import work_grows_like as work_grows_like
    from softmark.verdict import works_on_meta as works_on_meta

_NAMES = {
    "softmark.authoring.examples": "ExampleCall example module_example numbers",
    "softmark.check": "check",
    "softmark.course.decorators": "hide_errors leaderboard number partial_credit tags visibility weight",
    "softmark.grading.student": "Student",
    "softmark.verdict": """
        Answer Category Cause Code CodeLine Failed Gradients Lines OpCount Picture StudentCallable StudentModule
        TestContext Verdict Work agree agree_at_extremes agree_in_turn batch_independent causal causal_mask
        confirm_reference current_test draw draw_documents draw_integers draw_text equivalent fail
        gradients_agree ignores_padding keeps_dtype leaves_inputs lend mistake naming_only ops_independent_of
        padding_mask permutation_equivariant raises random_mask repeatable rows_sum_to_one to_float32
        uses_inputs uses_weights well_behaved within_limit without_values work_grows_like works_on_meta
    """,
}
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> Any:
    if name in _ROOM_OF:
        return getattr(import_module(_ROOM_OF[name]), name)
    raise AttributeError(f"module 'softmark' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """Add the magic `%check` to IPython: `%load_ext softmark` calls this."""
    import_module("softmark.check.magic").add_to(shell)


def __dir__() -> list[str]:
    return __all__
