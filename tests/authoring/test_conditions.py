"""`softmark verify` tries each function wrong under one condition at a time, and says where no test notices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from softmark.authoring.conditions import conditions_for, seen_in, spoil
from softmark.authoring.facts import Facts, ObservedFunction, facts_of
from tests.authoring.test_gaps import gaps
from tests.support.tiny_homework import HIDDEN, MISTAKES, TOML, course, softmark

TRIED = TOML.replace("conditions = false\n", "")
IN_TURN = HIDDEN.replace("agree,", "agree_in_turn, gradients_agree,").replace(
    'agree(student.double, ref.double, draw("n", n=5))',
    """x = draw("n", n=5)
    agree_in_turn(student.double, ref.double, [x], [x[:1]], [100 * x])
    for scale in (1, 100):
        gradients_agree(student.double, ref.double, scale * x)""",
)
EXCLUDED = """
[[excluded]]
functions = ["double"]
conditions = [{conditions}]
because = "{because}"
"""


def attend(X: torch.Tensor, n_heads: int, mask: torch.Tensor | None = None) -> torch.Tensor:
    """Return the tokens.

    X: (…, T, D)    the tokens
    mask            None, or boolean
    """
    return X * n_heads


class Scale(nn.Module):
    """A module with one weight."""

    def __init__(self, d_model: int, flipped: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """X: (…, T, D)"""
        return self.weight * X


def calls_of(*calls: tuple[Any, ...]) -> tuple[ObservedFunction, list[Facts]]:
    target = ObservedFunction({"attend": attend}, "attend")
    return target, [facts_of(target, None, {}, args, {}) for args in calls]


def words(target: ObservedFunction, calls: list[Facts]) -> dict[str, list[bool]]:
    """Return for each condition in which of the calls it holds."""
    return {
        found.words: [found.holds(now, calls[:index]) for index, now in enumerate(calls)]
        for found in conditions_for(target, seen_in(calls))
    }


class TestTable:
    """The conditions are found in the signature, the docstring and the calls of a function."""

    def test_of_a_function(self) -> None:
        mask = torch.ones(5, 5, dtype=torch.bool)
        torch.manual_seed(1)
        table = words(*calls_of((torch.ones(5, 6), 2), (torch.ones(1, 1, 6), 3, mask), (99 * torch.ones(5, 6), 2)))
        assert table["in every call"] == [True, True, True]
        assert table["no batch dimension"] == [True, False, True]
        assert table["one batch dimension"] == table["a batch of one"] == table["T = 1"] == [False, True, False]
        assert table["two batch dimensions"] == [False, False, False]
        assert table["n_heads = 2"] == [True, False, True]
        assert table["n_heads > 2"] == table["`mask` given"] == [False, True, False]
        assert table["a mask that allows everything"] == [False, True, False]
        assert table["large numbers"] == table["after other numbers of the same sizes"] == [False, False, True]
        assert table["after a larger T"] == table["`mask` given after it was left out"] == [False, True, False]
        assert table["after a smaller T"] == [False, False, True]
        assert table["float32"] == [True, True, True]
        assert table["only the gradients"] == [False, False, False]

    def test_of_a_docstring_with_multiples(self) -> None:
        """4H is four times H."""

        def gates(z: torch.Tensor) -> torch.Tensor:
            """z: (…, 4H)"""
            return z

        target = ObservedFunction({"gates": gates}, "gates")
        assert facts_of(target, None, {}, (torch.ones(3, 8),), {})["sizes"] == {"H": 2}

    def test_of_a_docstring_with_a_fixed_axis(self) -> None:
        """An axis that always has one length is no size."""

        def search(state: torch.Tensor) -> torch.Tensor:
            """state: (1, H)"""
            return state

        target = ObservedFunction({"search": search}, "search")
        assert facts_of(target, None, {}, (torch.ones(1, 8),), {})["sizes"] == {"H": 8}


class TestSpoil:
    """A function is wrong while the condition holds, and right otherwise."""

    def test_of_a_size(self) -> None:
        torch.manual_seed(1)
        _, seen = calls_of((torch.ones(5, 6), 2))
        scope: dict[str, Any] = {"attend": attend}
        spoil(scope, "attend", "T = 1", seen_in(seen))
        assert torch.equal(scope["attend"](torch.ones(2, 6), 2), attend(torch.ones(2, 6), 2))
        assert not torch.allclose(scope["attend"](torch.ones(1, 6), 2), attend(torch.ones(1, 6), 2))

    def test_that_forgets_at_the_next_test(self) -> None:
        """A test begins with a seed of its own. What earlier tests have asked does not count."""
        _, seen = calls_of((torch.ones(5, 6), 2))
        scope: dict[str, Any] = {"attend": attend}
        spoil(scope, "attend", "from the second call on", seen_in(seen))
        right, answers = attend(torch.ones(5, 6), 2), []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            answers.append(torch.equal(scope["attend"](torch.ones(5, 6), 2), right))
        assert answers == [True, False, True]

    def test_of_plain_numbers(self) -> None:
        """An answer that is no tensor is off, too, and keeps its type."""
        calls = [(3, 4), (2, 4)]
        for right in (7, True, 0.5, "text", b"bytes", ""):
            scope: dict[str, Any] = {"count": lambda n, m, right=right: right}
            scope["count"].__name__ = "count"
            target = ObservedFunction(dict(scope), "count")
            seen = seen_in([facts_of(target, None, {}, call, {}) for call in calls])
            spoil(scope, "count", "n is odd", seen)
            wrong, same = scope["count"](3, 4), scope["count"](2, 4)
            assert type(wrong) is type(same) is type(right)
            assert wrong != right
            assert same == right

    def test_of_gradients(self) -> None:
        """The answer stays what it is."""
        _, seen = calls_of((torch.ones(5, 6), 2))
        scope: dict[str, Any] = {"attend": attend}
        spoil(scope, "attend", "only the gradients", seen_in(seen))
        X = torch.ones(5, 6, requires_grad=True)
        answer = scope["attend"](X, 2)
        assert torch.equal(answer, attend(X, 2))
        (gradient,) = torch.autograd.grad(answer.sum(), X)
        assert not torch.allclose(gradient, torch.full((5, 6), 2.0))

    def test_of_a_module(self) -> None:
        """A module is wrong in train() only, and another module is another one."""
        scope: dict[str, Any] = {"Scale": type("Scale", (Scale,), {})}
        target = ObservedFunction({"Scale": Scale}, "Scale")
        seen = facts_of(target, Scale(6), {"d_model": 6}, (torch.ones(5, 6),), {})
        spoil(scope, "Scale", "in train()", seen_in([seen]))
        module = scope["Scale"](6)
        assert not torch.allclose(module(torch.ones(5, 6)), torch.ones(5, 6))
        assert torch.equal(module.eval()(torch.ones(5, 6)), torch.ones(5, 6))


class TestVerify:
    """A condition under which wrong answers keep full marks is a gap."""

    def test_one_call_leaves_holes(self, tmp_path: Path) -> None:
        root = course(tmp_path, toml=TRIED)
        done = softmark(root, "verify", "tiny", "--jobs", "1", "--json")
        assert done.returncode == 1, done.stderr
        told = json.loads(done.stdout)["homeworks"]["tiny"]
        assert told["conditions"]["in every call"] == {"double": "caught"}
        assert told["conditions"]["float32"] == told["conditions"]["from the second call on"] == {"double": "hole"}
        (hole,) = told["holes"]
        assert hole["what"] == "no test of its part makes such a call: add a case that compares values"

    def test_calls_in_turn_leave_none(self, tmp_path: Path) -> None:
        """The table says that each condition is caught."""
        done = softmark(course(tmp_path, toml=TRIED, hidden=IN_TURN), "verify", "tiny", "--jobs", "1")
        assert done.returncode == 0, done.stdout + done.stderr
        rows = {" ".join(line.split()) for line in done.stdout.splitlines()}
        assert {"tiny: a double", "wrong only … a", "float32 ✓", "after another dtype ✓"} <= rows

    def test_calls_that_nobody_compares(self, tmp_path: Path) -> None:
        """A call is not enough: its values must be compared."""
        hidden = IN_TURN.replace("[x[:1]], ", "").replace("    for scale", "    student.double(x[:1])\n    for scale")
        assert gaps(course(tmp_path, toml=TRIED, hidden=hidden)) == [
            ("double, x[-1] = 1:", "wrong answers keep full marks while this holds: compare values then")
        ]

    def test_exclusions(self, tmp_path: Path) -> None:
        """A hole may be excluded with a reason. One that is not needed, or wrong, is a gap."""
        hidden = IN_TURN.replace("[x[:1]], ", "")
        rule = EXCLUDED.format(conditions='"x[-1] = 1", "float32", "x[-1] = 7"', because="the handout says so")
        toml = TRIED.replace("\n[[part]]", f"{rule}\n[[part]]", 1)
        assert gaps(course(tmp_path, toml=toml, hidden=hidden)) == [
            ("double, float32:", "homework.toml excludes this, and a test compares it: remove the exclusion"),
            ("double, x[-1] = 7:", "homework.toml excludes this, and the table has no such cell"),
        ]

    def test_only_the_table(self, tmp_path: Path) -> None:
        """With --conditions nothing else is tried: a mistake that no test catches does not matter."""
        mistakes = MISTAKES.replace("factor() * x", "2 * x")
        root = course(tmp_path, toml=TRIED, hidden=IN_TURN, mistakes=mistakes)
        done = softmark(root, "verify", "tiny", "--conditions", "--jobs", "1")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "float32" in done.stdout
        assert "nothing is proved" not in done.stdout
        hidden = IN_TURN.replace("[x[:1]], ", "")
        done = softmark(course(tmp_path, toml=TRIED, hidden=hidden), "verify", "tiny", "--conditions", "--json")
        assert done.returncode == 1
        assert json.loads(done.stdout)["homeworks"]["tiny"]["conditions"]["x[-1] = 1"] == {"double": "hole"}

    def test_no_table(self, tmp_path: Path) -> None:
        """A homework may do without, which is said."""
        done = softmark(course(tmp_path), "verify", "tiny", "--jobs", "1")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "nothing is proved about functions that are wrong only sometimes" in done.stdout

    @pytest.mark.parametrize("because", ["", " "])
    def test_exclusion_without_a_reason(self, tmp_path: Path, because: str) -> None:
        rule = EXCLUDED.format(conditions='"float32"', because=because)
        toml = TRIED.replace("\n[[part]]", f"{rule}\n[[part]]", 1)
        done = softmark(course(tmp_path, toml=toml), "verify", "tiny", "--jobs", "1")
        assert done.returncode != 0
        assert "because must say why no test compares this" in done.stderr
