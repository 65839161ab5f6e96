"""Makes results to render, with one of each kind of thing that can happen."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from softmark.course.deadlines import LatePolicy, lateness
from softmark.course.homework import Homework, Part
from softmark.course.pending import finished_test, pending
from softmark.course.testspecs import Column, TestSpec
from softmark.records.result import CaseResult, Excerpt, Outcome, Provenance, Result, Status, Submission
from softmark.records.verdict import Category, Cause, CodeLine, Picture, Verdict

HIDDEN_NUMBER = "5.123456"
STAFF_SECRET = "seed 987654"
TEST_HIDDEN_BY = "Look at your mask again."

HOMEWORK = Homework(
    name="attention_scores",
    root=Path("/course"),
    title="From dot products to attention",
    file="attention_scores.py",
    points=Fraction(10),
    parts=(
        Part("1", "project", "Queries, keys and values", points=Fraction(2)),
        Part("2", "scores", "The score matrix", points=Fraction(5)),
        Part("3", "mask", "Masks", points=Fraction(3)),
    ),
    forbidden=(),
    limits={},
)


def spec(number: str, title: str, weight: int, **changes: Any) -> TestSpec:
    values: dict[str, Any] = {
        "name": f"test_{number.replace('.', '_')}",
        "nodeid": f"t.py::test_{number.replace('.', '_')}",
        "number": number,
        "part": number.partition(".")[0],
        "title": title,
        "weight": Fraction(weight),
        "visibility": "visible",
        "tags": (),
        "hide_errors": None,
        "leaderboard": None,
        "all_or_nothing": False,
        "cases": ("",),
        "file": "t.py",
        "line": 1,
    }
    return TestSpec(**{**values, **changes})


SPECS = (
    spec("1.1", "Q = X W_Q, K = X W_K, V = X W_V.", 2, leaderboard=Column("operations", "asc")),
    spec("2.1", "The score matrix S = Q Kᵀ / √d_k.", 3, cases=("a", "b", "c"), tags=("scale",)),
    spec("2.2", "Scores with two batch dimensions.", 2, visibility="after_published"),
    spec("3.1", "A causal mask.", 1, visibility="hidden"),
    spec("3.2", "A padding mask.", 2, hide_errors=TEST_HIDDEN_BY),
)

WRONG_SCALE = Verdict(
    category=Category.VALUE,
    fact="all 35 numbers are wrong",
    where=f"worst at [2, 3]: got {HIDDEN_NUMBER}, expected 1.7",
    staff=STAFF_SECRET,
    causes=(
        Cause(
            name="no_scale",
            says="Your scores are √d_k times too large.",
            hint="Divide by the square root of the key's width.",
        ),
    ),
    frames=(CodeLine(file="attention_scores.py", line=41, function="scores", text="return Q @ K.mT"),),
    picture=Picture(expected=((1.0, 2.0), (0.5, -1.0)), got=((1.7, 2.0), (None, -1.7))),
)
WRONG_SHAPE = Verdict(category=Category.SHAPE, fact="shape (3, 5), expected (5, 3)")


def second_zero() -> Result:
    return pending(
        HOMEWORK,
        SPECS,
        Submission(id="s17", name="ada_lovelace", file="attention_scores.py", sha256="0" * 64),
        Provenance(isolation="full", softmark="0.1.0", torch="2.13.0", python="3.11.2"),
    )


def passed(name: str = "") -> CaseResult:
    return CaseResult(id=name, outcome=Outcome.PASSED, share="1")


def failed(name: str, *verdicts: Verdict) -> CaseResult:
    return CaseResult(id=name, outcome=Outcome.FAILED, share="0", verdicts=verdicts)


def with_cases(result: Result, index: int, *cases: CaseResult, value: float | None = None) -> Result:
    return result.with_test(finished_test(SPECS[index], {case.id: case for case in cases}, value))


def graded() -> Result:
    """Return a result: part 1 right, part 2 partly, part 3 wrong in two tests that say little or nothing."""
    result = second_zero()
    result = with_cases(result, 0, passed(), value=42.0)
    result = with_cases(result, 1, passed("a"), failed("b", WRONG_SCALE), failed("c", WRONG_SCALE))
    result = with_cases(result, 2, failed("", WRONG_SCALE))
    result = with_cases(result, 3, failed("", WRONG_SHAPE))
    result = with_cases(result, 4, failed("", WRONG_SHAPE))
    return msgspec.structs.replace(
        result,
        seconds=3.25,
        notes=("The file was named Scores.PY; it was taken as attention_scores.py.",),
        staff_notes=("one process was left behind",),
        printed=Excerpt(stdout="printed by the student"),
    )


def not_gradable() -> Result:
    return msgspec.structs.replace(
        second_zero(),
        status=Status.NOT_GRADABLE,
        reason="attention_scores.py could not be loaded: '(' was never closed",
        reason_frames=(CodeLine(file="attention_scores.py", line=12, function="", text="softmax(Q @ K.T"),),
        seconds=1.0,
    )


def handed_in(late: timedelta, result: Result | None = None) -> Result:
    """Return a result of something handed in so late: 10 % a day, after an hour of grace."""
    due = datetime(2026, 3, 2, 23, 59, tzinfo=UTC)
    policy = LatePolicy(percent_per_day=Fraction(10), grace=timedelta(hours=1))
    return msgspec.structs.replace(result or graded(), lateness=lateness(policy, HOMEWORK.points, due + late, due))


LATE = timedelta(days=1, hours=3)
LATE_LINE = "Handed in 1 day 3 hours late: 2 days at 10 % each, −2 of 10 points."


def with_student_text(text: str) -> Result:
    """Return a result in which everything that a student has a say in is this text."""
    verdict = Verdict(
        category=Category.ERROR,
        fact=text,
        where=text,
        staff=text,
        causes=(Cause(name=text, says=text, hint=text),),
        frames=(CodeLine(file=text, line=1, function=text, text=text),),
        picture=Picture(expected=((1.0,),), got=((2.0,),), caption=text),
        subtest=text,
    )
    result = with_cases(second_zero(), 1, failed("a", verdict), passed("b"), passed("c"))
    carried = CaseResult(id="", outcome=Outcome.PASSED, share="1", carried=(text,))
    result = result.with_test(finished_test(SPECS[2], {"": carried}))
    result = result.with_test(finished_test(SPECS[0], {"": passed()}, text[:100]))
    return msgspec.structs.replace(
        result,
        submission=Submission(id=text, name=text, file=text, sha256="0" * 64),
        reason=text,
        reason_frames=(CodeLine(file=text, line=1, function=text, text=text),),
        notes=(text,),
        staff_notes=(text,),
        printed=Excerpt(stdout=text, stderr=text),
    )


PAYLOADS = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)></textarea><svg onload=alert(1)>",
    "attribute": '" onmouseover="alert(1)" x=\'',
    "markdown": "![x](http://evil.example/beacon) [y](javascript:alert(1)) **bold** `code` # head\n# head",
    "fence": "```\n</code></pre><b>out</b>\n```",
    "table": "a | b |\n|---|---|",
    "ansi": "\x1b[2J\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b]8;;http://evil.example\x1b\\x",
    "c1": "\x9b31mred\x9d0;title\x9c",
    "overwrite": "FAILED\rPASSED",
    "backspace": "FAILED\b\b\b\b\b\bPASSED",
    "bidi": "\u202egnp.exe\u202c \u2066x\u2069 a\u200bb\u200f\ufeff",
    "tags": "x\U000e0041\U000e0042\u00ad\u3164",
    "markup": "[bold red]x[/bold red] [link=http://evil.example]y[/link] [/] [",
    "ci": "::error::forged\n::add-mask::a\n ::set-output name=x::y\n##[group]x",
    "format": "%s %n {0.__class__} {told} {{ told }} {% raw %}",
    "nul": "a\x00b\u2028c\u2029d",
    "surrogate": "a\ud800b\udfffc",
    "zalgo": "a" + "\u0301" * 50,
}
