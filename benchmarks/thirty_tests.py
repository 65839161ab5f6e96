"""Thirty tests of the attention homework's functions, and a class of submissions, in the form each harness needs."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from textwrap import dedent

import nbformat

ROOT = Path(__file__).resolve().parents[1]
NAME = "attention"
SIZES = ((5, 7, 3, 4), (12, 20, 8, 6), (32, 32, 16, 16))
"""Queries, keys, width of a key, width of a value: a small case, one in which all sizes differ, one as in a model."""
BATCH = 4
CHECKS = {
    "project": "student.project, reference.project, X, W_Q, W_K, W_V",
    "scores": "student.scores, reference.scores, Q, K",
    "softmax_rows": "student.softmax_rows, reference.softmax_rows, S",
    "masked_softmax": "student.masked_softmax, reference.masked_softmax, S, mask",
    "attention": "student.attention, reference.attention, Q, K, V, mask",
}
WRITTEN = {
    "project": (
        """
        def project(X, W_Q, W_K, W_V):
            return X @ W_Q, X @ W_K, X @ W_V
        """,
        """
        def project(X, W_Q, W_K, W_V):
            return tuple(torch.einsum("...td,...dk->...tk", X, W) for W in (W_Q, W_K, W_V))
        """,
    ),
    "scores": (
        """
        def scores(Q, K):
            root = math.sqrt(Q.shape[-1])
            return Q @ K.transpose(-1, -2) / root
        """,
        """
        def scores(Q, K):
            root = math.sqrt(Q.shape[-1])
            return torch.matmul(Q, K.mT) * (1 / root)
        """,
        """
        def scores(Q, K):
            root = math.sqrt(Q.shape[-1])
            return torch.einsum("...md,...nd->...mn", Q / root, K)
        """,
    ),
    "softmax_rows": (
        """
        def softmax_rows(S):
            E = torch.exp(S - S.max(dim=-1, keepdim=True).values)
            return E / E.sum(dim=-1, keepdim=True)
        """,
        """
        def softmax_rows(S):
            return torch.exp(S - torch.logsumexp(S, dim=-1, keepdim=True))
        """,
        """
        def softmax_rows(S):
            return torch.softmax(S, dim=-1)
        """,
    ),
    "masked_softmax": (
        """
        def masked_softmax(S, mask):
            return torch.nan_to_num(softmax_rows(S.masked_fill(~mask, -math.inf)))
        """,
        """
        def masked_softmax(S, mask):
            A = softmax_rows(torch.where(mask, S, torch.full_like(S, -1e30)))
            return torch.where(mask, A, torch.zeros_like(A))
        """,
        """
        def masked_softmax(S, mask):
            return torch.softmax(S.masked_fill(mask.logical_not(), -1e9), dim=-1) * mask
        """,
    ),
    "attention": (
        """
        def attention(Q, K, V, mask):
            A = masked_softmax(scores(Q, K), mask)
            return A @ V, A
        """,
    ),
}
"""The functions that students write."""
MISTAKES = f"""
import math
import torch
from reference import {NAME} as ref
from softmark import mistake

@mistake(ref.scores, says="Your scores are not scaled.")
def unscaled(Q, K):
    return Q @ K.mT

@mistake(ref.scores, says="Your scores are divided by d_k.")
def divided_by_width(Q, K):
    return Q @ K.mT / Q.shape[-1]

@mistake(ref.softmax_rows, says="Your softmax runs over the queries.")
def over_queries(S):
    return torch.softmax(S, dim=-2)

@mistake(ref.softmax_rows, says="Your rows are not divided by their sum.")
def not_normalised(S):
    return torch.exp(S - S.amax(dim=-1, keepdim=True))

@mistake(ref.masked_softmax, says="Your mask is inverted.")
def inverted(S, mask):
    return torch.nan_to_num(torch.softmax(S.masked_fill(mask, -math.inf), dim=-1))

@mistake(ref.masked_softmax, says="Your mask is not used.")
def unmasked(S, mask):
    return ref.softmax_rows(S)
"""
KINDS = ("values", "gradients")
DRAWN = f"""
def drawn(n, m, d_k, d_v):
    generator = torch.Generator().manual_seed(n * 1000 + m)
    def normal(*shape):
        return torch.randn({BATCH}, *shape, dtype=torch.float64, generator=generator)
    return dict(
        X=normal(n, d_v), W_Q=normal(d_v, d_k), W_K=normal(d_v, d_k), W_V=normal(d_v, d_v), Q=normal(n, d_k),
        K=normal(m, d_k), V=normal(m, d_v), S=normal(n, m), mask=torch.rand(n, m, generator=generator) < 0.7,
    )
