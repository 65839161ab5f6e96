"""Compares two gradebooks, student by student and part by part, to show what grading again has changed."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from softmark.course.digest import software_of
from softmark.feedback.escape import log_safe, one_line
from softmark.records.points import shown, total
from softmark.records.record import Record
from softmark.records.result import Graded
from softmark.report.gradebook import Grade, class_grades, csv_line, grades_of, write_csv


class Difference(Record, frozen=True):
    """Something whose points have changed; None means no mark, or no such part."""

    what: str
    """A part, as "1 attend"; or "lateness", with what it takes off as negative points; or "staff"."""
    old: float | None
    new: float | None


class Change(Record, frozen=True):
    """A student whose grade has changed."""

    id: str
    name: str
    old: float | None
    new: float | None
    old_status: str
    new_status: str
    differences: tuple[Difference, ...]

    @property
    def by(self) -> float | None:
        """The points by which the mark has risen; None if there was or is no mark."""
        return None if self.old is None or self.new is None else total((self.new, -self.old))


class Single(Record, frozen=True):
    """A student who is in one of the two gradebooks only."""

    id: str
    name: str
    mark: float | None


class Version(Record, frozen=True):
    """Software that graded before, and software that graded now. A class may have been graded by several versions."""

    what: str
    old: tuple[str, ...]
    new: tuple[str, ...]


class Regrade(Record, frozen=True):
    """All that differs, and the number of students of whom nothing does."""

    changed: tuple[Change, ...]
    added: tuple[Single, ...]
    missing: tuple[Single, ...]
    same: int
    mean_old: float | None
    """The mean mark then of the students who have a mark in both; None if nobody has."""
    mean_new: float | None
    """The mean mark now of the same students."""
    versions: tuple[Version, ...] = ()
    """The software that has another version than before."""

    @property
    def identical(self) -> bool:
        """Return True if nothing has changed for anybody."""
        return not (self.changed or self.added or self.missing)


def compare(old: Iterable[Graded], new: Iterable[Graded]) -> Regrade:
    """Return the difference of two gradings of a class."""
    old_software, new_software = _Software(), _Software()
    before, after = _by_student(old_software.noted(old)), _by_student(new_software.noted(new))
    both = [(before[student], after[student]) for student in sorted(before.keys() & after.keys())]
    changes = tuple(change for pair in both if (change := _change(*pair)))
    marks = [(b.mark, a.mark) for b, a in both if b.mark is not None and a.mark is not None]
    return Regrade(
        changed=changes,
        added=tuple(_single(after[student]) for student in sorted(after.keys() - before.keys())),
        missing=tuple(_single(before[student]) for student in sorted(before.keys() - after.keys())),
        same=len(both) - len(changes),
        mean_old=total(old for old, _ in marks) / len(marks) if marks else None,
        mean_new=total(new for _, new in marks) / len(marks) if marks else None,
        versions=tuple(_versions(old_software, new_software)),
    )


class _Software:
    """Notes the software that a class was graded by, each version once."""

    def __init__(self) -> None:
        self.versions: dict[str, set[str]] = defaultdict(set)

    def noted(self, graded: Iterable[Graded]) -> Iterator[Graded]:
        for one in graded:
            named = software_of(one.result.provenance)
            source = named.pop("softmark_sha256")
            if named["softmark"]:
                named["softmark"] += f" ({source[:8] or 'its files are not known'})"
            for what, number in named.items():
                if number:
                    self.versions[what].add(number)
            yield one


def _versions(old: _Software, new: _Software) -> Iterator[Version]:
    for what in dict.fromkeys((*old.versions, *new.versions)):
        before, now = old.versions[what], new.versions[what]
        if before != now and before and now:
            yield Version(what=what, old=tuple(sorted(before)), new=tuple(sorted(now)))


def summary(regrade: Regrade) -> str:
    """Return the difference in a sentence or two."""
    if regrade.identical:
        return f"No difference: {_students(regrade.same)} with the same marks in every part."
    marks = [change.by for change in regrade.changed]
    raised, lowered = sum(by is not None and by > 0 for by in marks), sum(by is not None and by < 0 for by in marks)
    others = len(marks) - raised - lowered
    said = [f"{raised} higher", f"{lowered} lower", *([f"{others} otherwise changed"] if others else [])]
    said.append(f"{regrade.same} the same")
    text = f"Marks: {', '.join(said)}."
    if regrade.mean_old is not None and regrade.mean_new is not None:
        text += f" Mean {regrade.mean_old:.2f} → {regrade.mean_new:.2f}."
    for students, what in ((regrade.added, "added"), (regrade.missing, "missing")):
        text += f" {_students(len(students))} {what}." if students else ""
    return text


def _by_student(graded: Iterable[Graded]) -> Mapping[str, Grade]:
    grades = class_grades(chain.from_iterable(grades_of(one) for one in graded))
    return {grade.student.id: grade for grade in grades}


def _change(old: Grade, new: Grade) -> Change | None:
    before, after = _points(old), _points(new)
    differences = tuple(
        Difference(what=what, old=before.get(what), new=after.get(what))
        for what in dict.fromkeys((*before, *after))
        if before.get(what) != after.get(what)
    )
    if not differences and (old.mark, old.status) == (new.mark, new.status):
        return None
    return Change(
        id=new.student.id,
        name=new.student.name or old.student.name,
        old=old.mark,
        new=new.mark,
        old_status=str(old.status).replace("_", " "),
        new_status=str(new.status).replace("_", " "),
        differences=differences,
    )


def _points(grade: Grade) -> dict[str, float]:
    """Return the numbers that a mark is made of; none if there is no mark."""
    if grade.mark is None:
        return {}
    points = {f"{part.number} {part.function}": part.earned for part in grade.parts}
    return {**points, "lateness": 0.0 - grade.deduction, "staff": grade.adjustment}


def _single(grade: Grade) -> Single:
    return Single(id=grade.student.id, name=grade.student.name, mark=grade.mark)


def _students(number: int) -> str:
    return f"{number} student" if number == 1 else f"{number} students"


COLUMNS = ("id", "name", "what", "old", "new", "change", "status")
NONE = "none"


def show_regrade(regrade: Regrade, console: Console) -> None:
    """Print who has another mark, and where it comes from; or that nobody has."""
    if not regrade.identical:
        console.print(Padding(_table(regrade, console), (1, 2, 0, 2)))
    console.print(Padding(_text(summary(regrade), console), (1, 2)))
    if regrade.versions:
        changes = (f"{v.what} {' and '.join(v.old)} → {' and '.join(v.new)}" for v in regrade.versions)
        console.print(Padding(_text(f"Graded by other versions: {', '.join(changes)}.", console), (0, 2, 1, 2)))


def write_regrade(regrade: Regrade, path: Path) -> None:
    """Replace the file: a line for each mark that has changed, and one for each part that changed it."""
    write_csv(path, regrade_lines(regrade), for_people=True)


def regrade_lines(regrade: Regrade) -> Iterator[bytes]:
    """Return the lines of the file."""
    yield csv_line(COLUMNS)
    for change in regrade.changed:
        mark = Difference(what="mark", old=change.old, new=change.new)
        for one in (mark, *change.differences):
            yield csv_line((change.id, change.name, one.what, one.old, one.new, _by(one), _status(change)))
    for student, old, new, status in _singles(regrade):
        yield csv_line((student.id, student.name, "mark", old, new, None, status))


def _table(regrade: Regrade, console: Console) -> Table:
    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
    for heading in ("id", "name", "old", "new", "change", "where"):
        table.add_column(heading, justify="right" if heading in ("old", "new", "change") else "left", overflow="fold")
    for change in regrade.changed:
        where = ", ".join(f"{one.what}: {_shown(one.old)} → {_shown(one.new)}" for one in change.differences)
        where = where if change.old_status == change.new_status else f"{_status(change)}; {where}".rstrip("; ")
        cells = (change.id, change.name, _shown(change.old), _shown(change.new), _signed(change.by), where)
        table.add_row(*(_text(cell, console) for cell in cells))
    for student, old, new, status in _singles(regrade):
        cells = (student.id, student.name, _shown(old), _shown(new), "", status)
        table.add_row(*(_text(cell, console) for cell in cells))
    return table


def _singles(regrade: Regrade) -> Iterator[tuple[Single, float | None, float | None, str]]:
    for student in regrade.added:
        yield student, None, student.mark, "added"
    for student in regrade.missing:
        yield student, student.mark, None, "missing"


def _by(difference: Difference) -> float | None:
    if difference.old is None or difference.new is None:
        return None
    return total((difference.new, -difference.old))


def _status(change: Change) -> str:
    same = change.old_status == change.new_status
    return change.new_status if same else f"{change.old_status} → {change.new_status}"


def _shown(mark: float | None) -> str:
    return NONE if mark is None else shown(mark)


def _signed(by: float | None) -> str:
    if by is None:
        return ""
    return f"+{shown(by)}" if by > 0 else shown(by)


def _text(text: str, console: Console) -> Text:
    """Return names as text, whatever they contain, in what the terminal can show."""
    safe = log_safe(one_line(text))
    if console.options.ascii_only:
        safe = safe.replace("→", "->")
    return Text(safe.encode(console.encoding, "backslashreplace").decode(console.encoding))
