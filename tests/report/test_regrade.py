"""Two gradings of a class, and only what differs between them."""

import csv
import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from softmark.records.result import Graded, Provenance, Result, Status, Submitter
from softmark.report.regrade import Change, Difference, Regrade, Single, compare, show_regrade, summary, write_regrade
from tests.support.classroom import HOPPER, LOVELACE, NOETHER, TURING, better, class_of_five, grader_error, one, renamed
from tests.support.results import LATE, PAYLOADS, graded, handed_in, not_gradable, second_zero

OLD = (one("s1", LOVELACE), one("s2", HOPPER), one("s3", NOETHER))
NEW = (one("s1", LOVELACE, result=better()), one("s2", HOPPER, result=handed_in(LATE)), one("s4", TURING))


def printed(regrade: Regrade, encoding: str = "utf-8", width: int = 100) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="\n", write_through=True)
    show_regrade(regrade, Console(file=file, width=width, color_system=None, force_terminal=False))
    return raw.getvalue().decode(encoding)


def words(text: str) -> str:
    return " ".join(text.split())


class TestCompare:
    def test_of_the_same(self) -> None:
        """Nothing changed is an answer, and it is said."""
        regrade = compare(class_of_five(), reversed(class_of_five()))
        assert regrade.identical
        assert summary(regrade) == "No difference: 5 students with the same marks in every part."

    def test_only_what_differs(self) -> None:
        """Who has another mark, by how much and in which part; who came, who went."""
        regrade = compare(OLD, NEW)
        assert regrade.changed == (
            Change(
                id="1001", name="Lovelace, Ada", old=3, new=5, old_status="graded", new_status="graded",
                differences=(Difference(what="2 scores", old=1, new=3),),
            ),
            Change(
                id="1002", name="Hopper, Grace", old=3, new=1, old_status="graded", new_status="graded",
                differences=(Difference(what="lateness", old=0, new=-2),),
            ),
        )  # fmt: skip
        assert regrade.added == (Single(id="1004", name="Turing, Alan", mark=3),)
        assert regrade.missing == (Single(id="1003", name="Noether, Emmy", mark=3),)
        assert (regrade.same, regrade.mean_old, regrade.mean_new) == (0, 3, 3)
        assert [change.by for change in regrade.changed] == [2, -2]

    def test_grader_error_then_and_now(self) -> None:
        """No mark is not 0: it has neither risen nor fallen."""
        regrade = compare([one("s1", LOVELACE, result=grader_error())], [one("s1", LOVELACE)])
        (change,) = regrade.changed
        assert (change.old, change.new, change.by) == (None, 3, None)
        assert (change.old_status, change.new_status) == ("grader error", "graded")
        assert (regrade.mean_old, regrade.mean_new) == (None, None)
        assert summary(regrade) == "Marks: 0 higher, 0 lower, 1 otherwise changed, 0 the same."

    @pytest.mark.parametrize("before", [not_gradable(), second_zero()], ids=["not gradable", "graded"])
    def test_another_status_with_the_same_marks(self, before: Result) -> None:
        """Nothing in every part is one thing for a file that cannot be loaded and another for one that can."""
        after = second_zero() if before.status is Status.NOT_GRADABLE else not_gradable()
        regrade = compare([one("s1", LOVELACE, result=before)], [one("s1", LOVELACE, result=after)])
        (change,) = regrade.changed
        assert (change.old, change.new, change.by, change.differences) == (0, 0, 0, ())
        assert {change.old_status, change.new_status} == {"not gradable", "graded"}
        assert summary(regrade) == "Marks: 0 higher, 0 lower, 1 otherwise changed, 0 the same. Mean 0.00 → 0.00."
        assert "not gradable" in printed(regrade)

    def test_parts_that_cancel_out(self) -> None:
        """The same mark made of other parts is a difference, too."""
        result = one("s1", LOVELACE).result
        parts = (msgspec.structs.replace(result.parts[0], earned=1.0), result.parts[1], result.parts[2])
        parts = (*parts[:2], msgspec.structs.replace(parts[2], earned=1.0))
        (change,) = compare(
            [one("s1", LOVELACE)], [one("s1", LOVELACE, result=msgspec.structs.replace(result, parts=parts))]
        ).changed
        assert change.by == 0
        assert [difference.what for difference in change.differences] == ["1 project", "3 mask"]

    def test_is_found_by_student_not_by_submission(self) -> None:
        """Handing in again under another name is the same student."""
        assert compare([one("s1", LOVELACE)], [one("s9", LOVELACE)]).identical

    @pytest.mark.parametrize("unnamed", [0, 1])
    def test_name_is_known_from_either(self, unnamed: int) -> None:
        """The name of one source is shown if the other names nobody."""
        pair = [one("s1", LOVELACE), one("s1", LOVELACE, result=better())]
        pair[unnamed] = renamed(pair[unnamed], "")
        (change,) = compare(pair[:1], pair[1:]).changed
        assert change.name == "Lovelace, Ada"

    def test_versions(self) -> None:
        """Software is named if its version is another one, and not if one of the two is unknown."""
        before, after = (
            one("s1", LOVELACE, result=msgspec.structs.replace(graded(), provenance=Provenance(**versions)))
            for versions in (
                {"softmark": "0.1", "softmark_sha256": "a" * 64, "torch": "2.6", "python": "3.11", "numpy": ""},
                {"softmark": "0.1", "softmark_sha256": "b" * 64, "torch": "2.7", "python": "3.11", "numpy": "2.0"},
            )
        )
        regrade = compare([before], [after])
        assert [(v.what, v.old, v.new) for v in regrade.versions] == [
            ("softmark", ("0.1 (aaaaaaaa)",), ("0.1 (bbbbbbbb)",)),
            ("torch", ("2.6",), ("2.7",)),
        ]

    def test_several_versions_at_once(self) -> None:
        """A class that was graded by several versions has them all named, each once, and files that are not known."""
        graders = [
            one(
                f"s{n}",
                Submitter(id=f"{n}"),
                result=msgspec.structs.replace(graded(), provenance=Provenance(**versions)),
            )
            for n, versions in enumerate(
                [
                    {"softmark": "0.2", "torch": "2.6"},
                    {"softmark": "0.1", "torch": "2.7", "softmark_sha256": "c" * 64},
                    {"softmark": "0.1", "torch": "2.7", "softmark_sha256": "c" * 64},
                    {"softmark": "0.3", "softmark_sha256": "d" * 64},
                ]
            )
        ]
        regrade = compare(graders[:3], graders[3:])
        (version,) = regrade.versions
        assert (version.what, version.old) == ("softmark", ("0.1 (cccccccc)", "0.2 (its files are not known)"))
        text = words(printed(regrade, width=150))
        assert (
            "Graded by other versions: softmark 0.1 (cccccccc) and 0.2 (its files are not known) → 0.3 (dddddddd)."
            in text
        )

    def test_is_sorted(self) -> None:
        """Students stand in the order of their ids, whoever changed, came or went."""
        ids = [f"{n:03}" for n in range(40)]
        old = [one(f"s{id}", Submitter(id=id)) for id in ids[:30]]
        new = [one(f"s{id}", Submitter(id=id), result=better()) for id in ids[10:]]
        regrade = compare(reversed(old), reversed(new))
        assert [change.id for change in regrade.changed] == ids[10:30]
        assert [student.id for student in regrade.missing] == ids[:10]
        assert [student.id for student in regrade.added] == ids[30:]
        assert summary(regrade) == (
            "Marks: 20 higher, 0 lower, 0 the same. Mean 3.00 → 5.00. 10 students added. 10 students missing."
        )

    def test_is_plain_json(self) -> None:
        """The whole of it can be written as JSON and read back."""
        regrade = compare(OLD, NEW)
        assert msgspec.json.decode(msgspec.json.encode(regrade), type=Regrade) == regrade

    def test_of_nobody(self) -> None:
        """Two empty gradebooks are the same."""
        assert summary(compare((), ())) == "No difference: 0 students with the same marks in every part."


