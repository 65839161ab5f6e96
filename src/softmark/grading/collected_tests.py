"""Holds the collected tests of one homework, with the runner, the mistakes and the repeats that grading needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import pytest

from softmark.course.homework import Homework
from softmark.course.testspecs import TestSpec, base_nodeid
from softmark.grading.author_files import MistakesOnDemand
from softmark.grading.case_run import CaseRun, name_part
from softmark.grading.pytest_runner import PytestRunner
from softmark.grading.repeat import Repeats
from softmark.grading.resolved_names import check_names
from softmark.verdict.mistakes import Registry


@dataclass(frozen=True)
class Tests:
    """The collected tests of one homework, ready for submissions."""

    homework: Homework
    specs: tuple[TestSpec, ...]
    items: Mapping[str, Sequence[pytest.Item]]
    """The cases that are run, by the node id of their test. It may lack some that were not chosen."""
    runner: PytestRunner
    name_part: Callable[[Sequence[CaseRun]], None]
    """A function that gives the failed checks of one part the names of the mistakes that explain them."""
    mistakes: Registry | None = None
    """The named mistakes that are tried on a wrong answer. None where worked examples name them."""
    public: bool = False
    """True for public tests on a student's own machine. There is no reference, so what a test stumbles over is taken to
    be the answer. Each case is run once, because the student may be in it with a debugger."""
    backwards: bool = False
    """Run the cases of each part in reverse order. `verify` finds tests that depend on each other in this way."""
    repeats: Repeats | None = None
    """The tests that can be repeated for the next submission without their own code.

    None where there is no next, and where `verify` looks for tests that judge otherwise every time.
    """
    right_with_reference: set[str] = field(default_factory=set)
    """Cases that stumbled over an answer, were run with the reference, and passed."""

    @cached_property
    def spec_of(self) -> dict[str, TestSpec]:
        """The test that each node id belongs to."""
        return {spec.nodeid: spec for spec in self.specs}

    @cached_property
    def incomplete(self) -> frozenset[str]:
        """The parts of which not all tests are run. Of public tests a student may choose a part's."""
        if self.public:
            return frozenset()
        complete = [spec for spec in self.specs if len(self.items.get(spec.nodeid, ())) == len(spec.cases)]
        weights = {
            p.number: sum(spec.weight for spec in complete if spec.part == p.number) for p in self.homework.parts
        }
        return frozenset(part.number for part in self.homework.parts if weights[part.number] != part.points)


def by_test(items: Sequence[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """Return the cases of each test, by its node id."""
    found: dict[str, list[pytest.Item]] = {}
    for item in items:
        found.setdefault(base_nodeid(item), []).append(item)
    return found


def hidden_tests(
    homework: Homework,
    specs: tuple[TestSpec, ...],
    items: Sequence[pytest.Item],
    runner: PytestRunner,
    *,
    backwards: bool = False,
) -> Tests:
    """Return the hidden tests of a homework. Raise ConfigError if homework.toml has a name that does not exist."""
    check_names(homework)
    mistakes = MistakesOnDemand(homework)
    name = partial(name_part, registry=mistakes)
    return Tests(
        homework,
        specs,
        by_test(items),
        runner,
        name,
        mistakes,
        backwards=backwards,
        repeats=None if backwards else Repeats(),
    )
