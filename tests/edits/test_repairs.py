"""Repairs that are proposed for a student's text: the right edit is among them, at the right place, with its kind."""

from __future__ import annotations

import ast

import pytest

from softmark.edits.kinds import KINDS, OF_OPERATORS
from softmark.edits.repairs import MOST_BYTES, MOST_EDITS, RepairEdit, repairs_of

REST = "\n    raise ValueError\nreturn n"
RETURNS = "def g(x):\n    return "
HEAD = "import torch\n\n\n"
FAR, FAR_SUM = "q1, q2, q3, q4, q5, q6", "q1 + q2 + q3 + q4 + q5 + q6"
"""Variables between two others, so that these do not come near each other."""
ROWS = [
    ("x", "return x.sum(-1).relu()", "return x.sum(-1)", "call too many", "relu"),
    ("x", "return torch.relu(x.flip(0))", "return torch.relu(x)", "call too many", "flip"),
    ("x", "return x.flip(0).float().sum(0)", "return x", "call too many", ""),
    ("x, y", "return x + y + 1", "return x + y", "term too many", "1"),
    ("x", "return x if x.dim() > 1 else 0 * x", "return x", "special case", "x.dim() > 1"),
    ("x", "return torch.sin(x)", "return torch.cos(x)", "other function", "torch.sin"),
    ("x, y", "return x @ x", "return x @ y", "unused", "x"),
    ("x, y", "z = x + y\nreturn x * y + x", "z = x + y\nreturn x * y + z", "unused variable", "x"),
    ("x, eps", "return x + 1e-6", "return x + eps", "unused", "1e-6"),
    ("x, a, b", "return x", "return x + a @ b", "two unused", "x"),
    (
        f"keys, {FAR}, key",
        f"z = {FAR_SUM}\nreturn z + keys - key",
        f"z = {FAR_SUM}\nreturn z + key - key",
        "wrong variable",
        "keys",
    ),
    (f"a, {FAR}, b", f"z = {FAR_SUM} + b\nreturn z + a", f"z = {FAR_SUM} + b\nreturn z + q1", "wrong variable", "a"),
    (f"a, {FAR}, o", f"z = {FAR_SUM}\nreturn z + a", f"z = {FAR_SUM}\nreturn z + o", "unused", "a"),
    ("x, y", "z = 2 * y\nreturn z + x - y", "z = 2 * y\nreturn z + x - z", "wrong variable", "y"),
    ("x", "return x.sum(dim=0)", "return x.sum(dim=-1)", "axis", "0"),
    ("x", "return x.sum(dim=0) / x.max(dim=0)", "return x.sum(dim=-1) / x.max(dim=-1)", "axis", "0"),
    ("x", "return torch.stack(x)", "return torch.stack(x, dim=1)", "axis", "torch.stack(x)"),
    ("x", "return x.transpose(0, 1)", "return x.transpose(0, 2)", "axis", "1"),
    ("x", "return x / x.sum(dim=-1)", "return x / x.sum(dim=-1, keepdim=True)", "axis that goes", "x.sum(dim=-1)"),
    ("x", "return x.var(dim=-1)", "return x.var(dim=-1, unbiased=False)", "option", "x.var(dim=-1)"),
    ("x", "x = x + 1\nreturn x", "pass\nreturn x", "line too many", "x = x + 1"),
    ("x", "return torch.exp(x)", "return torch.exp(x - x.amax(dim=-1, keepdim=True))", "overflow", "torch.exp(x)"),
    ("x, y", "return x - y", "return x + y", "operator", "x - y"),
    ("x, y", "z = x\nreturn y * z", "z = x\nreturn y / z", "operator before a variable", "y * z"),
    ("x, y", "return x ** 1 / 2 + y", "return x ** (1 / 2) + y", "brackets", "x ** 1 / 2"),
    ("x, b", "return torch.relu(x) + b", "return torch.relu(x + b)", "brackets", "torch.relu(x) + b"),
    ("x", "return x.mul_(2)", "return x.mul(2)", "in place", "x.mul_(2)"),
    ("x", "x += 1\nreturn x", "x = x + 1\nreturn x", "in place", "x += 1"),
    ("x", "return x[1:-1]", "return x[1:]", "slice", "x[1:-1]"),
    ("x", "return x[0]", "return x[-1]", "index", "0"),
    ("x", "return x[0]", "return x", "index too many", "x[0]"),
    ("x", "return x / x.shape[0]", "return x / x.shape[-1]", "size", "x.shape[0]"),
    ("x", "return x / x.size(0)", "return x / x.size(-1)", "size", "0"),
    ("x, y", "return y, x", "return x, y", "order of results", "y, x"),
    ("x, y", "return f(y, x)", "return f(x, y)", "order of arguments", "f(y, x)"),
    ("x, y", "z = f(x)\nreturn z + y", "z = f(x, y)\nreturn z + y", "argument missing", "f(x)"),
    ("x, mask", "return x.masked_fill(mask, 0)", "return x.masked_fill(~mask, 0)", "negation", "mask"),
    ("x, y", "return x @ y", "return x @ y.transpose(-1, -2)", "transpose", "y"),
    ("x, y", "return x @ y.T", "return x @ y", "transpose", "y.T"),
    ("x, y", "return x < y", "return x <= y", "comparison", "x < y"),
    ("x, n", "if n > 3:\n    return x\nreturn 2 * x", "if False:\n    return x\nreturn 2 * x", "special case", "n > 3"),
    ("x", "for v in x:\n    y = v\nreturn y", "for v in x:\n    y = v\nreturn v", "wrong variable", "y"),
    ("x, h", "for v in x:\n    h2 = v + h\nreturn h2", "for v in x:\n    h = v + h\nreturn h", "not carried on", "h2"),
    ("x", "return x * 2", "return x * 3", "number", "2"),
    ("x, k", "return x / 2 + k.shape[-1]", "return x / k.shape[-1] ** 0.5 + k.shape[-1]", "number", "2"),
    ("x", "return x - 1e9", "return x - 0.0", "number", "1e9"),
    ("x, y", "return x * y", "return x * y.unsqueeze(-1)", "axis of length 1", "y"),
    ("x: torch.Tensor", "return x", "return x / x.shape[-1] ** 0.5", "factor missing", "x"),
    ("x", "return x", "return torch.softmax(x, dim=-1)", "step missing", "x"),
    ("x, y", "return y @ x", "return y @ x + y", "term missing", "y @ x"),
    ("x", "y = x + 1\nreturn x", "y = x + 1\nreturn x, y", "result missing", "x"),
    ("x", "raise KeyError(x)", "raise ValueError(x)", "exception", "KeyError"),
    ("q, k", "return f(k) - q", "return f(q) - k", "exchanged", "f(k) - q"),
    ("x: torch.Tensor", "return x + torch.ones(3)", "return x + torch.ones(3, dtype=x.dtype)", "device or dtype", ""),
    ("p", 'return f(p["a1"], p["b1"])', 'return f(p["a2"], p["b2"])', "wrong variable", ""),
    ("x, b", "return x.exp()", "return x.exp() + b.unsqueeze(1)", "unused", "x.exp()"),
    ("n: int, d: int", "return n + d", "return n + 3 * d", "factor missing", "d"),
    ("n: int, d: int", "return n * n", "return n * n + d", "unused", "n * n"),
    ("n: int, d: int", "m = d * d\nreturn n * n", "m = d * d\nreturn n * n + d", "term missing", "n * n"),
    ("x", "return x.squeeze()", "return x.squeeze(1)", "axis", "x.squeeze()"),
    ("x, r, h", "return r * (x + h)", "return x + r * h", "brackets", "r * (x + h)"),
    ("x, n", "return x * 3 + n", "return (x * 3) / n + n", "term missing", "x * 3"),
    ("x, n: int", "m = n\nreturn x / m", "m = n\nreturn x / m**0.5", "root missing", "m"),
    (
        "x, m",
        "low = 0\nreturn x.masked_fill(m, low)",
        "low = torch.finfo(x.dtype).min\nreturn x.masked_fill(m, low)",
        "number",
        "0",
    ),
    ("x, dim", "return torch.log(torch.softmax(x, dim=1))", "return torch.log_softmax(x, dim=1)", "loses digits", ""),
    (
        "x",
        "return torch.log(1 - torch.sigmoid(x) + 1e-9)",
        "return torch.nn.functional.logsigmoid(-x)",
        "loses digits",
        "",
    ),
    ("x", "return torch.log(torch.exp(x).sum(dim=0))", "return torch.logsumexp(x, dim=0)", "loses digits", ""),
    (
        "x",
        "p = torch.softmax(x, dim=0)\nreturn torch.log(p[0] + 1e-9)",
        "p = torch.log_softmax(x, dim=0)\nreturn p[0]",
        "loses digits",
        "",
    ),
    ("x, i", "return x[:, i]", "return x.gather(-1, i.unsqueeze(-1))", "index", "x[:, i]"),
    ("x", "return f(torch.relu(x))", "return torch.relu(f(x))", "brackets", "f(torch.relu(x))"),
    ("x, w", "return (x > 0).float() * w", "return x * w", "call too many", ""),
    ("x, flag: bool", "return x.sum(keepdim=True)", "return x.sum(keepdim=not flag)", "unused", "True"),
    ("x: dict, n: int", "return x.most_common()", "return x.most_common(n)", "argument missing", "x.most_common()"),
    ("x: torch.Tensor", "return torch.arange(3 + PAD)", "return torch.arange(PAD, 3 + PAD)", "bound", ""),
    ("x: torch.Tensor, k: int", "return x + k * 2", "return x + (k - 1) * 2", "another size", "k"),
    ("x: list, n: int", "y = n\nreturn x", "y = n\nreturn x[:n]", "step missing", "x"),
    ("x: str, n: int", "return x.lower().split() + n", "return h(x) + n", "other function", ""),
    ("x, b, i", "return x[i]", "return x[i] + b[i]", "unused", "x[i]"),
    ("x, f", "return (x**2).sum()", "return (x**2 * f).sum()", "unused", "x**2"),
    ("x: list, y: list", "z = y + y\nreturn x", "z = y + y\nreturn z + x", "unused variable", "x"),
    ("x", "y = x + 1\nz = [x, x]", "y = x + 1\nz = [x, x, y]", "unused variable", "[x, x]"),
    ("x", "return x.mean()", "return -x.mean()", "sign missing", "x.mean()"),
    ("x, y", "return f(-x) + f(y)", "return f(x) + f(-y)", "negation", "-x"),
    ("x, y", "return x // y + f(x // y)", "return x / y + f(x / y)", "operator", "x // y"),
    ("x: list, n: int", "return x[1:n]", "return x[1:n + 1]", "bound", "n"),
    ("x: list, n: int", "return x[n:]", "return x[max(0, n):]", "bound", "n"),
    ("x: list, n: int", "return x[1:]", "return x[1:n]", "bound", "x[1:]"),
    ("n: int, m: int", "for i in range(n):\n    f(i)", "for i in range(n - m + 1):\n    f(i)", "bound", "n"),
    ("n: int, m: int", "for i in range(n):\n    f(i)", "for i in range(m, n):\n    f(i)", "bound", "range(n)"),
    ("x, n: int", "a, b = n, min(9, n)\nreturn x[a:b]", "a, b = n, min(9, n + 1)\nreturn x[a:b]", "bound", "n"),
    (
        "x: list, n: int",
        "while 256 + n < len(x):\n    n += 1",
        "while len(x) + (256 + n) < len(x):\n    n += 1",
        "bound",
        "",
    ),
    ("x: list", "return [f(y) for y in x]", "return [f(y) for y in x if y]", "not left out", ""),
    (
        "x: list, y: list",
        "for z in x:\n    f(z)",
        "for z in x:\n    if z not in y:\n        f(z)",
        "not left out",
        "f(z)",
    ),
    (
        "x: list",
        "for i in x:\n    for j in x:\n        if x[i] == i:\n            f(j)",
        "for i in x:\n    for j in x:\n        if j != i:\n            f(j)",
        "condition",
        "x[i] == i",
    ),
    ("a: int, b: int", "return 3 in (a, 4)", "return 3 in (a, 4, b)", "condition", "3 in (a, 4)"),
    ("x: int", "if x < 2:\n    return 0", "if x is None or x < 2:\n    return 0", "condition", "x < 2"),
    ("x: list", "return f(x, [])", "return f(x, x)", "wrong variable", "[]"),
    ("x: dict", "for k, n in x.items():\n    f(k, 1)", "for k, n in x.items():\n    f(k, n)", "number", "1"),
    ("x, d", "for k in x:\n    d[k] = 1", "for k in x:\n    d[k] = d.get(k, 0) + 1", "adds up", "d[k] = 1"),
    ("x, d", "for k in x:\n    d += k", "for k in x:\n    d = k", "adds up", "d += k"),
    ("x, i, j", "x[i, j] += 1", "x[i, j] += 1\nx[j, i] += 1", "only once", "x[i, j] += 1"),
    ("d: dict", "return max(d)", "return max(d, key=d.get)", "order", "max(d)"),
    (
        "d: dict",
        "return max(d, key=d.get)",
        "return max(d, key=lambda one: (d[one], one))",
        "order",
        "max(d, key=d.get)",
    ),
    ("x: list", "return sorted(x)", "return sorted(x, reverse=True)", "order", "sorted(x)"),
    ("x: list", "return x[1:] + x[:1]", "return x[:1] + x[1:]", "order of results", "x[1:] + x[:1]"),
    ("x: str", "return [x]", "return x", "form", "[x]"),
    ("x: list", "return ' '.join(x)", "return ''.join(x)", "text", "' '"),
    ("x: bytes", "return x.decode('latin-1')", "return x.decode('utf-8')", "text", "'latin-1'"),
    ("x: bytes", "return x.decode()", "return x.decode(errors='replace')", "option", "x.decode()"),
    ("x: str", "return f(x, 1)", "return f(x.lower(), 1)", "step missing", "x"),
    ("x: str", "return re.findall(r' ?\\d', x)", "return re.findall(r' ?\\d+', x)", "pattern", "r' ?\\d'"),
    ("x: str", "return re.findall(r'[a-z]+', x)", "return re.findall(r'[^\\W\\d_]+', x)", "pattern", ""),
    ("x: str", "return re.findall(r'[^\\W]+', x)", "return re.findall(r'[^\\W_]+', x)", "pattern", ""),
    (
        "x: str",
        "return re.findall(r'\\w+', x), re.findall(r'\\d+', x)",
        "return re.findall(r' ?\\w+', x), re.findall(r' ?\\d+', x)",
        "pattern",
        "",
    ),
    ("n: int, m: int", f"if n > m:{REST}", f"if n % m != 0:{REST}", "condition", "n > m"),
    (
        "x, pads",
        "n = x * pads\nreturn x.amax(0) + n",
        "n = x * pads\nreturn x.masked_fill(pads, -math.inf).amax(0) + n",
        "step missing",
        "x",
    ),
    (
        "x, pads",
        "n = x * pads\nreturn torch.softmax(x, 0) + n",
        "n = x * pads\nreturn torch.softmax(x.masked_fill(~pads, -math.inf), 0) + n",
        "step missing",
        "x",
    ),
    ("x, lengths", "return x[-1]", "return x[lengths - 1, torch.arange(len(lengths))]", "bound", "x[-1]"),
    ("x, lengths", "return x[:, -1]", "return x[torch.arange(len(lengths)), lengths - 1]", "bound", "x[:, -1]"),
    ("x, lengths", "return x[0]", "return x[lengths - 1, torch.arange(len(lengths))]", "bound", "x[0]"),
    ("x, i", "return x[i]", "return x[i + 1]", "index", "i"),
    ("x, i", "return x[:, i]", "return x[:, i - 1]", "index", "i"),
    ("x, n: int", "return x[:n]", "return x[-n:]", "slice", ":n"),
    ("x", "return x[-3:]", "return x[:3]", "slice", "-3:"),
    ("x, i", "return x.scatter(-1, i, 0.0)", "return x.scatter(-1, i, float('-inf'))", "number", "0.0"),
    ("x, pad", "return F.embedding(x, -100)", "return F.embedding(x, pad)", "unused", "-100"),
    ("x", "return x.permute(0, 1, 2, 3)", "return x.permute(3, 1, 0, 2)", "axis", "x.permute(0, 1, 2, 3)"),
    ("x", "return x.permute(0, 1, 2, 3, 4)", "return x.permute(0, 4, 1, 2, 3)", "axis", ""),
    ("x, n, c", "return x.reshape(n, 4, c)", "return x.reshape(n, c, 4).transpose(1, 2)", "axis", ""),
    ("x, n", "return x.reshape(n, -1)", "return x.transpose(1, 2).reshape(n, -1)", "axis", "x.reshape(n, -1)"),
    ("a, b, c", "return a * b + c", "return a * (b + c)", "brackets", "a * b + c"),
    ("a, b, c", "return a * (b - c)", "return a * b - c", "brackets", "a * (b - c)"),
    ("x, i", "return torch.softmax(x, 0).gather(0, i)", "return torch.softmax(x.gather(0, i), 0)", "brackets", ""),
    ("x, i", "return torch.softmax(x.gather(0, i), 0)", "return torch.softmax(x, 0).gather(0, i)", "brackets", ""),
    ("n: int", "return 3 * n + 3", "return 4 * n + 4", "number", "3"),
    ("n: int, m: int", "return n * m", "return n * 4", "another size", "m"),
    ("x", "return x.argsort(dim=0)", "return x.argsort(dim=0, stable=True)", "option", "x.argsort(dim=0)"),
    ("x", "return x.tril(-1)", "return x.triu(--1)", "other function", "x.tril"),
    ("x", "return self.p.w.permute(1, 0).sum(0)", "return self.p.w.sum(0)", "call too many", ""),
    ("x, t", "return x / t", "return (x - x.amax(dim=-1, keepdim=True)) / t", "overflow", "x / t"),
    ("x", "return torch.exp(x)", "return torch.exp(x - x.amax(dim=0, keepdim=True))", "overflow", "torch.exp(x)"),
    ("model, x", "return model(x)", "return model.eval()(x)", "step missing", "model"),
    ("x", "return sum(x)", "return torch.cat(x, dim=-1)", "other function", "sum"),
    ("x", "return torch.stack(x, 1)", "return torch.cat(x, dim=0)", "other function", "torch.stack"),
]
MODULE = """
class Net:
    def __init__(self, n):
        self.used, self.norm, self.shift = n, n, n

    def forward(self, x):
        y = {} + self.used
        return y
"""


