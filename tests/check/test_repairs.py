"""Repairs in `softmark check`: a mistake that no worked example names gets its line, and a right file costs nothing."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.course.homework import homework_names
from softmark.records.result import Outcome, Result, encode
from softmark.sandbox.own_machine import Unheard
from softmark.student import find_work
from tests.conftest import ROOT
from tests.support.sandboxes import not_for_ever

NAMED, OTHER_NAME = "attention_scores", "positional_encoding"
# Slips that no worked example shows: part, a text of the reference, what a student would write, and what is said.
SLIPS = {
    "attention_scores": ("5", "blocked = ~mask", "blocked = ~mask.flip(-1)", "`flip` is a step that"),
    "building_blocks": ("1", "X @ W.T + b", "X @ W.T.abs() + b", "`abs` is a step that"),
    "byte_pair_encoding": ("6", 'errors="replace")', 'errors="replace").upper()', "`upper` is a step that"),
    "cost_model": ("4", "S = X @ W_router", "S = X.abs() @ W_router", "`abs` is a step that"),
    "language_model": (
        "4",
        "keepdim=True)) / temperature",
        "keepdim=True)).abs() / temperature",
        "`abs` is a step that",
    ),
    "lstm_gates": ("3", "o * torch.tanh(c_t)", "o * torch.tanh(c_t).abs()", "`abs` is a step that"),
    "multi_head": ("1", "blocks.transpose(-3, -2)", "blocks.transpose(-3, -2).flip(-1)", "`flip` is a step that"),
    "positional_encoding": ("1", "10000 ** (2 * i / d)", "10000 ** (3 * i / d)", "check the number `3`."),
    "recurrent": ("1", "return torch.tanh(z)", "return torch.tanh(z).abs()", "`abs` is a step that"),
    "seq2seq": ("1", "return z @ v ", "return z.abs() @ v ", "`abs` is a step that"),
    "text_features": ("5", "X / torch.where", "X.abs() / torch.where", "`abs` is a step that"),
    "transformer_block": ("1", "(centred**2).mean(dim=-1", "(centred**2).mean(dim=-2", "check the axis at `-2`."),
    "vision_transformer": ("3", "return context, weights", "return context.abs(), weights", "`abs` is a step that"),
    "word_vectors": ("2", "h = total / words", "h = total.abs() / words", "`abs` is a step that"),
}


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The processes that were started for edits."""
    started: list[object] = []
    opened = Unheard.open

    def counted(self: Unheard, *given: object) -> object:
        started.append(self)
        return opened(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Unheard, "open", counted)
    return started


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    with not_for_ever():
        yield


def reference(name: str) -> str:
    return (ROOT / f"reference/{name}.py").read_text()


def slipped(name: str) -> tuple[str, int]:
    """Return the reference with the slip of a homework in it, and its line."""
    _, right, wrong, _ = SLIPS[name]
    before, found, after = reference(name).partition(right)
    assert found
    return f"{before}{wrong}{after}", before.count("\n") + 1


def checked(place: Path, name: str, source: str, **more: object) -> Result:
    """Return the result of a solution's check in a homework's folder; `more` is written into its examples.json."""
    folder = Path(shutil.copytree(ROOT / "assignments" / name, place / "homework", dirs_exist_ok=True))
    handout = folder / "examples.json"
    handout.write_text(json.dumps({**json.loads(handout.read_text()), **more}))
    (folder / f"{name}.py").write_text(source)
    return find_work(folder, None).check()


def told(result: Result) -> dict[str, tuple[int, str, str]]:
    """Return for each part with a repair its line, the kind of slip, and the sentence."""
    return {t.part: (t.repair.line, t.repair.kind, t.repair.says) for t in result.tests if t.repair is not None}


@pytest.mark.parametrize("name", homework_names(ROOT))
class TestOfEveryHomework:
    def test_slip_without_a_name_gets_its_line(self, name: str, tmp_path: Path) -> None:
        source, line = slipped(name)
        part, _, _, words = SLIPS[name]
        said = told(checked(tmp_path, name, source))
        assert list(said) == [part]
        assert said[part][0] == line
        assert words in said[part][2]

    def test_right_file_costs_no_search(self, name: str, tmp_path: Path, searches: list[object]) -> None:
        result = checked(tmp_path, name, reference(name))
        assert result.total == result.max_score
        assert not searches


