"""Names of a homework.toml that stand for nothing are refused, with file, line and the name that was meant."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from softmark.course.homework import homework_names, load_homework
from softmark.grading.resolved_names import check_names
from softmark.records.errors import ConfigError
from tests.support.course import NAME, write_course

ROOT = Path(__file__).parents[2]
RULE = """[[forbidden]]
names = ["torch.nn.LSTM", "torch.Tensor.backward"]
ops = [
    "aten::lstm",
    "aten::*lstm*",
]
instead = "sums"
"""


def refused(tmp_path: Path, old: str, new: str) -> str:
    """The message, with the line that is named in place of its number."""
    assert RULE.count(old) == 1
    homework = load_homework(NAME, write_course(tmp_path, "", more=RULE.replace(old, new)))
    with pytest.raises(ConfigError) as error:
        check_names(homework)
    assert new in (homework.folder / "homework.toml").read_text().splitlines()[error.value.line - 1]
    assert error.value.file == f"graders/{NAME}/homework.toml"
    return error.value.problem


def test_all_homeworks_name_what_there_is() -> None:
    for name in homework_names(ROOT):
        check_names(load_homework(name, ROOT))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("torch.nn.LSTM", "torch.nn.LSTMM", "torch.nn has no 'LSTMM'. Did you mean 'torch.nn.LSTM'?"),
        ("torch.nn.LSTM", "torch.nm.LSTM", "torch has no 'nm'. Did you mean 'torch.n"),
        ("torch.nn.LSTM", "trch.nn.LSTM", "there is no module 'trch'. Did you mean 'torch'?"),
        ("torch.nn.LSTM", "torch.nn", "it is a module; name the functions and classes themselves"),
        ("torch.nn.LSTM", "torch.pi", "it is no function and no class; name the functions and classes themselves"),
        ("torch.Tensor.backward", "torch.Tensor.backwards", "torch.Tensor has no 'backwards'. Did you mean"),
    ],
)  # fmt: skip
def test_forbidden_names(old: str, new: str, problem: str, tmp_path: Path) -> None:
    assert refused(tmp_path, f'"{old}"', f'"{new}"').startswith(f"{new!r} cannot be forbidden: {problem}")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("aten::lstm", "aten::lsstm", ". Did you mean 'aten::lstm'?"),
        ("aten::lstm", "aten::lstm.input", ". Did you mean 'aten::lstm'?"),
        ("aten::*lstm*", "aten::*lsstm*", ""),
    ],
)
def test_operators_and_patterns(old: str, new: str, problem: str, tmp_path: Path) -> None:
    """Overloads are not told apart when a call is watched, so a name with one would match nothing."""
    assert refused(tmp_path, f'"{old}"', f'"{new}"').startswith(f"{new!r} matches no operator of this torch{problem}")


def test_functions_of_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the reference's text does not tell what it defines, as with `from solution import *`."""
    homework = load_homework(NAME, write_course(tmp_path, ""))
    reference = ModuleType(f"reference.{NAME}")
    monkeypatch.setitem(sys.modules, f"reference.{NAME}", reference)
    reference.ones = None  # type: ignore[attr-defined]
    check_names(homework)  # of another course that is graded in the same process
    reference.__file__ = str(homework.reference)
    with pytest.raises(
        ConfigError, match=rf"homework.toml:\d+: reference/{NAME}.py defines no 'one'. Did you mean 'ones'"
    ):
        check_names(homework)