class TestShow:
    def test_table(self) -> None:
        """Old and new marks side by side, and where the difference comes from."""
        text = words(printed(compare(OLD, NEW)))
        assert "1001 Lovelace, Ada 3 5 +2 2 scores: 1 → 3" in text
        assert "1002 Hopper, Grace 3 1 -2 lateness: 0 → -2" in text
        assert "1004 Turing, Alan none 3 added" in text
        assert "1003 Noether, Emmy 3 none missing" in text
        assert "Marks: 1 higher, 1 lower, 0 the same. Mean 3.00 → 3.00. 1 student added. 1 student missing." in text

    def test_identical(self) -> None:
        """No table of nothing."""
        assert printed(compare(OLD, OLD)).strip() == "No difference: 3 students with the same marks in every part."

    def test_plain_ascii(self) -> None:
        """Where the terminal knows only ASCII, arrows and names still appear."""
        odd = tuple(renamed(graded, "Gödel, Kurt") for graded in NEW[:1])
        text = printed(compare(OLD[:1], odd), encoding="ascii")
        assert "2 scores: 1 -> 3" in text
        assert "G\\xf6del" in text

    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    def test_hostile_names(self, payload: str) -> None:
        """No name controls the terminal or a CI system."""
        text = printed(compare(OLD, [renamed(NEW[0], payload), *NEW[1:]]))
        assert all(c.isprintable() or c == "\n" for c in text)
        assert not [line for line in text.splitlines() if line.strip().startswith("::") or "##[" in line]


class TestCsv:
    def test_a_line_for_each_difference(self, tmp_path: Path) -> None:
        """First the mark, then the parts that made it so; what is not there is an empty cell."""
        write_regrade(compare(OLD, NEW), tmp_path / "regrade.csv")
        with (tmp_path / "regrade.csv").open(encoding="utf-8-sig", newline="") as file:
            assert list(csv.reader(file)) == [
                ["id", "name", "what", "old", "new", "change", "status"],
                ["1001", "Lovelace, Ada", "mark", "3", "5", "2", "graded"],
                ["1001", "Lovelace, Ada", "2 scores", "1", "3", "2", "graded"],
                ["1002", "Hopper, Grace", "mark", "3", "1", "-2", "graded"],
                ["1002", "Hopper, Grace", "lateness", "0", "-2", "-2", "graded"],
                ["1004", "Turing, Alan", "mark", "", "3", "", "added"],
                ["1003", "Noether, Emmy", "mark", "3", "", "", "missing"],
            ]

    def test_order_makes_no_difference(self, tmp_path: Path) -> None:
        """The same two gradings give the same bytes."""
        one_way, other_way = tmp_path / "a.csv", tmp_path / "b.csv"
        write_regrade(compare(OLD, NEW), one_way)
        write_regrade(compare(reversed(OLD), reversed(NEW)), other_way)
        assert one_way.read_bytes() == other_way.read_bytes()


def test_a_part_that_was_not_there() -> None:
    """A part that the homework has gained has no old points."""
    fewer = second_zero()
    fewer = msgspec.structs.replace(fewer, parts=fewer.parts[:2])
    old: tuple[Graded, ...] = (one("s1", LOVELACE, result=fewer),)
    (change,) = compare(old, [one("s1", LOVELACE, result=second_zero())]).changed
    assert change.differences == (Difference(what="3 mask", old=None, new=0),)
