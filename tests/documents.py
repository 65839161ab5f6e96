"""Makes the generated documents from the program's own output: pictures, docs/feedback.md, docs/commands.md.

`python -m tests.documents` writes them anew; a test says when they are stale.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import typer
from rich.console import Console
from typer.testing import CliRunner

from softmark.authoring.plant import plant
from softmark.authoring.variants import Rounds, Variant
from softmark.batch.one import grade_file
from softmark.cli.app import app
from softmark.course.homework import load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.feedback.feedback import Audience, Feedback, feedback_for
from softmark.feedback.picture import standalone
from softmark.feedback.terminal import show
from softmark.grading.author_files import load_mistakes
from softmark.records.result import Result
from softmark.records.verdict import Picture
from tests import text_failures

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
LEVEL = "full" if os.geteuid() == 0 else "user"
WIDTH = 100
COMMANDS = """\
# Commands

Every command ends with exit code 0 when it did what was asked, 1 when it found something to mend, 2 when something was
asked for that cannot be done, and 3 when the grader itself failed. This page is what `--help` says.
"""


@dataclass(frozen=True)
class Failure:
    """A typical failure: how it is told in the document, and the code that makes it."""

    title: str
    mistake: str = ""
    """A named mistake to plant into the reference, or else…"""
    appended: str = ""
    """…a definition that takes the place of the reference's."""


FAILURES = (
    Failure("The scores are not scaled", mistake="scores: S / math.sqrt(d_k) → S"),
    Failure("The softmax runs over the queries", mistake="softmax_rows: every dim=-1 → dim=-2"),
    Failure("The softmax overflows", mistake="softmax_rows: torch.exp(S - S_max) → torch.exp(S)"),
    Failure("The mask is inverted", mistake="masked_softmax: blocked = ~mask → blocked = mask"),
    Failure(
        "The fill value is too small",
        mistake="masked_softmax: lowest = torch.finfo(S.dtype).min → lowest = -10; "
        "A.masked_fill(blocked, → A.masked_fill(nowhere,",
    ),
    Failure("The axes of the scores are swapped", mistake="scores: Q @ K.transpose → K @ Q.transpose"),
    Failure("The result is in another dtype", mistake="scores: Q @ K.transpose → Q.float() @ K.float().transpose"),
    Failure("The input is changed", mistake="softmax_rows: torch.exp(S - S_max) → torch.exp(S.sub_(S_max))"),
    Failure("An exception", appended="def scores(Q, K):\n    return Q @ K / K.shape[-1] ** 0.5\n"),
    Failure(
        "A library shortcut",
        appended="def attention(Q, K, V, mask=None):\n"
        "    output = torch.nn.functional.scaled_dot_product_attention(Q, K, V, mask)\n"
        "    return output, None\n",
    ),
    Failure("Two slips that have no name", appended="def softmax_rows(S):\n    return torch.softmax(2 * S, dim=-2)\n"),
    Failure(
        "A message of torch's", appended="def project(X, W_Q, W_K, W_V):\n    return X @ W_Q.T, X @ W_K, X @ W_V\n"
    ),
    Failure(
        "A message of NumPy's",
        appended="def softmax_rows(S):\n"
        "    E = np.exp(S.numpy() - S.numpy().max(axis=1))\n"
        "    return torch.tensor(E / E.sum(axis=1))\n\n\nimport numpy as np\n",
    ),
    Failure(
        "An answer that varies",
        appended="def softmax_rows(S):\n    return F.dropout(torch.softmax(S, dim=-1), 0.1)\n",
    ),
    Failure(
        "One of two outputs", appended="def attention(Q, K, V, mask=None):\n    return softmax_rows(scores(Q, K)) @ V\n"
    ),
    Failure(
        "Outputs in another order",
        appended="def project(X, W_Q, W_K, W_V):\n    return X @ W_K, X @ W_Q, X @ W_V\n",
    ),
    Failure("A misspelt name", appended="softmax_row = softmax_rows\ndel softmax_rows\n"),
    Failure("Too many arguments", appended="def causal_mask(n, device):\n    return torch.ones(n, n).tril().bool()\n"),
    Failure("An endless recursion", appended="def softmax_rows(S):\n    return softmax_rows(S - S.max())\n"),
    Failure("Not written yet", appended="def causal_mask(n):\n    raise NotImplementedError\n"),
)


def write_commands() -> str:
    """Return docs/commands.md: every command with the text of its --help."""
    page = [COMMANDS]
    for name in typer.main.get_command(app).commands:
        told = CliRunner().invoke(app, [name, "--help"], prog_name="softmark", terminal_width=WIDTH)
        page += [f"## softmark {name}\n", f"```text\n{told.stdout.strip()}\n```\n"]
    return "\n".join(page).rstrip() + "\n"


def draw_grade() -> str:
    """The terminal after `softmark grade` of the sample submission, as a student would see it."""
    homework = load_homework("attention_scores", ROOT)
    sample = ROOT / "samples" / "attention_scores" / "mixed.py"
    with LocalEngine(GradingSpec.of(homework, LEVEL)) as engine:
        return _terminal(grade_file(sample, homework, engine), Audience.STUDENT, "softmark grade")


def _terminal(result: Result, audience: Audience, title: str) -> str:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    show(result, console, audience)
    return console.export_svg(title=title, unique_id="softmark")


@cache
def documents() -> dict[Path, str]:
    """Every generated file of docs/ with the content it should have."""
    made = {PICTURES / "grade.svg": draw_grade()}
    page = [(DOCS / "feedback.head.md").read_text().rstrip()]
    for number, (failure, result) in enumerate(zip(FAILURES, _graded(), strict=True), start=1):
        name = f"feedback-{number:02}"
        made[PICTURES / f"{name}.svg"] = _terminal(_first_only(result), Audience.STUDENT, "softmark check")
        page += ["", f"## {number}. {failure.title}", "", f"![In the terminal](pictures/{name}.svg)"]
        for drawing in _drawings(feedback_for(result, Audience.STAFF)):
            made[PICTURES / f"{name}-matrix.svg"] = standalone(drawing)
            page += ["", f"![Expected, got, difference](pictures/{name}-matrix.svg)"]
            break
    page.append(text_failures.table(ROOT))
    made[DOCS / "commands.md"] = write_commands()
    made[DOCS / "feedback.md"] = "\n".join(page) + "\n"
    return made


def _graded() -> list[Result]:
    sys.path.insert(0, str(ROOT))
    homework = load_homework("attention_scores", ROOT)
    mistakes = {entry.name: entry for entry in load_mistakes(homework, ("mistakes",)).mistakes}
    source = homework.reference.read_text()
    variants = [
        Variant(
            "sample",
            "attention_scores",
            plant(source, mistakes[failure.mistake]) if failure.mistake else f"{source}\n\n{failure.appended}",
        )
        for failure in FAILURES
    ]
    with Rounds(jobs=1) as rounds:
        return rounds.begin(homework, variants).results()


def _first_only(result: Result) -> Result:
    """Without later parts' failures: the page shows one thing at a time."""
    wrong = next(test.part for test in result.tests if test.verdicts)
    tests = tuple(test for test in result.tests if test.part == wrong)
    return msgspec.structs.replace(result, tests=tests)


def _drawings(told: Feedback) -> Iterator[Picture]:
    for section in told.sections:
        yield from (block for block in section.blocks if isinstance(block, Picture))


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for path, content in documents().items():
        path.write_text(content)
