"""A release gives away nothing of the course's own homeworks, and whatever is planted is found."""

from __future__ import annotations

import ast
import io
import json
import re
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from softmark.authoring.build import buildable
from softmark.authoring.given_away import given_away
from softmark.authoring.packed_self import archived
from softmark.authoring.release import Release, releases
from softmark.course.homework import Homework, load_homework

ROOT = Path(__file__).parents[2]
LONG = 25  # characters: a shorter line, such as `with torch.no_grad():`, is no secret


def texts(name: str, content: bytes) -> Iterator[str]:
    """Every text in a file, those in a wheel and in the cells of a notebook included."""
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for inside in archive.namelist():
                yield from texts(inside, archive.read(inside))
    elif name.endswith(".ipynb"):
        yield from (cell.source for cell in nbformat.reads(content.decode(), as_version=4).cells)
    else:
        yield content.decode()


def code_lines(text: str) -> list[str]:
    """The lines of a text that may be code, without comments, and without what every test file has."""
    lines = (re.sub(r"\s+#.*", "", line).strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith(("#", "import ", "from ", "@", '"""', "def ", ")"))]


def handed_out(release: Release) -> dict[str, list[str]]:
    """The lines of code of each file that a student finds in the zip."""
    return {
        name: [line for text in texts(name, content) for line in code_lines(text)]
        for name, content in zip_contents(release).items()
    }


def zip_contents(release: Release) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(release.zip)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def programs_of_mistakes(homework: Homework) -> Iterator[str]:
    for file in (homework.folder / "mistakes").glob("*.toml"):
        for entries in tomllib.loads(file.read_text()).values():
            yield from (entry["body"] for entry in entries if "body" in entry)


def names_of_mistakes(homework: Homework) -> Iterator[str]:
    for file in (homework.folder / "mistakes").glob("*.toml"):
        for entries in tomllib.loads(file.read_text()).values():
            edits = [entry["edit"] for entry in entries if "edit" in entry]
            for edit in edits:
                yield from (" ".join(one.split()) for one in ([edit] if isinstance(edit, str) else edit))


@pytest.mark.parametrize("name", buildable(ROOT))
def test_the_course_gives_nothing_away(name: str) -> None:
    """Seen without the program's own search: no line of a solution, of right code by another way or of a mistake's, no
    edit that makes a mistake, and no three lines in a row of a hidden test are in any file of the zip."""
    homework = load_homework(name, ROOT)
    (release,) = releases([homework])
    reference = homework.reference.read_text()
    solutions = re.findall(r"# BEGIN SOLUTION\n(.*?)# END SOLUTION", reference, re.DOTALL)
    others = [file.read_text() for file in (homework.folder / "equivalents").glob("*.py")]
    given = set(code_lines(re.sub(r"# BEGIN SOLUTION\n.*?# END SOLUTION", "", reference, flags=re.DOTALL)))
    secret = {line for text in (*solutions, *programs_of_mistakes(homework)) for line in code_lines(text)} - given
    hidden = [file.read_text() for file in homework.folder.glob("test_*.py")]
    rows = {row for text in (*hidden, *others) for row in in_a_row(text)}
    edits = {edit for edit in names_of_mistakes(homework) if len(edit) > 12}
    assert len(secret) > 20
    assert len(rows) > 50
    for file, lines in handed_out(release).items():
        assert {line for line in lines if len(line) >= LONG} & secret == set(), file
        assert in_a_row("\n".join(lines)) & rows == set(), file
        assert [edit for edit in edits if edit in "\n".join(lines)] == [], file


def in_a_row(source: str) -> set[tuple[str, ...]]:
    lines = code_lines(source)
    return {row for row in zip(lines, lines[1:], lines[2:], strict=False) if sum(map(len, row)) >= 2 * LONG}


class TestPlanted:
    """Secrets of a real homework, in files of every kind and in another layout."""

    @pytest.fixture
    def homework(self) -> Homework:
        return load_homework("attention_scores", ROOT)

    @pytest.fixture
    def solution(self, homework: Homework) -> str:
        """The body of `scores`, written differently."""
        tree = ast.parse(homework.reference.read_text())
        (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "scores")
        lines = "\n".join(ast.unparse(node) for node in function.body[1:])
        return re.sub(r"([-*/(])", r" \1 ", lines).replace("\n", "  # so\n\n\t")

    def test_in_a_file_of_any_kind(self, homework: Homework, solution: str) -> None:
        """A program, a handout, a page of HTML, a notebook, JSON, and a wheel."""
        notebook = nbformat.writes(new_notebook(cells=[new_code_cell(f"def mine(Q, K):\n\t{solution}")]))
        page = solution.replace("\n", "<br>\n").replace("math", "<b>math</b>")
        contents = {
            "train.py": f"def mine(Q, K):\n\t{solution}\n".encode(),
            "README.md": f"For instance\n\n```python\n{solution}\n```\n".encode(),
            "README.html": f"<html><pre>{page}</pre></html>".encode(),
            "hw.ipynb": notebook.encode(),
            "examples.json": json.dumps({"a": [{"hint": solution}]}).encode(),
            "softmark.whl": archived({"softmark/x.py": solution.encode()}),
        }
        for name, content in contents.items():
            found = list(given_away(homework, {name: content}))
            assert found == [f"{name} holds a solution of reference/attention_scores.py"]

    def test_of_any_kind(self, homework: Homework) -> None:
        """A hidden test, right code by another way, a mistake's edit and its program, numbers and texts of a test."""
        hidden = next(homework.folder.glob("test_part3*.py"))
        function = next(node for node in ast.parse(hidden.read_text()).body if isinstance(node, ast.FunctionDef))
        equivalent = homework.folder / "equivalents.py"
        variant = next(node for node in ast.parse(equivalent.read_text()).body if isinstance(node, ast.FunctionDef))
        planted = {
            f"`{function.name}` of graders/attention_scores/{hidden.name}": ast.unparse(function),
            f"`{variant.name}` of graders/attention_scores/equivalents.py": ast.unparse(variant),
            "`edit` of graders/attention_scores/mistakes/part3_scores.toml": "S/math.sqrt(d_k)  →  S",
        }
        for what, text in planted.items():
            assert f"x.txt holds {what}" in list(given_away(homework, {"x.txt": text.encode()}))

    def test_inputs(self) -> None:
        """Numbers in whatever way they are written, and texts; but not those that the handout shows."""
        homework = load_homework("byte_pair_encoding", ROOT)
        text = "low low low low low lower lower newest newest newest newest newest newest widest widest widest"
        assert text in (homework.folder / "inputs.py").read_text()
        told = ["x.json holds a text of graders/byte_pair_encoding/inputs.py"]
        assert list(given_away(homework, {"x.json": json.dumps([text]).encode()})) == told
        shown = {"x.json": json.dumps([text]).encode(), "README.md": text.encode()}
        assert list(given_away(homework, shown)) == []
        homework = load_homework("language_model", ROOT)
        assert "[[0, 0.25, 0.5, 0, 0.25, 0, 0]]" in (homework.folder / "test_part6_generate.py").read_text()
        row = b'{"args": [[[0.0, 0.250, 0.5, 0.0, 0.25, 0.0, 0.0]]]}'
        assert "numbers of graders/language_model/test_part6_generate.py" in next(given_away(homework, {"x.json": row}))
