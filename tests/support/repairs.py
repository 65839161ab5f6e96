"""Makes a tiny course in which repairs are looked for, and counts the processes that this starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.limits import Level, Limits
from softmark.records.result import Result, Status, Submission
from softmark.records.verdict import Repair
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.student_process import StudentProcess
from tests.support.course import FILE, grade, references_of, write_course
from tests.support.sandboxes import not_for_ever

TRUTHS = """
import torch


def one(X):
    E = torch.exp(X - X.amax(dim=-1, keepdim=True))
    return E / E.sum(dim=-1, keepdim=True)


def two(X):
    return one(X) @ X.mT
"""
HIDDEN = '''
from reference.tiny import one, two


@number("1")
@weight(3)
@pytest.mark.parametrize("n", [3, 5])
def test_one(student, n):
    """One."""
    agree(student.one, one, draw("n m", n=n, m=4))


@number("2")
@weight(3)
@pytest.mark.parametrize("n", [3, 5])
def test_two(student, n):
    """Two."""
    agree(student.two, two, draw("n m", n=n, m=4))
'''
MISTAKES = """
from reference.tiny import one
from softmark import mistake


@mistake(one, says="Your rows do not sum to one.")
def wrong_axis(X):
    import torch
    return torch.softmax(X, dim=0)
"""
RIGHT = f"""import torch


def one(X):
    E = torch.exp(X - X.amax(dim=-1, keepdim=True))
    return E / E.sum(dim=-1, keepdim=True)
{TRUTHS.rpartition("one(X)")[0].rpartition("keepdim=True)")[2]}one(X) @ X.mT
"""
AXIS = RIGHT.replace("E.sum(dim=-1", "E.sum(dim=0")
OF_AXIS = Repair(
    FILE,
    6,
    "return E / E.sum(dim=0, keepdim=True)",
    "axis",
    "check the axis at `0`. Which one does the task name?",
    "0 → -1",
)


@dataclass
class CountingSandbox:
    """A sandbox that counts the processes which are started in it."""

    inner: Sandbox
    opened: int = 0
    processes: list[StudentProcess] = field(default_factory=list)
    level: Level = field(init=False)

    def __post_init__(self) -> None:
        self.level = self.inner.level

    def open(self, files: Mapping[str, bytes], limits: Limits) -> StudentProcess:
        self.opened += 1
        self.processes.append(self.inner.open(files, limits))
        return self.processes[-1]

    def close(self) -> None:
        self.inner.close()


def written_course(root: Path, setting: str = "") -> Path:
    """Write the course, with a line of its own in homework.toml."""
    write_course(root, HIDDEN, (3, 3))
    (root / "reference/tiny.py").write_text(TRUTHS)
    (root / "graders/tiny/mistakes.py").write_text(MISTAKES)
    config = root / "graders/tiny/homework.toml"
    config.write_text(f"{setting}\n{config.read_text()}")
    return root


def submission(source: str, *, repairs: bool = True) -> Job:
    return Job(Submission(id="one"), SubmittedFiles(FILE, {FILE: source.encode()}), repairs=repairs)


def graded(course: Path, place: CountingSandbox, source: str, *, repairs: bool = True) -> Result:
    with not_for_ever(), references_of(course):
        (result,) = grade(course, place, submission(source, repairs=repairs))
    assert result.status is not Status.GRADER_ERROR, result.staff_notes
    return result


def repairs_of(result: Result) -> list[Repair]:
    return [test.repair for test in result.tests if test.repair is not None]
