"""The pytest plugin: options, and the names of fixtures that hidden and public tests use.

pytest loads it in every run on a machine where softmark is installed, so it imports nothing large. The fixtures that
work come with the runner (pytest_runner.py). Plain pytest, `pytest graders/<hw> --submission FILE`, is in plain.py.
"""

from __future__ import annotations

import pytest

from softmark.course.testspecs import ALL_OR_NOTHING


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("softmark", "grading of a submission by hidden tests")
    group.addoption(
        "--submission", metavar="PATH", help="the file, notebook or folder to grade with the hidden tests of a homework"
    )
    group.addoption(
        "--isolation", choices=("full", "user", "process", "none"), default="full",
        help="how the student's code is walled in; nothing is graded below it (default: full)",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{ALL_OR_NOTHING}: the test earns its weight only if every case passes")
    if config.getoption("--submission", None):
        from softmark.grading.plain import PlainPytest

        config.pluginmanager.register(PlainPytest(config), "softmark-plain")


@pytest.fixture
def student() -> None:
    """Fail, because no submission is graded. If one is, PytestRunner replaces this fixture."""
    pytest.fail("no submission to grade: name one with --submission FILE", pytrace=False)


@pytest.fixture
def set_score() -> None:
    """Let a test name `set_score` as an argument without a default; partial_credit passes the real one."""


@pytest.fixture
def set_leaderboard_value() -> None:
    """Let a test name `set_leaderboard_value` as an argument; leaderboard passes the real one."""