def function(parameters: str, body: str) -> str:
    """Return a file with one function `g`, and functions `f` of two arguments and `h` of one that it may call."""
    inner = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{HEAD}def g({parameters}):\n{inner}\n\ndef f(a, b=None):\n    return a\n\n\ndef h(a):\n    return a\n"


def edited(text: str, edit: RepairEdit) -> str:
    data = text.encode()
    return (data[: edit.start] + edit.new.encode() + data[edit.end :]).decode()


def told(text: str, edit: RepairEdit) -> str:
    return text.encode()[slice(*edit.told)].decode()


@pytest.mark.parametrize(("parameters", "wrong", "right", "kind", "fragment"), ROWS)
def test_right_edit_is_proposed(parameters: str, wrong: str, right: str, kind: str, fragment: str) -> None:
    text = function(parameters, wrong)
    wanted = ast.dump(ast.parse(function(parameters, right)))
    of_kind = [edit for edit in repairs_of([text], ["g"], ["f"])[1] if edit.kind == kind]
    fitting = [edit for edit in of_kind if _dumped(edited(text, edit)) == wanted]
    assert fitting
    assert not fragment or fragment in [told(text, edit) for edit in fitting]


def _dumped(text: str) -> str:
    try:
        return ast.dump(ast.parse(text))
    except SyntaxError:
        return ""


