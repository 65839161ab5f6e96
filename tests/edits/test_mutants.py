"""Operators make mutants of a source text: each one has an example here, the source and what becomes of it."""

from __future__ import annotations

import ast

import pytest

from softmark.edits.mutants import Mutant, mutants_of
from tests.conftest import ROOT

HEAD = "import torch\n\n\n"
HOMEWORKS = sorted(file.stem for file in (ROOT / "reference").glob("*.py") if file.stem != "__init__")


def mutants(body: str, arguments: str = "a: torch.Tensor, b: torch.Tensor") -> list[Mutant]:
    """Return the mutants of a function with these lines."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return mutants_of(f"{HEAD}def f({arguments}):\n{lines}", ["f"])


EXAMPLES = {
    "term missing": ("c = a + b", ["a", "b"]),
    "factor missing": ("c = a @ b", ["a", "b"]),
    "term twice": ("c = a - b", ["a - b - b"]),
    "other operator": ("c = a // 2", ["a * 2", "a % 2"]),
    "order of operands": ("c = a @ b", ["b @ a"]),
    "negation": ("c = ~a", ["a"]),
    "comparison": ("c = a < b", ["a <= b", "a > b"]),
    "condition missing": ("c = a and b", ["b", "a"]),
    "branch skipped": ("c = a if a is None else b", ["a", "b"]),
    "number": ("c = 0.5", ["1.0", "0.25", "0.0"]),
    "axis": ("c = sum(a, dim=-1)", ["-2", "0"]),
    "index": ("c = a[1]", ["2", "0"]),
    "index missing": ("c = a[1]", ["a"]),
    "slice": ("c = a[1:5]", ["a[:5]", "a[1:]"]),
    "option": ("c = g(keepdim=True)", ["False"]),
    "option missing": ("c = g(keepdim=True)", ["g()"]),
    "argument missing": ("c = g(a, b)", ["g(a)"]),
    "order of arguments": ("c = g(a, b)", ["g(b, a)"]),
    "call missing": ("c = torch.exp(a)", ["a"]),
    "other function of its family": ("c = torch.sin(a)", ["torch.cos(a)"]),
    "transpose": ("c = a.T", ["a"]),
    "in place": ("c = a.clamp(min=0)", ["a.clamp_(min=0)"]),
    "wrong variable": ("c = a[0]", ["b"]),
    "order in a list": ("c = [a, b]", ["[b, a]"]),
    "element missing": ("c = [a, b]", ["[b]", "[a]"]),
    "order of axes": ("c = a[0, 1]", ["1, 0"]),
    "line missing": ("a += b", ["pass"]),
    "condition that holds never": ("if a:\n    b = a", ["if False:; b = a"]),
    "condition that holds always": ("if a:\n    b = a", ["if True:; b = a"]),
    "condition negated": ("if a:\n    b = a", ["if not a:; b = a"]),
    "round missing": ("for c in a:\n    g(c)", ["list(a)[1:]", "list(a)[:-1]"]),
    "direction of a loop": ("for c in a:\n    g(c)", ["list(a)[::-1]"]),
    "order of lines": ("a = a + 1\nc = a", ["c = a; a = a + 1"]),
    "factor too many": ("return a", ["2 * a"]),
    "call too many": ("return a", ["a.flip(-1)", "a.softmax(dim=-1)"]),
    "detached": ("return a", ["a.detach()"]),
    "other dtype": ("return a", ["a.double()"]),
    "input overwritten": ("return a", ["a.data.zero_(); return a", "b.data.zero_(); return a"]),
    "in a second call": (
        "return a",
        ["f.calls = getattr(f, 'calls', 0) + 1; return 1.01 * a if f.calls > 1 else a"],
    ),
    "answer kept": ("return a", ["f.kept = getattr(f, 'kept', a); return f.kept"]),
    "answer kept for a size": ("return a", ["return f.__dict__.setdefault(str(a.shape), a)"]),
    "for float32": ("return a", ["return 1.01 * a if a.dtype == torch.float32 else a"]),
    "at size 1 of axis -1": (
        "return a",
        ["return 1.01 * a if a.shape[-1:] == (1,) else a", "return 1.01 * a if b.shape[-1:] == (1,) else a"],
    ),
}


class TestOperators:
    """Each kind of slip is made wherever a student can make it."""

    @pytest.mark.parametrize("kind", EXAMPLES)
    def test_example(self, kind: str) -> None:
        source, expected = EXAMPLES[kind]
        assert [mutant.new for mutant in mutants(source) if mutant.kind == kind] == expected

    @pytest.mark.parametrize(
        ("body", "left_out"),
        [
            ("a = 2 * a", ["a = 2 * a"]),
            ("c = a", []),
            ("c = a\nc = 2 * c", ["c = 2 * c"]),
            ("a, b = b, a", ["a, b = b, a"]),
            ("a.kept = b", ["a.kept = b"]),
            ("raise ValueError(a)", ["raise ValueError(a)"]),
            ("super().reset()\na.add_(b)", ["a.add_(b)"]),
        ],
    )
    def test_lines_that_are_left_out(self, body: str, left_out: list[str]) -> None:
        """Without a variable's first value the function could only raise, so only later values are left out."""
        assert [mutant.old for mutant in mutants(body) if mutant.kind == "line missing"] == left_out

    def test_for_one_head_and_without_a_mask(self) -> None:
        """What a signature says decides when the answer may be wrong."""
        made = mutants("return a", "a: torch.Tensor, n_heads: int, mask: torch.Tensor | None = None")
        new = {mutant.kind: mutant.new for mutant in made}
        assert new["for one head"] == "return 1.01 * a if n_heads == 1 else a"
        assert new["where it is left out"] == "return 1.01 * a if mask is None else a"
        assert new["where it is given"] == "return 1.01 * a if mask is not None else a"

    def test_for_batch_dimensions(self) -> None:
        """The docstring says how many axes there are without them."""
        made = mutants('"""Do it.\n\n    a: (…, m, d_k)    the queries\n    """\nreturn a')
        new = [mutant.new for mutant in made if mutant.kind == "for two batch dimensions"]
        assert new == ["return 1.01 * a if a.dim() == 4 else a"]

    def test_of_a_method(self) -> None:
        """A method has a mode and keeps its state in its module."""
        source = f"{HEAD}class Net:\n    def forward(self, x):\n        return self.n_heads * x\n"
        new = {mutant.kind: mutant.new for mutant in mutants_of(source, ["Net"])}
        assert new["under train()"] == "return 1.01 * (self.n_heads * x) if self.training else self.n_heads * x"
        assert new["for one head"].endswith("if self.n_heads == 1 else self.n_heads * x")
        assert "self.calls" in new["in a second call"]

    def test_the_other_of_several_values(self) -> None:
        """One of the values that are returned is wrong, in turn each of them."""
        new = [mutant.new for mutant in mutants("return a, b") if mutant.kind.startswith("at size 1")]
        assert new[0] == "return (1.01 * a if a.shape[-1:] == (1,) else a, b)"
        assert new[1] == "return (a, 1.01 * b if a.shape[-2:-1] == (1,) else b)"


