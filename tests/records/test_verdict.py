"""A verdict: cut, sound, and the same in results of every age."""

import subprocess
import sys

import msgspec
import pytest

from softmark.records.result import encode
from softmark.records.verdict import LONGEST_TEXT, Category, Cause, Code, CodeLine, Picture, Verdict

BEFORE_CODES = b"""{"category": "nan", "fact": "2 of 2 numbers are NaN", "where": "at [0, 1]", "staff": "seed 1",
"causes": [{"name": "no_scale + no_max", "says": "Both.", "hint": "Look."}],
"frames": [{"file": "scores.py", "line": 4, "function": "scores", "text": "return Q"}],
"picture": {"expected": [[1.0, 2.0]], "got": [[null, null]], "caption": "at [0, 1, :, :]"}, "subtest": "[one]"}"""
"""A verdict as results hold it that were written before verdicts had codes."""


class TestJson:
    """The form in results, which is public: fields are only added."""

    def test_older_verdicts_are_read(self) -> None:
        """Every field of an older verdict has its place, and what was not noted then is empty."""
        assert msgspec.json.decode(BEFORE_CODES, type=Verdict) == Verdict(
            Category.NAN,
            "2 of 2 numbers are NaN",
            where="at [0, 1]",
            staff="seed 1",
            causes=(Cause("no_scale + no_max", says="Both.", hint="Look."),),
            frames=(CodeLine("scores.py", 4, "scores", "return Q"),),
            picture=Picture(expected=((1.0, 2.0),), got=((None, None),), caption="at [0, 1, :, :]"),
            subtest="[one]",
        )

    def test_no_field_of_older_verdicts_is_lost(self) -> None:
        """New results have every field that old ones had."""
        written = msgspec.json.decode(msgspec.json.encode(msgspec.json.decode(BEFORE_CODES, type=Verdict)))
        before = msgspec.json.decode(BEFORE_CODES)
        assert {key: written[key] for key in before if key != "causes"} | {"causes": before["causes"]} == before
        assert before["causes"][0].items() <= written["causes"][0].items()


class TestVerdict:
    """Properties of every verdict."""

    @pytest.mark.parametrize("field", ["fact", "where", "staff"])
    def test_texts_are_cut(self, field: str) -> None:
        """A student's words may be long, and every verdict is kept."""
        verdict = Verdict(**{"category": Category.ERROR, "fact": "", field: "x" * 3000})
        assert getattr(verdict, field) == "x" * LONGEST_TEXT

    def test_code(self) -> None:
        """A verdict without a code of its own has its category's name for one."""
        assert Verdict(Category.SHAPE, "shape (3,)").code == "shape"
        assert Verdict(Category.PROPERTY, "wrong", code=Code.GRADIENT).code == "gradient"


def test_reading_results_needs_no_torch() -> None:
    """A process that only reads or writes results stays light: no torch, numpy or pytest comes with them."""
    program = f"import sys, {encode.__module__}; print({{'torch', 'numpy', 'pytest'}} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"
