"""The notebook: its cells, its bytes, and that it runs from top to bottom."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest

from softmark.authoring.build import buildable
from softmark.authoring.notebook import notebook, read_readme
from softmark.authoring.starter import without_solutions
from softmark.course.homework import Homework, load_homework
from softmark.records.errors import ConfigError
from tests.support.author_notebooks import run_notebook

ROOT = Path(__file__).parents[2]
HOMEWORKS = buildable(ROOT)


@pytest.fixture(scope="module")
def homework() -> Homework:
    return load_homework("attention_scores", ROOT)


def readme(name: str) -> str:
    return (ROOT / f"assignments/{name}/README.md").read_text()


def made(homework: Homework, handout: str | None = None) -> bytes:
    """The starter's notebook."""
    source = without_solutions(homework.reference.read_text(), homework)
    return notebook(source, handout or readme(homework.name), homework)


class TestNotebook:
    """What `notebook` makes."""

    def test_is_valid(self, homework: Homework) -> None:
        """It is a notebook of format 4.5, by nbformat's own judgement."""
        read = nbformat.reads(made(homework).decode(), as_version=4)
        nbformat.validate(read)
        assert (read.nbformat, read.nbformat_minor) == (4, 5)

    def test_is_the_same_every_time(self, homework: Homework) -> None:
        """Cell ids come from names, so nothing changes from one build to the next."""
        assert made(homework) == made(homework)
        ids = [cell["id"] for cell in json.loads(made(homework))["cells"]]
        assert ids[:6] == ["title", "install", "softmark", "start", "part-1-text", "part-1"]
        assert len(set(ids)) == len(ids)

    def test_begins_with_title_and_conventions(self, homework: Homework) -> None:
        """The first cell is the handout's title, what to do, and the rules that hold in every part."""
        first = "".join(json.loads(made(homework))["cells"][0]["source"])
        assert first.startswith("# Attention scores: from dot products to attention\n\n20 points.")
        assert "## Conventions" in first
        assert "**A mask is boolean, True = may look.**" in first

    @pytest.mark.parametrize("name", HOMEWORKS)
    def test_has_the_whole_handout(self, name: str) -> None:
        """Each line of the handout is in the notebook, but for the line of points, which is said anew."""
        cells = json.loads((ROOT / f"assignments/{name}/{name}.ipynb").read_text())["cells"]
        texts = {cell["id"]: "".join(cell["source"]) for cell in cells}
        shown = [line for identity, text in texts.items() for line in text.splitlines() if "check" not in identity]
        title, _, points, *lines = readme(name).splitlines()
        assert title in shown
        assert " points · " in points
        missing = [line for line in lines if line not in shown and not line.startswith("```")]
        assert missing == []

    def test_order_of_the_handout(self, homework: Homework) -> None:
        """The picture of the whole and the rules stand above the parts, the closing questions below them."""
        cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(made(homework))["cells"]}
        places = [cells["title"].index(text) for text in ("20 points.", "W_Q ──►  Q", "| 7 |", "## Conventions")]
        assert places == sorted(places)
        assert list(cells)[-1] == "closing"
        assert cells["closing"].startswith("## Trying it")
        assert "* Do the rows of my weights sum to 1?" in cells["closing"]

    def test_what_may_be_used_is_said_above(self) -> None:
        """Also where the handout says it below the parts."""
        homework = load_homework("positional_encoding", ROOT)
        assert readme(homework.name).index("## What you may use") > readme(homework.name).index("## Part 6")
        cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(made(homework))["cells"]}
        assert "## What you may use" in cells["title"]
        assert "## Before you hand in" in cells["closing"]

    def test_has_the_formulas_of_a_part(self, homework: Homework) -> None:
        """Before the code of part 3 stands the handout's section on it, with number, title, points and formula."""
        cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(made(homework))["cells"]}
        assert cells["part-3-text"].startswith("## Part 3: scores (4 points)\n")
        assert r"\frac{Q K^\top}{\sqrt{d_k}}" in cells["part-3-text"]
        assert cells["part-3"].startswith("def scores(")
        assert cells["part-3"].endswith('raise NotImplementedError("part 3: scores")')
        assert cells["part-3-check"] == 'check("attention_scores", part="3")'

    def test_tags_what_is_not_the_students(self, homework: Homework) -> None:
        """The cells of Softmark's own can be left out when a notebook is handed in."""
        cells = json.loads(made(homework))["cells"]
        tagged = [cell["id"] for cell in cells if cell["metadata"].get("tags") == ["softmark"]]
        assert tagged == [c["id"] for c in cells if c["id"] in ("install", "softmark") or c["id"].endswith("-check")]

    @pytest.mark.parametrize(
        ("before", "after", "problem"),
        [
            ("## Part 3: scores (4 points)", "## Scores", "no heading “## Part 3: title"),
            ("## Part 3: scores (4 points)", "## Part 3: scores (5 points)", "5 points here, 4 in fact"),
            ("# Attention scores:", "Attention scores:", "the first line must be the title"),
        ],
    )
    def test_refuses_a_handout(self, homework: Homework, before: str, after: str, problem: str) -> None:
        """A handout that does not fit the homework is named with what is missing."""
        with pytest.raises(ConfigError, match=problem):
            made(homework, readme("attention_scores").replace(before, after))

    def test_ends_with_what_is_not_graded(self, homework: Homework) -> None:
        """A section that is not graded stands at the end. Its blocks in ipython are cells, others stay text."""
        shell, cell = "```text\npython play.py\n```", "```ipython\n%run play.py\n```"
        extra = f"\n## Playing (not graded)\n\nIn a shell:\n\n{shell}\n\n{cell}\n\nThat is it.\n"
        cells = json.loads(made(homework, readme(homework.name) + extra))["cells"][-3:]
        assert [cell["cell_type"] for cell in cells] == ["markdown", "code", "markdown"]
        before, code, after = ("".join(cell["source"]) for cell in cells)
        assert before == f"## Playing (not graded)\n\nIn a shell:\n\n{shell}"
        assert code == "%run play.py"
        assert after == "That is it."

    def test_reads_over_code_blocks(self, homework: Homework) -> None:
        """A comment in a code block is no heading."""
        text = "# Title\n\n## One\n\n```sh\n## not a heading\n```\n\nend\n"
        assert list(read_readme(text, homework).sections) == ["One"]


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jupyter reads and writes nothing of the user's."""
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "jupyter"))


