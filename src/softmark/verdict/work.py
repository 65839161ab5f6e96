"""Checks that the work of a function grows with the size of a question as the reference's does.

Work is processor time, because nothing else sees loops of plain Python. A stopwatch alone would judge the machine. So
the student's time is compared with that of the reference, in a small question and in a large one.

The kernel counts the student's time, and the trusted side reads it: a process cannot write it. It is read before the
small question, between the two, and after the large one. So what a thread or a further process does in between counts,
too. Each measurement draws questions of its own, so an answer that was kept from an earlier one is of no use.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

from softmark.records.verdict import Category
from softmark.verdict.agree import agree
from softmark.verdict.answered import fail, record
from softmark.verdict.callee import StudentCallable, ask
from softmark.verdict.context import current_test
from softmark.verdict.values import map_tensors

_ATTEMPTS = 3
"""So many measurements in a row must be over the bound."""
_SLOWER = 2.0
"""A solution that is slower already in the small question may be slower in the large one: up to so many times more.
Time that is wasted in the small question gains nothing beyond it."""
_OF_A_CALL = 0.005
"""Seconds that a question may take whatever it asks: to send it, and to send the answer."""
_OF_A_STAND_IN = 0.0005
"""Seconds that a question to a stand-in for an earlier part may take."""

Draw = Callable[[], Sequence[Any]]
_Timed = tuple[tuple[Any, float], ...]
"""Answers to some questions, each with its seconds of processor time."""
_KNOWN: dict[tuple[Callable[..., Any], str, int], _Timed] = {}
"""The first measurement of a reference in a test, by the test's id and seed. The questions are the same each time."""


def work_grows_like(
    what: str, got: StudentCallable, want: Callable[..., Any], small: Draw, large: Draw, *, room: float = 4.0
) -> None:
    """Raise `Failed` if the answers are wrong, or if a large question takes far more work than it takes the reference.

    `small` and `large` are functions that draw the arguments of a question. They are called for each measurement, so
    use `draw` and the like in them. `what` says how the questions differ: "the number of merges". The large one may
    take `room` times the processor time of the reference, and up to twice as much if the small one takes longer, too.
    Only three measurements in a row cost marks. Choose a large question that takes the reference 10 to 50 ms.

    At isolation level `process` no time is measured there, and only the answers are checked.
    """
    for attempt in range(_ATTEMPTS):
        questions = [tuple(small()), tuple(large())]
        theirs = _of_reference(want, questions, keep=attempt == 0)
        ours = _of_student(got, questions)
        for (answer, _), (right, _) in zip(ours, theirs, strict=True):
            agree(answer, right)
        if _is_like(ours, theirs, room):
            record(got, False)
            return
    fact = f"{got.name}: a large question takes more than {room:g} times the processor time of the reference solution, "
    fact += f"in each of {_ATTEMPTS} measurements: the work grows faster with {what} than it has to; "
    fact += "which step looks at everything again each time?"
    fail(got, Category.PROPERTY, fact)


def _is_like(ours: _Timed, theirs: _Timed, room: float) -> bool:
    (_, small), (_, large) = ours
    (_, small_of_reference), (_, large_of_reference) = theirs
    slower = min(max(small / max(small_of_reference, _OF_A_CALL), 1.0), _SLOWER)
    return large <= room * slower * large_of_reference + _OF_A_CALL


def _of_student(got: StudentCallable, questions: Sequence[tuple[Any, ...]]) -> _Timed:
    """Return the student's answers, each with the processor time since the answer before."""
    timed, before = [], got.work()
    for question in questions:
        answer = ask(got, question, {}).value
        now = got.work()
        of_stand_ins = _OF_A_STAND_IN * (now.stand_ins - before.stand_ins)
        timed.append((answer, max(0.0, now.seconds - before.seconds - of_stand_ins)))
        before = now
    return tuple(timed)


def _of_reference(want: Callable[..., Any], questions: Sequence[tuple[Any, ...]], *, keep: bool) -> _Timed:
    """Return the reference's answers with their times, the shorter one of two. Those to be kept are measured once."""
    case = current_test()
    key = (want, case.id, case.seed)
    if keep and case.id and key in _KNOWN:
        return _KNOWN[key]
    timed = tuple(min((_timed(want, question) for _ in range(2)), key=lambda one: one[1]) for question in questions)
    if keep and case.id:
        _KNOWN[key] = timed
    return timed


def _timed(want: Callable[..., Any], question: tuple[Any, ...]) -> tuple[Any, float]:
    """Return the reference's answer and its time, without that of a collection of garbage that others have left."""
    args = map_tensors(question, lambda tensor: tensor.clone())
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        answer = want(*args)
        return answer, time.process_time() - start
    finally:
        if collecting:
            gc.enable()