@pytest.mark.parametrize("right", ["self.norm(x)", "(x + self.shift)", "(x * self.shift)"])
def test_layer_that_is_not_used(right: str) -> None:
    """What a class sets in __init__ and never reads is put in; what it reads is not."""
    text = MODULE.format("x")
    edits = [edit for edit in repairs_of([text], ["Net"], [])[1] if edit.kind == "unused attribute"]
    texts = [_dumped(edited(text, edit)) for edit in edits]
    assert _dumped(MODULE.format(right)) in texts
    assert _dumped(MODULE.format("(x + self.used)")) not in texts


def test_loop_that_would_not_end_is_not_proposed() -> None:
    """Each trial of an endless loop costs a process, and there are few."""
    body = "i = j = 0\nwhile i < len(x):\n    i += 1\n    j = j + 1\nreturn j"
    edits = repairs_of([function("x: list", body)], ["g"], ["f"])[1]
    texts = [told(function("x: list", body), edit) for edit in edits if edit.kind == "line too many"]
    assert "j = j + 1" in texts
    assert "i += 1" not in texts


def test_every_kind_of_a_row_has_a_sentence() -> None:
    assert {kind for *_, kind, _ in ROWS} <= KINDS.keys()
    assert set(OF_OPERATORS.values()) <= KINDS.keys()