@pytest.mark.parametrize("name", HOMEWORKS)
class TestFromTopToBottom:
    """Every homework's notebook, run in Jupyter as a student would."""

    def test_bare(self, name: str) -> None:
        """The starter runs without an exception, and every check cell says that its part is not done yet."""
        folder = ROOT / "assignments" / name
        shown = run_notebook((folder / f"{name}.ipynb").read_bytes(), folder)
        for part in load_homework(name, ROOT).parts:
            said = shown[f"part-{part.number}-check"]
            assert "not done yet" in said or "waits for part" in said
            assert "public tests: 0 of " in said
            assert "✗" not in said

    def test_solved(self, name: str) -> None:
        """With the solution in place every public test passes."""
        homework = load_homework(name, ROOT)
        source = homework.reference.read_text()
        shown = run_notebook(notebook(without_markers(source), readme(name), homework), ROOT / "assignments" / name)
        for part in homework.parts:
            said = shown[f"part-{part.number}-check"]
            assert "✓" in said
            assert re.search(r"public tests: (\d+) of \1;", said)


def without_markers(reference: str) -> str:
    return "\n".join(line for line in reference.splitlines() if "SOLUTION" not in line)


def test_a_mistake_is_named_in_its_cell(homework: Homework) -> None:
    """A wrong part says why below itself; a cell that was wrong is no matter for the parts that are right."""
    source = without_markers(homework.reference.read_text()).replace("return S / math.sqrt(d_k)", "return S")
    shown = run_notebook(notebook(source, readme(homework.name), homework), ROOT / "assignments" / homework.name)
    assert "Your scores are √d_k times too large: they are not scaled." in shown["part-3-check"]
    assert "✓" in shown["part-2-check"]