"""
SAME = """
def same_values(got, want, *inputs):
    torch.testing.assert_close(got(*inputs), want(*inputs))

def same_gradients(got, want, *inputs):
    torch.testing.assert_close(gradients(got, inputs), gradients(want, inputs))

def gradients(function, inputs):
    inputs = [x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    outputs = function(*inputs)
    outputs = [outputs] if isinstance(outputs, torch.Tensor) else outputs
    cotangents = [torch.sin(1.0 + torch.arange(y.numel())).view_as(y).to(y) for y in outputs]
    return torch.autograd.grad(outputs, [x for x in inputs if x.requires_grad], cotangents)
"""
CASES = tuple((kind, sizes) for kind in KINDS for sizes in SIZES)
assert len(CASES) * len(CHECKS) == 30


def write_class(folder: Path, submissions: int, times: int = 1) -> Path:
    """Write the class `times` times over: most right, some wrong in one place, one in ten raising or no Python at all.

    Students differ: each function is one of several ways to write it, whose answers differ in the last bits.
    """
    folder.mkdir(parents=True)
    for number in range(submissions * times):
        chance = random.Random(number)
        functions = "\n\n".join(dedent(chance.choice(written)).strip() for written in WRITTEN.values())
        source = f"# submission {number}\nimport math\nimport torch\n\n\n{functions}\n"
        (folder / f"student_{number:03}.py").write_text(_spoilt(source, number % submissions))
    return folder


def write_distinct_class(folder: Path, submissions: int, times: int = 1) -> Path:
    """Write a class in which no answer of a student equals another student's in every bit; return its folder.

    Right ones agree with the reference to 1e-13. Three in ten are wrong by a factor that no named mistake explains.
    """
    folder.mkdir(parents=True)
    for number in range(submissions * times):
        chance = random.Random(number)
        functions = "\n\n".join(dedent(chance.choice(written)).strip() for written in WRITTEN.values())
        factor = 1 + (number + 1) * 2**-51
        if number % 10 in (2, 5, 8):
            factor += 0.01
        source = f"# submission {number}\nimport math\nimport torch\n\n\n{functions}\n{_scaling(factor)}"
        (folder / f"student_{number:03}.py").write_text(source)
    return folder


def _scaling(factor: float) -> str:
    """Return code that multiplies every answer of the functions by the factor."""
    return (
        "\n\ndef scaled(function):\n    def call(*inputs):\n        outputs = function(*inputs)\n"
        "        if isinstance(outputs, tuple):\n"
        f"            return tuple(output * {factor!r} for output in outputs)\n"
        f"        return outputs * {factor!r}\n    return call\n\n\n"
    ) + "".join(f"{name} = scaled({name})\n" for name in WRITTEN)


def _spoilt(source: str, number: int) -> str:
    if number % 10 == 7:
        return source.replace("    root = ", "    raise IndexError('not today')\n    root = ")
    if number % 20 == 3:
        return source.replace("def attention(", "def attention)(")
    if number % 5 == 4:
        return source.replace("    root = math.sqrt(Q.shape[-1])", "    root = Q.shape[-1]")
    return source


def write_course(root: Path) -> Path:
    """Write a course with this one homework, for softmark."""
    graders = root / "graders" / NAME
    graders.mkdir(parents=True)
    (root / "reference").mkdir()
    (root / "reference" / f"{NAME}.py").write_text(_reference())
    parts = [
        f'[[part]]\nnumber = "{n}"\nfunction = "{function}"\ntitle = "{function}"\npoints = {len(CASES)}\n'
        for n, function in enumerate(CHECKS, start=1)
    ]
    head = f'title = "Thirty tests"\nfile = "{NAME}.py"\npoints = {len(CASES) * len(CHECKS)}\n'
    (graders / "homework.toml").write_text("\n".join([head, *parts]))
    head = "import pytest\nimport torch\nfrom gradescope_utils.autograder_utils.decorators import number, weight\n"
    head += f"from reference import {NAME} as reference\nfrom softmark import agree, gradients_agree\n{DRAWN}\n"
    head += f"SIZES = {SIZES}\nCHECKS = dict(values=agree, gradients=gradients_agree)\n"
    tests = [
        f'@number("{n}")\n@weight({len(CASES)})\n@pytest.mark.parametrize("sizes", SIZES)\n'
        f'@pytest.mark.parametrize("kind", {KINDS})\n'
        f"def test_{function}(student, kind, sizes):\n"
        f'    """{function}"""\n    given = drawn(*sizes)\n    CHECKS[kind]({_with_drawn(arguments)})\n'
        for n, (function, arguments) in enumerate(CHECKS.items(), start=1)
    ]
    (graders / "test_hidden.py").write_text("\n\n".join([head, *tests]))
    (graders / "mistakes.py").write_text(MISTAKES)
    return root


def write_gradescope_tests(folder: Path) -> Path:
    """Write a unittest file and the script that Gradescope's examples run it with."""
    (folder / "tests").mkdir(parents=True)
    (folder / "reference.py").write_text(_reference())
    head = "import unittest\nimport torch\nfrom gradescope_utils.autograder_utils.decorators import number, weight\n"
    head += f"import reference\nimport {NAME} as student\n{DRAWN}{SAME}\n\nclass TestAttention(unittest.TestCase):\n"
    tests = [
        f'    @number("{n}.{case}")\n    @weight(1)\n    def test_{function}_{case}(self):\n'
        f"        given = drawn(*{sizes})\n        same_{kind}({_with_drawn(arguments)})\n"
        for n, (function, arguments) in enumerate(CHECKS.items(), start=1)
        for case, (kind, sizes) in enumerate(CASES, start=1)
    ]
    (folder / "tests" / "test_attention.py").write_text(head + "\n".join(tests))
    script = folder / "run_tests.py"
    script.write_text(
        "import unittest\nfrom gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner\n\n"
        "suite = unittest.defaultTestLoader.discover('tests', top_level_dir='.')\n"
        "with open('results.json', 'w') as file:\n    JSONTestRunner(visibility='visible', stream=file).run(suite)\n"
    )
    (folder / "tests" / "__init__.py").touch()
    return script


def write_otter(folder: Path, program: Path) -> Path:
    """Write a test file of thirty cases, and the zip that `otter generate` makes of it."""
    (folder / "tests").mkdir(parents=True)
    reference = "reference = types.ModuleType('reference')\nexec(SOURCE, reference.__dict__)\n"
    head = f"import torch, types\nfrom otter.test_files import test_case\nOK_FORMAT = False\nname = '{NAME}'\n"
    head += f"points = {len(CASES) * len(CHECKS)}\nSOURCE = {_reference()!r}\n{reference}{DRAWN}{SAME}\n"
    tests = []
    for function, arguments in CHECKS.items():
        for case, (kind, sizes) in enumerate(CASES, start=1):
            own = _with_drawn(arguments).replace(f"student.{function}", function)
            body = f"    given = drawn(*{sizes})\n    same_{kind}({own})\n"
            tests.append(f"@test_case(points=1)\ndef test_{function}_{case}({function}):\n{body}")
    (folder / "tests" / f"{NAME}.py").write_text(head + "\n\n".join(tests))
    words = [str(program), "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder / "autograder.zip"


def as_notebook(file: Path, folder: Path) -> Path:
    """Return the submission as the only cell of a notebook."""
    cell = nbformat.v4.new_code_cell(file.read_text())
    notebook = folder / f"{file.stem}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), notebook)
    return notebook


def write_bare(folder: Path) -> Path:
    """Write a program that grades a folder in its own process, without walls."""
    folder.mkdir(parents=True)
    (folder / "reference.py").write_text(_reference())
    checks = "\n".join(
        f"    ({sizes}, lambda student, given: same_{kind}({_with_drawn(arguments)})),"
        for arguments in CHECKS.values()
        for kind, sizes in CASES
    )
    script = folder / "bare.py"
    script.write_text(
        f"import pathlib, sys, types\nimport torch\nimport reference\n{DRAWN}{SAME}\nCHECKS = [\n{checks}\n]\n"
        + dedent(
            """
            for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
                student, points = types.ModuleType("student"), 0
                try:
                    exec(compile(file.read_text(), str(file), "exec"), student.__dict__)
                except Exception:
                    print(file.stem, 0)
                    continue
                for sizes, check in CHECKS:
                    try:
                        check(student, drawn(*sizes))
                        points += 1
                    except Exception:
                        pass
                print(file.stem, points)
            """
        )
    )
    return script


def _with_drawn(arguments: str) -> str:
    """Return the check's arguments as code; inputs are looked up in `given`."""
    got, want, *inputs = arguments.split(", ")
    return ", ".join((got, want, *(f'given["{name}"]' for name in inputs)))


def _reference() -> str:
    return (ROOT / "reference" / "attention_scores.py").read_text()
