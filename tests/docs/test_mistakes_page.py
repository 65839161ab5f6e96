"""The examples of docs/mistakes.md, each loaded and planted as it stands on the page."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from softmark.authoring.new_mistake import skeletons
from softmark.authoring.plant import plant
from softmark.course.homework import load_homework
from softmark.edits.entries import MistakeEntry
from softmark.grading.author_files import load_mistakes
from tests.conftest import ROOT
from tests.support.tiny_homework import course, softmark

PAGE = (ROOT / "docs/mistakes.md").read_text()
REFERENCE = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
*EXAMPLES, SKELETON = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
ONE_LINE = 'says = "Wrong."\n'


@pytest.fixture
def homework(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    toml = (
        'title = "Tiny"\nfile = "tiny.py"\npoints = 1\n\n'
        '[[part]]\nnumber = "1"\nfunction = "scores, softmax_rows, Attention"\ntitle = "All"\npoints = 1\n'
    )
    root = course(tmp_path, reference=REFERENCE, toml=toml, mistakes="")
    monkeypatch.setattr(sys, "path", [str(root), *sys.path])
    for name in ("reference", "reference.tiny", "graders", "graders.tiny"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return root


class TestExamples:
    """Each example is an entry that can be loaded, compiled and planted."""

    @pytest.mark.parametrize("number", range(len(EXAMPLES)))
    def test_can_be_planted(self, homework: Path, number: int) -> None:
        """What comes of it is a program, and another one than the reference."""
        (homework / "graders/tiny/mistakes.toml").write_text(EXAMPLES[number])
        mistakes = load_mistakes(load_homework("tiny", homework), ("mistakes",)).mistakes
        assert len(mistakes) == sum(len(tables) for tables in tomllib.loads(EXAMPLES[number]).values())
        for mistake in mistakes:
            assert mistake.plants
            assert compile(plant(REFERENCE, mistake), "planted.py", "exec")
            assert plant(REFERENCE, mistake) != REFERENCE

    def test_name_is_the_edit(self, homework: Path) -> None:
        """The page says what staff see."""
        (homework / "graders/tiny/mistakes.toml").write_text(EXAMPLES[0])
        (mistake,) = load_mistakes(load_homework("tiny", homework), ("mistakes",)).mistakes
        assert f"such as `{mistake.name}`" in PAGE

    def test_keys_are_all_there_are(self) -> None:
        """Every key of an entry is on the page."""
        keys = {"edit", *MistakeEntry.__dataclass_fields__} - {"targets", "changes", "file", "line"}
        assert {key for key in keys if f"`{key}`" not in PAGE and f"\n{key} = " not in PAGE} == set()


class TestSkeletons:
    """`softmark new mistake` prints an entry without words for each function that differs."""

    def made(
        self, *exchanged: tuple[str, str], wanted: tuple[str, ...] = ("scores", "softmax_rows", "Attention")
    ) -> dict:
        student = REFERENCE
        for old, new in exchanged:
            assert old in student
            student = student.replace(old, new)
        return skeletons(student, REFERENCE, wanted)

    def test_is_that_of_the_page(self) -> None:
        """The page shows what is printed."""
        assert self.made(("S / math", "S * math")) == {"scores": SKELETON}

    @pytest.mark.parametrize(
        ("function", "old", "new", "edit"),
        [
            ("scores", "Q @ K.transpose", "K @ Q.transpose", "Q @ K → K @ Q"),
            ("scores", "K.shape[-1]", "K.shape[-2]", "1] → 2]"),
            ("softmax_rows", "E.sum(dim=-1", "E.sum(dim=0", None),
            ("Attention.forward", "self.keys(X)", "X", None),
            (
                "Attention.__init__",
                "        self.keys = nn.Linear(width, width)\n",
                "        self.keys = self.queries\n",
                None,
            ),
        ],
    )
    def test_gives_the_students_program(
        self, homework: Path, function: str, old: str, new: str, edit: str | None
    ) -> None:
        """With words, the entry can be loaded, and the student's function comes of it."""
        made = self.made((old, new))
        assert list(made) == [function]
        content = made[function].replace('says = ""', ONE_LINE.strip())
        (homework / "graders/tiny/mistakes.toml").write_text(content)
        (mistake,) = load_mistakes(load_homework("tiny", homework), ("mistakes",)).mistakes
        assert skeletons(plant(REFERENCE, mistake), REFERENCE.replace(old, new), (function.partition(".")[0],)) == {}
        assert edit is None or mistake.edits[0].changes[0].old == edit.partition(" →")[0]

    def test_has_a_body_if_most_differs(self, homework: Path) -> None:
        """The student's names for the arguments are set to those of the reference."""
        student = "def scores(q, k):\n    out = [[a @ b for b in k] for a in q]  # slow\n    return torch.tensor(out)\n"
        made = skeletons(student, REFERENCE, ("scores",))["scores"]
        assert made == (
            "[[scores]]\nbody = '''\nq, k = Q, K\nout = [[a @ b for b in k] for a in q]\n"
            'return torch.tensor(out)\n\'\'\'\nsays = ""\nhint = ""\n'
        )

    def test_is_printed(self, homework: Path) -> None:
        """The command prints the entries, and says so where there is nothing to print."""
        (homework / "bob.py").write_text(REFERENCE.replace("S / math", "S * math"))
        done = softmark(homework, "new", "mistake", str(homework / "bob.py"), "-a", "tiny")
        assert (done.returncode, done.stdout) == (0, SKELETON)
        done = softmark(homework, "new", "mistake", str(homework / "reference/tiny.py"), "-a", "tiny")
        assert done.returncode == 2
        assert done.stderr.endswith("tiny.py has no function of tiny that differs from the reference's\n")
        (homework / "bob.py").write_text("def scores(:\n")
        done = softmark(homework, "new", "mistake", str(homework / "bob.py"), "-a", "tiny")
        assert done.returncode == 2
        assert "bob.py: it is no Python: invalid syntax in line 1" in done.stderr
