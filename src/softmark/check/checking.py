"""Runs the public tests of a homework on a student's own work, on the student's own machine.

The tests run as in grading (grading/grade.py), at isolation level `none`. Every public test counts one. A test that
meets a function which is not written yet has not failed: it was not run, and says what it waits for.
"""

from __future__ import annotations

import dis
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache, partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from types import CodeType

import msgspec
import pytest

from softmark.check.earlier_parts import EarlierParts
from softmark.check.failed_calls import written
from softmark.check.missing_imports import Foreign
from softmark.check.public_tests import TESTS, Handout
from softmark.check.worked_examples import WorkedExample, worked_example
from softmark.course.homework import Homework
from softmark.course.testspecs import Declaration, TestSpec, case_id, check_unique
from softmark.grading.case_run import CaseRun
from softmark.grading.collected_tests import Tests, by_test
from softmark.grading.grade import Conditions, grade_submission
from softmark.grading.job import Job
from softmark.grading.pytest_runner import NotCollected, PytestRunner, run_in_pytest
from softmark.intake.model import SubmittedFiles
from softmark.records.errors import ConfigError, UsageError
from softmark.records.limits import Limits
from softmark.records.result import CaseResult, Outcome, Result, Status, Submission, TestResult
from softmark.records.verdict import Category, Code, Verdict
from softmark.sandbox.own_machine import Sandbox
from softmark.verdict.context import current_test
from softmark.verdict.naming import common_causes

_STARTER_LINE = re.compile(r"raise NotImplementedError\b(?:\(\s*f?['\"]part ([\w.]+): ([\w.]+))?")


def run_public_tests(
    folder: Path,
    handout: Handout,
    handed: SubmittedFiles,
    sandbox: Sandbox,
    part: str | None = None,
    foreign: Sequence[Foreign] = (),
    edits: Sandbox | None = None,
    function: str | None = None,
) -> Result:
    """Return the result of a homework's public tests: all of them, one part's, or those of one function.

    `foreign` are the libraries that the student's code imports and grading lacks; the student is warned of them. In
    `edits` the line of a mistake without a name is looked for; None if it is not. Raise ConfigError if the tests are
    broken, UsageError if the homework has no such part.
    """
    if part is not None and part not in {known.number for known in handout.parts}:
        numbers = ", ".join(known.number for known in handout.parts)
        raise UsageError(f"{handout.homework} has no part {part!r}; its parts are {numbers}.")
    results = list[Result]()

    def use(tests: Tests) -> None:
        conditions = Conditions(sandbox, _limits(handout), edits=edits)
        results.append(_check(tests, conditions, handout, handed, _Chosen.of(tests, part, function)))

    _use_public_tests(folder, handout, use)
    return _with_warnings(results[0], foreign)


def run_again(
    folder: Path, handout: Handout, handed: SubmittedFiles, sandbox: Sandbox, test: TestResult, case: CaseResult
) -> None:
    """Run one case of a public test again, for what the sandbox does in it."""

    def use(tests: Tests) -> None:
        spec = next(spec for spec in tests.specs if spec.name == test.name)
        items = {spec.nodeid: [item for item in tests.items[spec.nodeid] if case_id(item) == case.id]}
        job = Job(Submission(handed.main, handed.main, handed.main), handed)
        _graded(replace(tests, items=items), Conditions(sandbox, _limits(handout)), job, _Chosen([spec.part], [spec]))

    _use_public_tests(folder, handout, use)


def _use_public_tests(folder: Path, handout: Handout, use: Callable[[Tests], None]) -> None:
    """Call a function with the collected public tests, inside of pytest. Raise ConfigError if they are broken."""
    file = folder / TESTS
    if not file.is_file():
        raise ConfigError(str(file), 1, "there are no public tests; get the homework's folder anew")
    examples = Examples(handout)

    def collected(runner: PytestRunner, items: list[pytest.Item]) -> None:
        use(_public_tests(folder, handout, items, runner, examples))

    try:
        run_in_pytest(file, folder, collected, examples)
    except NotCollected as error:
        raise ConfigError(TESTS, 1, f"the public tests could not be run: {error}; get them anew") from error


def _limits(handout: Handout) -> Limits:
    return Limits(**handout.limits)  # type: ignore[arg-type]