class TestSilence:
    NAME = "attention_scores"

    def test_rivals_on_two_lines(self, tmp_path: Path) -> None:
        """Either line is one too many, and nobody knows which one the student meant."""
        lines = "    V = 2 * V\n    V = 2 * V\n    V = V / 2\n"
        source = reference(self.NAME).replace("    Y = A @ V", f"{lines}    Y = A @ V")
        result = checked(tmp_path, self.NAME, source)
        assert result.total < result.max_score
        assert not told(result)

    def test_rival_of_another_kind(self, tmp_path: Path, searches: list[object]) -> None:
        """Public tests are few: a factor that is missing may make up for one that is too many in the line before."""
        source = reference(self.NAME).replace("s = (X @ h.unsqueeze(-1))", "s = 2 * (X @ h.unsqueeze(-1))")
        assert source != reference(self.NAME)
        assert not told(checked(tmp_path, self.NAME, source))
        assert searches

    @pytest.mark.parametrize(
        ("more", "said"),
        [({"repairs": "off"}, None), ({"repairs": "line"}, ("", "")), ({}, ("call too many", "`flip` is a step"))],
        ids=["off", "line", "line-and-kind"],
    )
    def test_switch(
        self, more: dict[str, str], said: tuple[str, str] | None, tmp_path: Path, searches: list[object]
    ) -> None:
        source, line = slipped(self.NAME)
        result = checked(tmp_path, self.NAME, source, **more)
        if said is None:
            assert not told(result)
            assert not searches
        else:
            ((at, kind, says),) = told(result).values()
            assert (at, kind) == (line, said[0])
            assert says.startswith(said[1])

    @pytest.mark.parametrize(
        "source",
        [
            reference(NAME).replace("return S / math.sqrt(d_k)", "return S"),
            (ROOT / f"assignments/{NAME}/{NAME}.py").read_text(),
            f"{reference(NAME)}\n\ndel attention\n",
        ],
        ids=["named", "starter", "not-defined"],
    )
    def test_no_search(self, source: str, tmp_path: Path, searches: list[object]) -> None:
        """A name explains it, nothing is written, or a function is not there."""
        result = checked(tmp_path, self.NAME, source)
        assert result.total < result.max_score
        assert not searches

    def test_part_that_may_follow_from_an_earlier_one(self, tmp_path: Path) -> None:
        """Both parts have a slip. Only the first one's line is told."""
        source, line = slipped(self.NAME)
        result = checked(tmp_path, self.NAME, source.replace("Y = A @ V", "Y = A.flip(-1) @ V"))
        assert {part: at for part, (at, _, _) in told(result).items()} == {"5": line}
        assert any(test.outcome is Outcome.FAILED for test in result.tests if test.part == "6")


class TestManners:
    NAME = "attention_scores"

    def test_no_edit_is_told(self, tmp_path: Path) -> None:
        source, _ = slipped(self.NAME)
        result = checked(tmp_path, self.NAME, source)
        assert {test.repair.edit for test in result.tests if test.repair is not None} == {""}
        assert "→" not in encode(result).decode()

    def test_prints_are_not_seen_again(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        source, _ = slipped(self.NAME)
        source = source.replace("blocked = ~", "print('IN IT', flush=True); blocked = ~")
        source += "\nprint('LOADED', flush=True)\n"
        seen = []
        for switch in ("off", "line"):
            result = checked(tmp_path, self.NAME, source, repairs=switch)
            assert bool(told(result)) is (switch == "line")
            in_tests = "".join(case.printed for test in result.tests for case in test.cases)
            seen.append((in_tests, result.printed.stdout, *capfd.readouterr()))
        assert seen[0] == seen[1]
        assert set(seen[0][0].split("\n")) == {"IN IT", ""}
        assert seen[0][1:] == ("LOADED\n", "", "")

    def test_nothing_is_left_behind(self, tmp_path: Path) -> None:
        source, _ = slipped(self.NAME)
        before, path = set(sys.modules), list(sys.path)
        assert told(checked(tmp_path, self.NAME, source))
        assert self.NAME not in set(sys.modules) - before
        assert sys.path == path
        assert sorted(file.name for file in (tmp_path / "homework").glob("**/*.pyc")) == []

    def test_edit_that_never_ends(self, tmp_path: Path) -> None:
        """Without its second line, the loop is endless. The slip behind it is found all the same."""
        source, line = slipped(self.NAME)
        source = source.replace("    blocked = ~", "    while True:\n        break\n    blocked = ~")
        said = told(checked(tmp_path, self.NAME, source, limits={"cpu_seconds": 0.3}))
        assert [at for at, _, _ in said.values()] == [line + 2]
