"""Decides whether an answer is right, how far it is off, and why. Knows nothing of walls or of grading.

In: a student's function, the reference, inputs. Out: nothing, or `Failed` with a verdict.

`agree.py` is one check. `expected.py` computes what is right, `tolerance.py` decides how far an answer may be off,
`compare.py` compares, `naming.py` finds the mistake. Property checks are in `properties.py` (about the values of an
answer) and `call_properties.py` (about how a function is called). `softmark/__init__.py` offers them to authors.
"""

from softmark.records.verdict import Category, Cause, Code, CodeLine, Failed, Lines, Picture, Verdict
from softmark.verdict.agree import agree
from softmark.verdict.call_properties import (
    keeps_dtype,
    leaves_inputs,
    ops_independent_of,
    raises,
    uses_inputs,
    uses_weights,
    works_on_meta,
)
from softmark.verdict.callee import Answer, Gradients, OpCount, StudentCallable, StudentModule, Work, lend
from softmark.verdict.context import Check, TestContext, activate, current_test
from softmark.verdict.draw import causal_mask, draw, draw_integers, padding_mask, random_mask, to_float32
from softmark.verdict.draw_text import draw_documents, draw_text
from softmark.verdict.extremes import agree_at_extremes
from softmark.verdict.gradients import gradients_agree
from softmark.verdict.in_turn import agree_in_turn
from softmark.verdict.mistakes import (
    Equivalent,
    Mistake,
    MistakeError,
    Registry,
    collecting,
    equivalent,
    mistake,
)
from softmark.verdict.naming import common_causes
from softmark.verdict.own_checks import (
    confirm_reference,
    fail,
    naming_only,
    well_behaved,
    within_limit,
    without_values,
)
from softmark.verdict.properties import (
    batch_independent,
    causal,
    ignores_padding,
    permutation_equivariant,
    repeatable,
    rows_sum_to_one,
)
from softmark.verdict.work import work_grows_like

__all__ = [
    "Answer",
    "Category",
    "Cause",
    "Check",
    "Code",
    "CodeLine",
    "Equivalent",
    "Failed",
    "Gradients",
    "Lines",
    "Mistake",
    "MistakeError",
    "OpCount",
    "Picture",
    "Registry",
    "StudentCallable",
    "StudentModule",
    "TestContext",
    "Verdict",
    "Work",
    "activate",
    "agree",
    "agree_at_extremes",
    "agree_in_turn",
    "batch_independent",
    "causal",
    "causal_mask",
    "collecting",
    "common_causes",
    "confirm_reference",
    "current_test",
    "draw",
    "draw_documents",
    "draw_integers",
    "draw_text",
    "equivalent",
    "fail",
    "gradients_agree",
    "ignores_padding",
    "keeps_dtype",
    "leaves_inputs",
    "lend",
    "mistake",
    "naming_only",
    "ops_independent_of",
    "padding_mask",
    "permutation_equivariant",
    "raises",
    "random_mask",
    "repeatable",
    "rows_sum_to_one",
    "to_float32",
    "uses_inputs",
    "uses_weights",
    "well_behaved",
    "within_limit",
    "without_values",
    "work_grows_like",
    "works_on_meta",
]