def test_likeliest_kinds_come_first() -> None:
    _, edits, _ = repairs_of([function("x, y", "return x @ x")], ["g"], [])
    priorities = [KINDS[edit.kind].priority for edit in edits]
    assert priorities == sorted(priorities)


TAKES_AWAY = ("call too many", "term too many", "condition too many", "line too many", "argument too many")
REPLACES = ("other function", "wrong variable", "axis", "operator", "brackets", "comparison", "slice", "exchanged")
ADDS = ("root missing", "bias missing", "axis of length 1", "factor missing", "step missing", "term missing")


def test_what_is_used_nowhere_and_what_is_too_much_come_first() -> None:
    """Almost anything can be added, so the less an edit invents, the earlier it is tried."""
    takes_away, replaces, adds = ([KINDS[kind].priority for kind in kinds] for kinds in (TAKES_AWAY, REPLACES, ADDS))
    assert KINDS["unused"].priority < min(takes_away)
    assert max(takes_away) < min(replaces)
    assert max(replaces) < min(adds)


def test_functions_of_other_parts_are_used_and_not_edited() -> None:
    text = function("x", "return h(f(x, x))") + "\n\ndef h(a):\n    return a + 1\n"
    definitions, _, uses = repairs_of([text], ["g"], ["f", "other"])
    assert [definition.name for definition in definitions] == ["g", "h"]
    assert uses == ["f"]


