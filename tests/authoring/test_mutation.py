"""`softmark mutate` edits the reference in many places and says which edits no test notices."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from softmark.authoring.arguments import form_of
from softmark.authoring.drawn_calls import CallSource
from tests.authoring.test_conditions import IN_TURN
from tests.support.tiny_homework import HIDDEN, REFERENCE, TOML, course, softmark

TWICE_POSITIVE = REFERENCE.replace("return 2 * x", "return 2 * x.abs().abs()")
KEPT = """
[[survivor]]
function = "double"
edits = [{edits}]
because = "{because}"
right = {right}
"""
STRICT = IN_TURN.replace("[x[:1]], [100 * x])", "[x[:1]], [100 * x], [x[None, :1]], [x[None]], [x[:1, None]])").replace(
    "agree_in_turn,", "agree_in_turn, keeps_dtype, leaves_inputs,"
)
STRICT += """    keeps_dtype(student.double, x.float())
    leaves_inputs(student.double, x)
"""


def mutated(root: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Run the command, and return its exit code and what it tells of the tiny homework."""
    done = softmark(root, "mutate", "tiny", "--jobs", "1", "--json", *words)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)["homeworks"]["tiny"]


def explained(root: Path, edits: list[str], because: str = "Both are the same.", *, right: bool = False) -> None:
    listed = ", ".join(json.dumps(edit, ensure_ascii=False) for edit in edits)
    words = KEPT.format(edits=listed, because=because, right=str(right).lower())
    (root / "graders/tiny/survivors.toml").write_text(words)


class TestCommand:
    """Every mutant is caught, equivalent or a hole, and what survives is explained."""

    def test_tests_that_let_nothing_through(self, tmp_path: Path) -> None:
        code, told = mutated(course(tmp_path, hidden=STRICT))
        assert code == 0, told
        assert told["mutants"] == told["caught"] >= 10
        assert told["equivalent"] == told["survivors"] == 0

    def test_holes(self, tmp_path: Path) -> None:
        """What no test compares is printed as an edit, with a call where it shows."""
        root = course(tmp_path, hidden=HIDDEN)
        code, told = mutated(root)
        assert code == 1
        assert told["mutants"] == told["caught"] + told["equivalent"] + told["survivors"]
        (hole,) = (hole for hole in told["holes"] if hole["kind"] == "at size 1 of axis -1")
        assert hole["edit"] == "return 2 * x → return 1.01 * (2 * x) if x.shape[-1:] == (1,) else 2 * x"
        assert hole["differs_at"].startswith("1: (1,) float")
        printed = softmark(root, "mutate", "tiny", "--jobs", "1").stdout
        assert " ".join(hole["edit"].split()) in " ".join(printed.split())

    def test_several_homeworks(self, tmp_path: Path) -> None:
        """Each has figures of its own, which are those that it has alone."""
        root = course(tmp_path, hidden=STRICT, mistakes="", equivalents="")
        loose = root / "graders/loose"
        loose.mkdir()
        (loose / "homework.toml").write_text(TOML)
        (loose / "test_hidden.py").write_text(HIDDEN.replace("import tiny", "import loose"))
        (root / "reference/loose.py").write_text(REFERENCE)
        done = softmark(root, "mutate", "tiny", "loose", "--jobs", "2", "--json")
        told = json.loads(done.stdout)["homeworks"]
        assert told["tiny"] == mutated(root)[1]
        assert told["loose"]["mutants"] == told["tiny"]["mutants"]
        assert told["loose"]["caught"] < told["tiny"]["caught"]
        assert told["loose"]["survivors"] == len(told["loose"]["gaps"]) - told["loose"]["equivalent"] > 0

    def test_equivalents_and_their_reasons(self, tmp_path: Path) -> None:
        """A mutant that agrees everywhere needs a line, too. A line that nothing needs is a gap."""
        root = course(tmp_path, hidden=STRICT, reference=TWICE_POSITIVE, mistakes="", equivalents="")
        code, told = mutated(root)
        equivalents = [found["edit"] for found in told["equivalents"]]
        assert (code, told["survivors"]) == (1, 0)
        assert "x.abs().abs() → x.abs()" in equivalents
        explained(root, equivalents)
        assert mutated(root)[0] == 0
        explained(root, [*equivalents, "2 → 3", "2 → 7"])
        code, told = mutated(root)
        assert code == 1
        assert told["gaps"] == [
            {
                "subject": "double: 2 → 3",
                "what": "survivors.toml explains this, and it does not survive: remove the line",
            },
            {
                "subject": "double: 2 → 7",
                "what": "survivors.toml explains this, and there is no such mutant: remove the line",
            },
        ]

    def test_holes_that_are_explained(self, tmp_path: Path) -> None:
        """A hole with a reason is no gap, and it counts as wrong unless the handout leaves open what it changes."""
        root = course(tmp_path, hidden=HIDDEN)
        first = mutated(root)[1]
        survivors = [found["edit"] for found in (*first["equivalents"], *first["holes"])]
        explained(root, survivors, because="No test asks for it.")
        code, told = mutated(root)
        assert (code, told["survivors"], told["left_open"]) == (0, first["survivors"], 0)
        assert told["share"] == first["share"] < 1
        explained(root, survivors, because="The handout leaves it open.", right=True)
        code, told = mutated(root)
        assert (code, told["survivors"], told["left_open"]) == (0, 0, first["survivors"])
        assert told["share"] == 1
        assert {found["because"] for found in told["open"]} == {"The handout leaves it open."}

    def test_sample(self, tmp_path: Path) -> None:
        """A sample is a part of the whole, and always the same."""
        root = course(tmp_path, hidden=HIDDEN)
        whole, some = mutated(root)[1], mutated(root, "--sample", "4")[1]
        assert 0 < some["mutants"] < whole["mutants"]
        assert [hole for hole in whole["holes"] if hole in some["holes"]] == some["holes"]
        assert mutated(root, "--sample", "4")[1] == some

    def test_broken_explanations(self, tmp_path: Path) -> None:
        """A file that says no reason is refused with its line."""
        root = course(tmp_path)
        explained(root, ["2 → 3"], because=" ")
        done = softmark(root, "mutate", "tiny")
        assert done.returncode == 2
        assert "graders/tiny/survivors.toml:5: because must say why no test catches this" in done.stderr


