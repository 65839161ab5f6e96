"""The reference answers a question of stand-ins once, whichever submission asks it, and the bounds stay."""

from __future__ import annotations

from types import ModuleType

import pytest
import torch

from softmark.grading.answer_memory import LARGEST, MOST_BYTES, AnswerMemory
from softmark.grading.answering import Answering
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.student_process import packed
from softmark.sandbox.wire.protocol import Ask, Call

SOURCE = """
import torch
calls = []

def one(x):
    calls.append("one")
    return 2 * x + torch.rand(()).to(x)

def two(x):
    calls.append("two")
    return one(x) + 1

def two_apart(x):
    calls.append("two_apart")
    return one(x[:1]) + one(x[1:])
"""
X = torch.arange(3.0)


@pytest.fixture
def reference() -> ModuleType:
    """A reference that notes its calls, and draws random numbers."""
    module = ModuleType("reference_that_counts")
    exec(SOURCE, vars(module))
    return module


def asked(reference: ModuleType, x: torch.Tensor = X, call: str = "two", number: int = 7, times: int = 1) -> object:
    """Return the last answer to a submission that asks for `one` during a call."""
    answering = Answering(reference, ["one"])
    answering.begin()
    request = Call(call, args=[x], id=number)
    answering.expect(request, {}, packed(request))
    for _ in range(times):
        answered = answering.answer(Ask("one", [x], {}), number)
    assert answering.asked == {"one"}
    return answered.value


class TestAnswers:
    """The answers to several submissions."""

    def test_the_reference_is_asked_once(self, reference: ModuleType) -> None:
        """The second submission's questions run nothing of the reference, and get the same answer."""
        first = asked(reference)
        assert reference.calls == ["two", "one", "one"]
        second = asked(reference)
        assert reference.calls == ["two", "one", "one"]
        assert torch.equal(first, second)

    @pytest.mark.parametrize("other", [{"x": X + 1}, {"x": X.double()}, {"x": X.clone().requires_grad_()}])
    def test_another_input_is_another_question(self, reference: ModuleType, other: dict[str, torch.Tensor]) -> None:
        """One number, the dtype, or a gradient that is wanted makes the difference."""
        asked(reference)
        before = len(reference.calls)
        asked(reference, **other)
        assert len(reference.calls) == 2 * before

    def test_random_numbers_are_those_of_the_call(self, reference: ModuleType) -> None:
        """The second question of a call, and that of another call, draw other numbers than the first."""
        first, second, other = asked(reference), asked(reference, times=2), asked(reference, number=8)
        assert not torch.equal(first, second)
        assert not torch.equal(first, other)
        assert torch.equal(second, asked(reference, times=2))

    def test_another_reference_answers_for_itself(self, reference: ModuleType) -> None:
        """Functions of the same names in another course share nothing."""
        asked(reference)
        another = ModuleType("another_reference")
        exec(SOURCE.replace("2 * x", "5 * x"), vars(another))
        asked(another)
        assert another.calls == ["two", "one", "one"]

    def test_the_bounds_hold_for_known_questions(self, reference: ModuleType) -> None:
        """A submission that asks too often is refused, though every answer is known from the one before."""
        for _ in range(2):
            with pytest.raises(StudentFailure):
                asked(reference, times=5)

    def test_each_call_has_its_own_bounds(self, reference: ModuleType) -> None:
        """What one call may ask is not what another may."""
        asked(reference, call="two_apart", times=8)
        with pytest.raises(StudentFailure):
            asked(reference, call="two", times=8)


class TestMemory:
    """The memory of answers."""

    def test_forgets_what_was_not_used_for_longest(self) -> None:
        """It never holds more bytes than it may."""
        memory, size = AnswerMemory(), LARGEST
        for number in range(2 * MOST_BYTES // size):
            memory.keep(number, str(number), size)
            assert memory.find(0) == "0"
            assert memory.bytes <= MOST_BYTES
        assert memory.find(1) is None
        assert memory.find(number) == str(number)

    def test_keeps_nothing_large(self) -> None:
        """One value never takes the place of many."""
        memory = AnswerMemory()
        memory.keep("a", 1, LARGEST + 1)
        assert memory.find("a") is None
        assert memory.bytes == 0
