"""Repairs through the engine: a wrong function without a name gets its line, nothing else costs or says anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from softmark.feedback.documents import as_html, as_lines
from softmark.feedback.feedback import Audience, feedback_for
from softmark.feedback.results_json import encoded
from softmark.grading import repairs as search
from tests.support.course import grade, references_of
from tests.support.notebooks import job, written
from tests.support.repairs import AXIS, OF_AXIS, RIGHT, TRUTHS, CountingSandbox, graded, repairs_of, written_course
from tests.support.sandboxes import sandbox


@pytest.fixture(scope="module")
def place() -> Iterator[CountingSandbox]:
    with sandbox() as opened:
        yield CountingSandbox(opened)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_course(tmp_path_factory.mktemp("course"))


class TestLine:
    def test_wrong_function_without_a_name_gets_its_line(self, course: Path, place: CountingSandbox) -> None:
        assert repairs_of(graded(course, place, AXIS)) == [OF_AXIS]

    def test_function_that_raises_gets_its_line(self, course: Path, place: CountingSandbox) -> None:
        (repair,) = repairs_of(graded(course, place, RIGHT.replace("@ X.mT", "@ X")))
        assert (repair.line, repair.kind) == (11, "transpose")

    def test_own_helper_is_looked_into(self, course: Path, place: CountingSandbox) -> None:
        helper = "def total(E):\n    return E.sum(dim=0, keepdim=True)\n\n\n"
        source = RIGHT.replace("E.sum(dim=-1, keepdim=True)", "total(E)").replace("def one", f"{helper}def one")
        (repair,) = repairs_of(graded(course, place, source))
        assert repair.line == 5

    def test_method_of_a_helping_class(self, course: Path, place: CountingSandbox) -> None:
        helper = "class Sums:\n    def total(self, E):\n        return E.sum(dim=0, keepdim=True)\n\n\n"
        source = RIGHT.replace("E.sum(dim=-1, keepdim=True)", "Sums().total(E)").replace("def one", f"{helper}def one")
        (repair,) = repairs_of(graded(course, place, source))
        assert repair.line == 6

    def test_later_part_is_mended_beside_a_wrong_earlier_one(self, course: Path, place: CountingSandbox) -> None:
        """Part 2 builds on part 1, and each has a slip of its own."""
        source = AXIS.replace("@ X.mT", "@ (-X.mT)")
        assert [repair.line for repair in repairs_of(graded(course, place, source))] == [6, 11]

    def test_cell_of_a_notebook(self, course: Path, place: CountingSandbox) -> None:
        notebook = job("tiny.ipynb", written("import torch", AXIS.removeprefix("import torch\n\n\n")))
        with references_of(course):
            (result,) = grade(course, place, msgspec.structs.replace(notebook, repairs=True))
        (repair,) = repairs_of(result)
        assert (repair.file, repair.line) == (notebook.files.cells[1], 3)

    @pytest.mark.parametrize("end", ["\r\n", "\r"])
    def test_other_line_ends(self, course: Path, place: CountingSandbox, end: str) -> None:
        (repair,) = repairs_of(graded(course, place, AXIS.replace("\n", end)))
        assert (repair.line, repair.text) == (OF_AXIS.line, OF_AXIS.text)

    def test_letters_beyond_ascii(self, course: Path, place: CountingSandbox) -> None:
        source = AXIS.replace("    E = ", '    "Größe π → ∞"\n    E = ').replace("E.sum", "(E + 0 * len('πß')).sum")
        (repair,) = repairs_of(graded(course, place, source))
        assert repair.line == 7


class TestUsualPlace:
    """Edits on several lines would do, and one line is where such a slip usually is."""

    @pytest.mark.parametrize(
        ("truth", "wrong", "kind", "told"),
        [
            ("return -(one(X) @ X.mT)", "S = one(X) @ X.mT\n    return S", "sign missing", "return S"),
            (
                "return one(X)[max(0, len(X) - 4) :]",
                "n = X.shape[0]\n    first = n - 4\n    return one(X)[first:n]",
                "bound",
                "first = n - 4",
            ),
            (
                "return torch.sin(one(X) @ X.mT) + X.sum()",
                "total = X.sum()\n    S = torch.sin(one(X) @ X.mT)\n    return S",
                "unused variable",
                "return S",
            ),
        ],
    )
    def test_is_told(
        self, place: CountingSandbox, tmp_path: Path, truth: str, wrong: str, kind: str, told: str
    ) -> None:
        course = written_course(tmp_path)
        reference = course / "reference/tiny.py"
        reference.write_text(TRUTHS.replace("return one(X) @ X.mT", truth))
        (repair,) = repairs_of(graded(course, place, RIGHT.replace("return one(X) @ X.mT", wrong)))
        assert (repair.kind, repair.text.strip()) == (kind, told)


class TestSilence:
    def test_rivals_on_two_lines(self, course: Path, place: CountingSandbox) -> None:
        """Either factor is one too many, and nobody knows which one the student meant."""
        source = RIGHT.replace("    E = ", "    X = 2 * X\n    X = 2 * X\n    X = X / 2\n    E = ")
        assert not repairs_of(graded(course, place, source))

    @pytest.mark.parametrize("requests", range(102, 122, 4))
    def test_rivals_that_are_not_all_tried(
        self, course: Path, place: CountingSandbox, monkeypatch: pytest.MonkeyPatch, requests: int
    ) -> None:
        """Whenever the budget ends, an edit on the other line may be among those that were not tried."""
        monkeypatch.setattr(search, "MOST_REQUESTS", requests)
        source = RIGHT.replace("    E = ", "    X = 2 * X\n    X = 2 * X\n    X = X / 2\n    E = ")
        assert not repairs_of(graded(course, place, source))

    def test_edit_that_changes_the_inputs(self, course: Path, place: CountingSandbox) -> None:
        """Without `neg`, the values would be right and the part would still lose marks: another edit is told."""
        first = "    E = torch.exp(X - X.amax(dim=-1, keepdim=True))\n"
        spoils = "    E = X.neg()\n    E -= E.amax(dim=-1, keepdim=True)\n    E = torch.exp(E)\n"
        assert RIGHT.count(first) == 1
        (repair,) = repairs_of(graded(course, place, RIGHT.replace(first, spoils)))
        assert (repair.line, repair.kind) == (7, "wrong variable")

    def test_two_slips(self, course: Path, place: CountingSandbox) -> None:
        source = AXIS.replace("torch.exp(", "torch.tanh(")
        assert not repairs_of(graded(course, place, source))

    @pytest.mark.parametrize(
        "source",
        [
            RIGHT,
            RIGHT.replace("    E = ", "    return torch.softmax(X, dim=0)\n    E = "),
            RIGHT.replace("def two", "def to"),
            RIGHT.replace("    E = ", "    raise NotImplementedError\n    E = "),
        ],
        ids=["right", "named", "not-defined", "not-written"],
    )
    def test_no_process_is_started(self, course: Path, place: CountingSandbox, source: str) -> None:
        started = []
        for repairs in (False, True):
            before = place.opened
            graded(course, place, source, repairs=repairs)
            started.append(place.opened - before)
        assert started[0] == started[1]

    def test_unnamed_mistake_starts_one(self, course: Path, place: CountingSandbox) -> None:
        before = place.opened
        graded(course, place, AXIS)
        assert place.opened - before > 2

    @pytest.mark.parametrize(
        "source",
        [
            AXIS,
            f"{AXIS}\n\none = torch.no_grad()(one)\n",
            AXIS.replace("    return E", f"    {'-' * 90}E\n    return E"),
        ],
        ids=["mended", "nothing-to-edit", "too-deep"],
    )
    def test_no_process_is_left(self, course: Path, place: CountingSandbox, source: str) -> None:
        before = len(place.processes)
        graded(course, place, source)
        assert len(place.processes) > before
        assert not any(process.alive for process in place.processes[before:])

    def test_switched_off(self, course: Path, place: CountingSandbox, tmp_path: Path) -> None:
        assert not repairs_of(graded(written_course(tmp_path, 'repairs = "off"'), place, AXIS))

    def test_only_the_line(self, course: Path, place: CountingSandbox, tmp_path: Path) -> None:
        (repair,) = repairs_of(graded(written_course(tmp_path, 'repairs = "line"'), place, AXIS))
        assert (repair.line, repair.kind, repair.says) == (6, "", "")


class TestMarks:
    @pytest.mark.parametrize("source", [RIGHT, AXIS, AXIS.replace("@ X.mT", "@ X")])
    def test_search_changes_nothing_else(self, course: Path, place: CountingSandbox, source: str) -> None:
        with_repairs, without = (graded(course, place, source, repairs=repairs) for repairs in (True, False))
        assert with_repairs.total == without.total
        for one, other in zip(with_repairs.tests, without.tests, strict=True):
            assert [case.verdicts for case in one.cases] == [case.verdicts for case in other.cases]


class TestWords:
    def test_student_reads_line_and_kind_and_no_edit(self, course: Path, place: CountingSandbox) -> None:
        result = graded(course, place, AXIS)
        feedback = feedback_for(result, Audience.STUDENT)
        said = as_lines(feedback.sections[0].blocks)
        assert "Line 6: check the axis at `0`. Which one does the task name?" in said
        assert "return E / E.sum(dim=0, keepdim=True)" in said
        page, platform = as_html(feedback), encoded(result).decode()
        for text in (said, page, platform):
            assert "check the axis at" in text
            assert "-1" not in text.replace("X.amax(dim=-1", "")
        assert '<div class="line marked"><span class="number">6' in page

    def test_staff_read_the_edit(self, course: Path, place: CountingSandbox) -> None:
        feedback = feedback_for(graded(course, place, AXIS), Audience.STAFF)
        assert "0 → -1" in as_lines(feedback.sections[0].blocks)