class TestDrawnCalls:
    """Calls are drawn in the forms of those that the tests make."""

    def test_arguments_fit_each_other(self) -> None:
        """A size changes wherever it stands, with its multiples."""
        form = form_of(None, {}, (torch.randn(5, 3), torch.randn(12, 3)), {"n_heads": 3})
        calls = list(islice(CallSource([form], 1).calls(), 200))
        assert all(x.shape[-1] == W.shape[-1] == call.kwargs["n_heads"] for call in calls for x, W in [call.args])
        assert {W.shape[0] / W.shape[1] for _, W in (call.args for call in calls)} >= {4.0}
        assert {x.shape[-1] for x, _ in (call.args for call in calls)} >= {1, 2, 3, 5}
        assert {x.dtype for x, _ in (call.args for call in calls)} == {torch.float32}

    def test_numbers_are_of_their_kind(self) -> None:
        """Rows of masks keep a True if those of the tests do; indices stay within their axis."""
        x, mask = torch.randn(2, 7, dtype=torch.float64), torch.ones(2, 7, dtype=torch.bool)
        form = form_of(None, {}, (x, x, mask, torch.tensor([0, 6])), {"n": 7})
        calls = list(islice(CallSource([form], 1).calls(), 200))
        assert all(call.args[0] is call.args[1] for call in calls)
        assert all(bool(call.args[2].any(-1).all()) for call in calls)
        assert all(int(call.args[3].max()) < call.kwargs["n"] for call in calls)
        assert {call.args[0].dtype for call in calls} == {torch.float64, torch.float32}

    def test_a_function_that_the_test_lends(self) -> None:
        """Its place is taken by an elementwise function of torch."""
        form = form_of(None, {}, (torch.randn(5, 3), lambda x: 2 * x), {})
        (call,) = islice(CallSource([form], 1).calls(), 1)
        assert call.args[1] is torch.tanh

    def test_words(self) -> None:
        """Texts, lists, dictionaries and numbers beside them come as they were recorded, and changed."""
        words = [([b"t", b"h"], 2), ([b"e"], 1)]
        form = form_of(None, {}, ("a text of words", words, {7: b"th"}, 260), {})
        calls = [call.args for call in islice(CallSource([form], 1).calls(), 200)]
        assert calls[0] == ("a text of words", words, {7: b"th"}, 260)
        assert {type(member) for _, drawn, _, _ in calls for member in drawn} == {tuple}
        for place in range(4):
            assert len({repr(args[place]) for args in calls}) > 3
        assert min(number for _, _, _, number in calls) > 250

    def test_the_same_seed_draws_the_same(self) -> None:
        form = form_of(None, {}, (torch.randn(5, 3),), {})
        first, second = (list(islice(CallSource([form], 1).calls(), 20)) for _ in range(2))
        assert all(torch.equal(a.args[0], b.args[0]) for a, b in zip(first, second, strict=True))
