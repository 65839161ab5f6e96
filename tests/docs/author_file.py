"""A file as an author writes it: it uses every public name once, and mypy --strict accepts it."""

import math

import pytest
import torch
from torch import nn

from softmark import (
    Answer,
    Category,
    Cause,
    Code,
    CodeLine,
    ExampleCall,
    Failed,
    Gradients,
    Lines,
    OpCount,
    Picture,
    Student,
    StudentCallable,
    StudentModule,
    TestContext,
    Verdict,
    Work,
    agree,
    agree_at_extremes,
    agree_in_turn,
    batch_independent,
    causal,
    causal_mask,
    check,
    confirm_reference,
    current_test,
    draw,
    draw_documents,
    draw_integers,
    draw_text,
    equivalent,
    example,
    fail,
    gradients_agree,
    hide_errors,
    ignores_padding,
    keeps_dtype,
    leaderboard,
    leaves_inputs,
    lend,
    mistake,
    module_example,
    naming_only,
    number,
    numbers,
    ops_independent_of,
    padding_mask,
    partial_credit,
    permutation_equivariant,
    raises,
    random_mask,
    repeatable,
    rows_sum_to_one,
    tags,
    to_float32,
    uses_inputs,
    uses_weights,
    visibility,
    weight,
    well_behaved,
    within_limit,
    without_values,
    work_grows_like,
    works_on_meta,
)


def scores(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    return Q @ K.mT / math.sqrt(K.shape[-1])


class Layer(nn.Linear):
    pass


@mistake(scores, says="You did not scale the scores.", hint="Look at the variance of a row.")
def unscaled(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    return Q @ K.mT


@equivalent(scores)
def scaled_first(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
    return (Q / math.sqrt(K.shape[-1])) @ K.mT


EXAMPLES: dict[str, ExampleCall] = {
    "scores": example(scores, numbers("Q", 4, 6), numbers("K", 3, 6)),
    "Layer": module_example(Layer, {"in_features": 3, "out_features": 2}, numbers("X", 4, 3)),
}


@number("1.1")
@weight(1.5)
@visibility("after_published")
@tags("attention")
@hide_errors("Not yet.")
@pytest.mark.parametrize("batch", [(), (2,)])
def test_scores(student: Student, batch: tuple[int, ...]) -> None:
    """The scores and their gradients."""
    Q, K = draw("batch m d", "batch n d", batch=batch, m=5, n=7, d=3)
    agree(student.scores, scores, Q, K)
    agree_in_turn(student.scores, scores, (Q, K), (K, Q), (Q[:1], K[:1]))
    agree_at_extremes(student.scores, scores, Q, K, large=(1,))
    gradients_agree(student.scores, scores, Q, K)
    well_behaved(student.scores, scores, Q, K)
    raises(ValueError, student.scores, Q, K[..., :2])
    confirm_reference(lambda: scores(Q, K), lambda: scaled_first(Q, K), "another formula")


@number("1.2")
@partial_credit(2)
@leaderboard("error", "asc")
def test_properties(student: Student, set_score: object, set_leaderboard_value: object) -> None:
    """The properties."""
    attend: StudentCallable = student.attend
    X = draw("T d", T=5, d=3)
    for holds in (permutation_equivariant, causal, keeps_dtype, leaves_inputs, repeatable, works_on_meta, uses_inputs):
        holds(attend, X)
    batch_independent(attend, draw("N T d", N=2, T=5, d=3))
    rows_sum_to_one(attend, X, output=1)
    ignores_padding(attend, X, padding=~padding_mask([3], 5)[0, 0])
    ops_independent_of("the number of tokens", attend, (X[:2],), (X,))
    tokens = draw_integers(0, 11, "T", T=5)
    agree(attend, draw_text(9), draw_documents(3, words=5))
    agree(student.attend_to, X, to_float32(X), tokens, causal_mask(5), random_mask(5, 5))


@number("1.3")
@weight(1)
def test_module(student: Student) -> None:
    """The module."""
    own: StudentModule = student.Layer(3, 2)
    own.eval().load_state_dict(Layer(3, 2).state_dict())
    uses_weights(own, draw("T d", T=5, d=3))
    agree(without_values(own.parameters()), without_values(dict(Layer(3, 2).named_parameters())))
    with naming_only("Layer"):
        agree(own, Layer(3, 2), torch.ones(2, 3))
    agree(student.search, 0, lend(torch.relu, calls=3), torch.ones(3))


@number("1.4")
@weight(1)
def test_own_check(student: Student) -> None:
    """A check of the author's own."""
    here: TestContext = current_test()
    X = torch.randn(3, generator=here.generator)
    answer: Answer = student.norm.call((X,), {})
    gradients: Gradients = student.norm.vjp((X,), {}, torch.ones(()))
    count: OpCount = student.norm.count_ops((X,), {})
    work: Work = student.norm.work()
    work_grows_like("the number of rows", student.norm, torch.norm, lambda: (X,), lambda: (X.repeat(9),), room=4)
    within_limit(abs(float(answer.value)), 1e-6, Category.PROPERTY, "the norm is not 0", name="norm")
    try:
        agree(student.norm, 0.0, X)
    except Failed as failure:
        if told(failure.verdict) or failure.verdict.code == Code.NOT_WRITTEN or gradients.args == (None,):
            raise
    if count.total > 3 and work.seconds and here.id:
        fail(Category.PROPERTY, "more operations than needed")


def told(verdict: Verdict) -> tuple[tuple[Cause, ...], tuple[CodeLine, ...], Picture | Lines | None]:
    return verdict.causes, verdict.frames, verdict.picture or verdict.lines


def in_a_notebook() -> None:
    """Check functions of a notebook, as its student does."""
    check(told)
    check("3")
    check("multi_head", part=3)
    check(told, homework="multi_head")
