"""The verdict room: two values in, right or wrong out, by how much, and why. Knows nothing of walls or of grading."""

from softmark.records.verdict import Category, Cause, CodeLine, Failed, Picture, Verdict
from softmark.verdict.agree import agree
from softmark.verdict.call_properties import (
    keeps_dtype,
    leaves_inputs,
    ops_independent_of,
    raises,
    works_on_meta,
)
from softmark.verdict.callee import Answer, Gradients, OpCount, StudentCallable
from softmark.verdict.carried import errs, holds, inherited
from softmark.verdict.context import Check, TestContext, activate, current_test
from softmark.verdict.diagnose import common_causes, require_seen
from softmark.verdict.draw import draw
from softmark.verdict.gradients import gradients_agree
from softmark.verdict.mistakes import (
    Equivalent,
    Mistake,
    MistakeError,
    Registry,
    collecting,
    equivalent,
    mistake,
)
from softmark.verdict.properties import (
    batch_independent,
    causal,
    ignores_padding,
    permutation_equivariant,
    repeatable,
    rows_sum_to_one,
)
from softmark.verdict.standing import Standing
from softmark.verdict.uses import uses_inputs, uses_weights

__all__ = [
    "Answer",
    "Category",
    "Cause",
    "Check",
    "CodeLine",
    "Equivalent",
    "Failed",
    "Gradients",
    "Mistake",
    "MistakeError",
    "OpCount",
    "Picture",
    "Registry",
    "Standing",
    "StudentCallable",
    "TestContext",
    "Verdict",
    "activate",
    "agree",
    "batch_independent",
    "causal",
    "collecting",
    "common_causes",
    "current_test",
    "draw",
    "equivalent",
    "errs",
    "gradients_agree",
    "holds",
    "ignores_padding",
    "inherited",
    "keeps_dtype",
    "leaves_inputs",
    "mistake",
    "ops_independent_of",
    "permutation_equivariant",
    "raises",
    "repeatable",
    "require_seen",
    "rows_sum_to_one",
    "uses_inputs",
    "uses_weights",
    "works_on_meta",
]
