"""Tests run in pytest's own loop: what is raised there comes out, and nothing of pytest stays behind."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from softmark.grading.pytest_runner import NotCollected, PytestRunner, run_in_pytest
from softmark.records.verdict import Category
from tests.support.course import grade, named, write_course
from tests.support.sandboxes import sandbox

SOURCE = Path(__file__).parents[2] / "src/softmark"
TESTS = "import pytest\n\n@pytest.mark.parametrize('x', [1, 2])\ndef test_one(x):\n    pass\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with one test of two cases."""
    file = tmp_path / "test_of_a_course.py"
    file.write_text(TESTS)
    return file


def test_only_one_module_knows_private_pytest() -> None:
    """Everything that is private of pytest is used in one module, so that a new version is looked at there."""
    private = re.compile(r"^\s*(?:from|import) _pytest\b", re.MULTILINE)
    found = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if private.search(path.read_text())]
    assert found == ["grading/pytest_runner.py"]


def test_collects_every_case(file: Path) -> None:
    """The items are those of pytest, in its order."""
    seen: list[str] = []

    def use(runner: PytestRunner, items: list[pytest.Item]) -> None:
        seen.extend(item.name for item in items)

    run_in_pytest(file, file.parent, use)
    assert seen == ["test_one[1]", "test_one[2]"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_is_raised_comes_out(error: type[BaseException], file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """An exception in the loop is the caller's, and pytest prints nothing about it."""

    def use(runner: PytestRunner, items: list[pytest.Item]) -> None:
        raise error("so")

    with pytest.raises(error, match="so"):
        run_in_pytest(file, file.parent, use)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "cause"),
    [("import no_such_module\n", ModuleNotFoundError), ("def x(:\n", SyntaxError), ("1 / 0\n", ZeroDivisionError)],
)
def test_a_file_that_cannot_be_imported(text: str, cause: type[Exception], file: Path) -> None:
    """The exception of a file is kept, and its tests are not used."""
    file.write_text(text)

    def use(runner: PytestRunner, items: list[pytest.Item]) -> None:
        raise AssertionError("there is nothing to use")

    with pytest.raises(NotCollected) as told:
        run_in_pytest(file, file.parent, use)
    assert isinstance(told.value.cause, cause)


def test_settings_of_the_environment_are_put_back(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Options that a student has set for pytest hold afterwards, and not inside."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.delenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", raising=False)
    run_in_pytest(file, file.parent, lambda runner, items: None)
    assert os.environ["PYTEST_ADDOPTS"] == "--no-such-option"
    assert "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in os.environ


FAILING = {
    "check": "    agree(student.one, 3.0, 1.0)\n",
    "assert": "    assert student.one(1.0) == 3.0\n",
    "subtest": "    with subtests.test(n=1):\n        agree(student.one, 3.0, 1.0)\n",
}


@pytest.mark.parametrize("way", FAILING)
def test_pytest_makes_no_words_of_a_failure(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rendering of a failure is not read, and takes longer than the test: only the verdict is made."""

    def render(*which: object) -> None:
        raise NotImplementedError("pytest renders a failure")

    monkeypatch.setattr(pytest.Function, "repr_failure", render)
    test = f"@number('1')\n@weight(4)\ndef test_one(student, subtests):\n    'One.'\n{FAILING[way]}"
    with sandbox() as place:
        [result] = grade(write_course(tmp_path, test), place, "def one(x):\n    return 2 * x\n")
    [verdict] = named(result, "test_one").verdicts
    assert verdict.category is Category.VALUE
    assert named(result, "test_one").score == 0