class Examples:
    """The plugin of pytest that has the fixture `example`, and names mistakes by what worked examples say."""

    def __init__(self, handout: Handout) -> None:
        self._worked = _worked_examples(handout)
        self._not_made: defaultdict[str, set[str]] = defaultdict(set)
        """For each case, the mistakes that the student has not made, because an example that shows them was answered
        right."""

    @pytest.fixture
    def example(self) -> Callable[..., None]:
        """Return `example`: `example(student.scores, "scores")` compares a function with a worked example.

        The functions that the example lends follow: `example(student.greedy, "greedy", step)`.
        """

        def check(got: object, name: str, *functions: Callable[..., object]) -> None:
            worked = self._worked(name)
            worked.check(got, *functions, naming=current_test().described)
            self._not_made[current_test().id].update(slip.name for slip in worked.slips)

        return check

    def name_part(self, runs: Sequence[CaseRun]) -> None:
        """Give each run of a part what explains all wrong answers of the part, else what explains its own."""
        not_made = {name for run in runs for name in self._not_made[run.context.id]}
        possible = {id(run): [_without(verdict, not_made) for verdict in run.verdicts] for run in runs}
        shared = common_causes([verdict for verdicts in possible.values() for verdict in verdicts])
        for run in runs:
            run.causes = shared or common_causes(possible[id(run)])
            if run.failed and run.context.last_call is not None:
                run.call = written(run.context.last_call)


@lru_cache(maxsize=1)
def _worked_examples(handout: Handout) -> Callable[[str], WorkedExample]:
    """Return a function that returns each worked example once: edits of a student's code are tried with it again."""
    return cache(partial(worked_example, handout))


def _without(verdict: Verdict, not_made: Container[str]) -> Verdict:
    """Return a verdict without the causes that need a mistake which the student has not made."""
    causes = tuple(cause for cause in verdict.causes if not any(name in not_made for name in cause.mistakes))
    return msgspec.structs.replace(verdict, causes=causes)


def _public_tests(
    folder: Path, handout: Handout, items: Sequence[pytest.Item], runner: PytestRunner, examples: Examples
) -> Tests:
    """Return the public tests, of a homework in which each part is worth as many points as it has of them."""
    cases = by_test(items)
    without_points = handout.as_homework(folder, {})
    order = [part.number for part in handout.parts]
    specs = [_spec(nodeid, found, without_points) for nodeid, found in cases.items()]
    check_unique(specs)
    specs.sort(key=lambda spec: order.index(spec.part))
    counts = {part.number: sum(spec.part == part.number for spec in specs) for part in handout.parts}
    homework = handout.as_homework(folder, counts)
    return Tests(homework, tuple(specs), cases, runner, examples.name_part, public=True)


def _spec(nodeid: str, items: Sequence[pytest.Item], homework: Homework) -> TestSpec:
    """Return a public test as a TestSpec. Raise ConfigError if it belongs to no part."""
    declared = Declaration(items[0], homework.root)
    number = str(declared.value("number"))
    part = homework.part_of(number)
    if part is None:
        raise declared.wrong("def", f'belongs to no part: write @number("3.1") for a test of part 3, not {number!r}')
    title = (declared.docstring.strip().splitlines() or [nodeid])[0]
    return TestSpec(
        name=nodeid.partition("::")[2],
        nodeid=nodeid,
        number=number,
        part=part.number,
        title=title,
        weight=Fraction(1),
        visibility="visible",
        tags=(),
        hide_errors=None,
        leaderboard=None,
        all_or_nothing=True,
        cases=tuple(case_id(item) for item in items),
        file=declared.file,
        line=declared.line,
    )


@dataclass(frozen=True)
class _Chosen:
    """The parts that are checked, and those of their tests that are run."""

    parts: Collection[str]
    specs: Collection[TestSpec]

    @classmethod
    def of(cls, tests: Tests, part: str | None, function: str | None) -> _Chosen:
        """Return what is asked for. The tests of a function are those of its parts that speak of it."""
        if function is None:
            return cls.whole(tests, [part] if part else [known.number for known in tests.homework.parts])
        parts = [known.number for known in tests.homework.parts if function in (*known.functions, *known.roots)]
        whole, name = cls.whole(tests, parts), function.partition(".")[0]
        return cls(parts, [spec for spec in whole.specs if name in _speaks_of(tests, spec)] or whole.specs)

    @classmethod
    def whole(cls, tests: Tests, parts: Collection[str]) -> _Chosen:
        """Return all tests of some parts."""
        return cls(parts, [spec for spec in tests.specs if spec.part in parts])


def _check(tests: Tests, conditions: Conditions, handout: Handout, handed: SubmittedFiles, chosen: _Chosen) -> Result:
    """Return the result of the chosen tests; earlier parts are run, too, if they may explain a failure."""
    earlier = EarlierParts(tests.homework.parts, _builds_on(tests, handout), handed)
    job = Job(Submission(handed.main, handed.main, handed.main), handed, repairs=True)
    result = _graded(tests, conditions, job, chosen)
    known = result.tests
    failed = [part for part in chosen.parts if earlier.fails(part, known)]
    others = {number for part in failed for number in earlier.built_on_by(part)}.difference(chosen.parts)
    if others:
        plainly = msgspec.structs.replace(job, repairs=False)
        known += _graded(tests, conditions, plainly, _Chosen.whole(tests, others)).tests
    return result.with_test(*(earlier.explained(test, known) for test in result.tests))