class TestText:
    """The edit stands at its place, and nothing else changes."""

    def test_comments_and_layout_stay(self) -> None:
        """Columns are counted behind letters of several bytes, too; brackets come where they are needed."""
        source = 'def f(a, b):\n    """Σ."""\n    return {"σ": 1}["σ"] * (a   +  b)  # (…, d)  √\n'
        (mutant,) = [one for one in mutants_of(source, ["f"]) if one.edit == "a + b → a * b"]
        assert mutant.source == source.replace("a   +  b", "a * b")
        assert mutant.line == 3

    def test_brackets(self) -> None:
        """The new expression is one term, as the tree says."""
        (mutant,) = [one for one in mutants("return -torch.exp(a + b)") if one.old == "torch.exp(a + b)"][:1]
        assert mutant.source.splitlines()[-1] == "    return -(a + b)"

    def test_what_is_no_code_of_the_student(self) -> None:
        """Docstrings, annotations and the words of errors stay."""
        body = '"""Double 2."""\nif 0:\n    raise ValueError(f"{a} is not 3")'
        assert {mutant.old for mutant in mutants(body)} == {
            "0",
            'raise ValueError(f"{a} is not 3")',
            "if 0:; raise ValueError(f'{a} is not 3')",
        }

    def test_same_edits_are_counted(self) -> None:
        """Two edits with the same words are told apart."""
        edits = [mutant.edit for mutant in mutants("return a[1] + b[1]") if mutant.kind == "index"]
        assert edits == ["1 → 2", "1 → 0", "1 → 2 (2)", "1 → 0 (2)"]


class TestReferences:
    """The mutants of the homeworks."""

    @pytest.mark.parametrize("name", HOMEWORKS)
    def test_are_many_and_the_same_each_time(self, name: str) -> None:
        """Each is another program that Python can read, with a name of its own."""
        source = (ROOT / f"reference/{name}.py").read_text()
        tree = ast.parse(source)
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        found = mutants_of(source, names)
        assert found == mutants_of(source, names)
        assert len({mutant.source for mutant in found} - {source}) == len(found) >= 300
        assert len({str(mutant) for mutant in found}) == len(found)
        for mutant in found[::10]:
            assert ast.dump(ast.parse(mutant.source)) != ast.dump(tree)
