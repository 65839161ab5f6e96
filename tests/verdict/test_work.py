"""Work is compared with that of the reference: in counted steps here, so that no clock decides a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from softmark.verdict import Answer, Failed, TestContext, Work, activate, work, work_grows_like

OF_A_STEP = 0.001  # seconds
SMALL, LARGE = 10, 400  # numbers of steps of the reference
STEPS = {"reference": 0}


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A step of the reference takes a millisecond of processor time."""
    monkeypatch.setattr(work.time, "process_time", lambda: OF_A_STEP * STEPS["reference"])
    with activate(TestContext(id="")):
        yield


def reference(n: int, question: int) -> list[int]:
    STEPS["reference"] += n
    return [n, question]


class Stepping:
    """A student's function that takes a number of steps for each question, and tells its work when it is asked."""

    name = "count"

    def __init__(self, steps: Callable[[int], float], answer: Callable[..., Any] = lambda n, question: [n, question]):
        self.steps, self.answer, self.done, self.asked = steps, answer, 0.0, 0

    def call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
        self.done += self.steps(args[0])
        self.asked += 1
        return Answer(self.answer(*args))

    def __call__(self, *args: Any) -> Any:
        return self.call(args, {}).value

    def work(self) -> Work:
        return Work(OF_A_STEP * self.done)


def check(got: Any, **more: Any) -> None:
    questions = iter(range(100))
    small, large = (lambda n=n: (n, next(questions)) for n in (SMALL, LARGE))
    work_grows_like("the number of words", got, reference, small, large, **more)


@pytest.mark.parametrize(
    "steps",
    [
        lambda n: n,
        lambda n: 3 * n,
        lambda n: 7 * n,
        lambda n: n + 50,
        lambda n: 0,
    ],
    ids=["the same", "three times", "seven times, always", "a little more, always", "not measured"],
)
def test_is_like(steps: Callable[[int], float]) -> None:
    """A solution that is slower by a factor passes, and one measurement is enough for it."""
    got = Stepping(steps)
    check(got)
    assert got.asked == 2


@pytest.mark.parametrize(
    "steps",
    [
        lambda n: n * n / SMALL,
        lambda n: 10 * n,
        lambda n: 5 * n if n == LARGE else n,
        lambda n: 9 * LARGE,
    ],
    ids=["the square", "ten times", "five times, the large one", "time wasted in the small one"],
)
def test_is_not_like(steps: Callable[[int], float]) -> None:
    """A solution fails whose work grows faster, or that is slower beyond the room. It is measured three times."""
    got = Stepping(steps)
    with pytest.raises(Failed) as failed:
        check(got)
    assert got.asked == 6
    assert failed.value.verdict.fact.startswith("count: a large question takes more than 4 times the processor time")
    assert "the work grows faster with the number of words than it has to" in failed.value.verdict.fact


def test_room() -> None:
    """The author may give more room."""
    check(Stepping(lambda n: 5 * n if n == LARGE else n), room=6)


def test_a_disturbance_costs_nothing() -> None:
    """Two slow measurements are forgotten if the third is not slow."""
    got = Stepping(lambda n: n if got.asked >= 4 else 100 * n)
    check(got)
    assert got.asked == 6


def test_wrong_answers() -> None:
    """To be fast is not enough."""
    with pytest.raises(Failed, match="entries"):
        check(Stepping(lambda n: 1, answer=lambda n, question: [n, n]))


def test_questions_to_stand_ins() -> None:
    """The time of questions to an earlier part's stand-in is not the student's."""
    got = Stepping(lambda n: n if n == SMALL else 10 * n)
    got.work = lambda: Work(OF_A_STEP * got.done, stand_ins=20 * int(got.done))  # type: ignore[method-assign]
    check(got)


def test_the_reference_is_measured_once_for_a_test() -> None:
    """The first measurement is kept for further submissions, because their questions are the same."""
    with activate(TestContext(id="a test of its own")):
        check(Stepping(lambda n: n))
        before = STEPS["reference"]
        check(Stepping(lambda n: n))
        assert STEPS["reference"] == before
        with pytest.raises(Failed):
            check(Stepping(lambda n: 100 * n))
        assert STEPS["reference"] > before