def test_methods_of_other_parts_are_not_edited() -> None:
    text = "class A:\n    def one(self, x):\n        return x + 1\n\n    def two(self, x):\n        return x + 2\n"
    _, edits, uses = repairs_of([text], ["A.two"], ["A.one"])
    assert {text[: edit.start].count("\n") for edit in edits} == {5}
    assert uses == ["A"]


def test_last_definition_of_several_files_counts() -> None:
    first, second = "def g(x):\n    return x + 1\n", "def g(x):\n    return x + 2\n"
    (definition,), _, _ = repairs_of([first, second], ["g"], [])
    assert definition.file == 1


@pytest.mark.parametrize("after", ["g = f(g)\n", "for g in []:\n    pass\n", "import math as g\n"])
def test_definition_that_is_not_what_is_called_is_not_edited(after: str) -> None:
    assert repairs_of([f"{function('x', 'return x + 1')}\n\n{after}"], ["g"], [])[0] == []


def test_number_of_edits_is_bounded() -> None:
    body = "\n".join(f"y{n} = x @ x + {n}" for n in range(12)) + "\nreturn y1"
    _, edits, _ = repairs_of([function("x", body)], ["g"], [])
    assert 0 < len(edits) <= MOST_EDITS


@pytest.mark.parametrize("text", ["def g(x):\n    return x  # " + "x" * MOST_BYTES, "def h(x):\n    return x\n"])
def test_nothing_is_proposed_for_what_is_too_long_or_not_there(text: str) -> None:
    assert repairs_of([text], ["g"], [])[1] == []


@pytest.mark.parametrize(
    "text",
    [RETURNS + "-" * 70 + "x\n", RETURNS + "x" + ".T" * 200, "def g(x):\n" + "    x\n" * 15_000],
    ids=["signs", "chain", "many"],
)
def test_text_that_is_too_deep_or_too_large_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        repairs_of([text[:MOST_BYTES]], ["g"], [])
