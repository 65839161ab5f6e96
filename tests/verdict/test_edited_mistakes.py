"""Naming mistakes that are edits: one alone, and two of one function that leave each other's places alone."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from softmark.edits.changes import EditError, change_of
from softmark.edits.definitions import definitions_of
from softmark.edits.edited import EditedFunction
from softmark.verdict import Mistake, Registry, TestContext, activate, agree, draw
from softmark.verdict.together import can_be_made_together, plants_of
from tests.support import lecture as ref
from tests.support.students import InProcess, failure

DEFINITIONS = definitions_of(inspect.getsource(ref))


def mistake(name: str, *targets: object, edits: tuple[str, ...] = (), body: str = "") -> Mistake:
    """Return a named mistake that makes the same changes in each of these functions."""
    changes = tuple(change_of(text) for text in edits)
    made = tuple(EditedFunction(t, DEFINITIONS[t.__qualname__], changes, body) for t in targets)
    return Mistake(name, made[0].target, None, "mistakes.toml", 1, says=f"{name}.", edits=made)


UNSCALED = mistake("unscaled", ref.scores, edits=("/ math.sqrt(K.shape[-1]) →",))
WITHOUT_ROOT = mistake("without_root", ref.scores, edits=("math.sqrt(K.shape[-1]) → K.shape[-1]",))
ROUND = mistake("keys_by_queries", ref.scores, edits=("Q @ K.transpose(-1, -2) → (K @ Q.transpose(-1, -2)).mT",))
SIGN = mistake("sign", ref.scores, edits=("return → return -",))
ALL_ONES = mistake("ones", ref.scores, body="return Q @ K.mT * 0 + 1")
COLUMNS = mistake("columns", ref.softmax_rows, edits=("every -1 → -2",))


@pytest.fixture
def case(request: pytest.FixtureRequest) -> Iterator[TestContext]:
    registry = Registry([UNSCALED, WITHOUT_ROOT, ROUND, SIGN, ALL_ONES, COLUMNS])
    with activate(TestContext(id=request.node.nodeid, seed=3, mistakes=registry)) as case:
        yield case


def named(student: object, want: object, *inputs: object) -> list[tuple[str, ...]]:
    """Return the names of the mistakes that explain the answers of a wrong function."""
    return [cause.mistakes for cause in failure(agree, InProcess(student, "student"), want, *inputs).causes]


class TestPairs:
    """Two slips in one function are both named."""

    def test_of_one_function(self, case: TestContext) -> None:
        """Two edits at places of their own are made together."""
        found = named(lambda Q, K: -(Q @ K.mT), ref.scores, *draw("n d", "m d", n=4, m=5, d=3))
        assert found == [("unscaled", "sign")]

    def test_of_one_function_and_another(self, case: TestContext) -> None:
        """An edit of a function and one of a function that calls it are a pair, as before."""

        def student(Q, K, V):
            A = (Q @ K.mT).softmax(-2)
            return A @ V, A

        found = named(student, ref.attention, *draw("n d", "m d", "m e", n=4, m=5, d=3, e=2))
        assert found == [("unscaled", "columns")]

    def test_that_overlap_are_no_pair(self) -> None:
        """Where the places overlap, or one is another body, the two cannot be made together."""
        assert not can_be_made_together(UNSCALED, WITHOUT_ROOT)
        assert not can_be_made_together(UNSCALED, ALL_ONES)
        assert can_be_made_together(UNSCALED, SIGN)
        with pytest.raises(EditError, match="these mistakes of scores cannot be made together"):
            plants_of((UNSCALED, WITHOUT_ROOT))

    def test_of_which_no_program_comes(self) -> None:
        """Two edits that are each a program need not be one together."""
        one = mistake("one", ref.scores, edits=("return → assert",))
        other = mistake("other", ref.scores, edits=("Q @ → *Q, K @",))
        assert not can_be_made_together(one, other)


class TestSeveralTargets:
    """One mistake in several functions is one name, wherever it shows."""

    def test_is_named_once_for_both(self, request: pytest.FixtureRequest) -> None:
        """It is planted in all of its functions together."""
        twice = mistake("sign", ref.scores, ref.softmax_rows, edits=("return → return -",))
        registry = Registry([twice])
        Q, K, V = draw("n d", "m d", "m e", n=4, m=5, d=3, e=2)

        def student(Q, K, V):
            A = -(-(Q @ K.mT) / K.shape[-1] ** 0.5).softmax(-1)
            return A @ V, A

        with activate(TestContext(id=request.node.nodeid, seed=3, mistakes=registry)):
            assert named(student, ref.attention, Q, K, V) == [("sign",)]
            assert named(lambda Q, K: -ref.scores(Q, K), ref.scores, Q, K) == [("sign",)]
        assert registry.for_target(ref.softmax_rows) == [twice]