def _graded(tests: Tests, conditions: Conditions, job: Job, chosen: _Chosen) -> Result:
    """Return the result of the chosen tests, in which a test that met an unwritten function is not run."""
    specs, counts = tuple(chosen.specs), Counter(spec.part for spec in chosen.specs)
    *_, result = grade_submission(replace(tests, specs=specs), conditions, job)
    parts = tuple(
        msgspec.structs.replace(part, points=float(counts[part.number]))
        for part in result.parts
        if part.number in chosen.parts
    )
    result = msgspec.structs.replace(result, parts=parts, max_score=float(len(specs)))
    return result.with_test(*(_settled(test, tests.homework) for test in result.tests))


def _builds_on(tests: Tests, handout: Handout) -> dict[str, set[str]]:
    """Return for each part the parts that it builds on, those included whose functions its tests speak of.

    A test of part 4 may hold an answer against the student's part 2.
    """
    builds_on = {part.number: set(part.builds_on) for part in handout.parts}
    for spec in tests.specs:
        names = _speaks_of(tests, spec)
        named = {part.number for part in tests.homework.parts if names.intersection(part.functions)}
        builds_on[spec.part] |= named - {spec.part}
    return builds_on


def _speaks_of(tests: Tests, spec: TestSpec) -> set[str]:
    """Return the names of the student's functions that a test asks for."""
    item = tests.items[spec.nodeid][0]
    return _asked_of_student(item.function.__code__) if isinstance(item, pytest.Function) else set()


def _asked_of_student(code: CodeType) -> set[str]:
    """Return the names that a test looks up in `student`. A library may have the same names: `nn.RNN`."""
    found = set()
    for before, step in pairwise(dis.get_instructions(code)):
        loaded = before.argval[-1:] if isinstance(before.argval, tuple) else (before.argval,)
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and loaded == ("student",):
            found.add(step.argval)
    return found.union(*(_asked_of_student(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _settled(test: TestResult, homework: Homework) -> TestResult:
    """Return a test that met an unwritten part as "not run". It says only which part it waits for."""
    test = msgspec.structs.replace(test, all_or_nothing=False)  # the score is known; reports would speak of marks
    waits = [_waits_for(verdict, test.part, homework) for verdict in test.verdicts]
    if test.outcome is not Outcome.FAILED or not all(waits) or not waits:
        return test
    code, fact = next(wait for wait in waits if wait)
    verdict = Verdict(Category.ERROR, fact, code=code)
    first, *others = (msgspec.structs.replace(c, outcome=Outcome.NOT_RUN, verdicts=()) for c in test.cases)
    cases = (msgspec.structs.replace(first, verdicts=(verdict,)), *others)
    return msgspec.structs.replace(test, cases=cases, outcome=Outcome.NOT_RUN)


def _waits_for(verdict: Verdict, part: str, homework: Homework) -> tuple[Code, str] | None:
    """Return what is not written yet, as a code and in words, if there is no answer because of it.

    The student's last line says which part and function it is, if it is still a line of the starter.
    """
    found = _STARTER_LINE.match(verdict.frames[-1].text) if verdict.frames else None
    if found is None:
        return (Code.NOT_WRITTEN, "not done yet") if verdict.code == Code.NOT_WRITTEN else None
    number, name = found.groups()
    own = homework.part_of(part)
    if name is None or (number == part and own is not None and len(own.functions) == 1):
        return Code.NOT_WRITTEN, "not done yet"
    if number == part:
        return Code.NOT_WRITTEN, f"{name} is not done yet"
    return Code.WAITS, f"waits for part {number}: {name} is not done yet"


def _with_warnings(result: Result, foreign: Sequence[Foreign]) -> Result:
    """Return the result with notes on broken tests, and on libraries that only this machine has or a function needs."""
    if result.status is Status.NOT_GRADABLE:
        return result
    faulty = [test for test in result.tests if test.outcome is Outcome.GRADER_ERROR]
    broken = [f"public test {test.number} is broken, get it anew: {test.verdicts[0].staff}" for test in faulty]
    told = [found.sentence for found in foreign if found.user or _is_here(found.library)]
    return msgspec.structs.replace(result, notes=(*result.notes, *broken, *told))


def _is_here(library: str) -> bool:
    """Return whether a library can be imported here. If not, the failed import has a note of its own."""
    try:
        return library in sys.modules or find_spec(library) is not None
    except (ImportError, ValueError):
        return False
