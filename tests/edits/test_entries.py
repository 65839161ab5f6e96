"""Named mistakes as edits: files of TOML, what they plant, and every refusal with its file, line and sentence."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path

import pytest

from softmark.authoring.plant import plant
from softmark.course.homework import load_homework
from softmark.grading.author_files import load_mistakes
from softmark.records.errors import ConfigError
from softmark.verdict.mistakes import Mistake
from tests.support.tiny_homework import course

REFERENCE = '''"""Tiny."""

import torch
from torch import nn


def double(x):
    """Return x + x."""
    y = x + x  # twice
    return y


def again(x):
    """Double x, and double it again."""
    return double(double(x)) + 0 * x


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        """Apply the gain."""
        return double(self.gain * x)

    limit = 3
'''


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Load a text as the one file of named mistakes of a homework."""
    root = course(tmp_path, reference=REFERENCE, mistakes="")
    (root / "graders/tiny/mistakes").mkdir()
    monkeypatch.setattr(sys, "path", [str(root), *sys.path])
    for name in ("reference", "reference.tiny", "graders", "graders.tiny"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def loaded(text: str) -> list[Mistake]:
        (root / "graders/tiny/mistakes/part1.toml").write_text(text)
        return load_mistakes(load_homework("tiny", root), ("mistakes",)).mistakes

    return loaded


def only(mistakes: list[Mistake]) -> Mistake:
    (mistake,) = mistakes
    return mistake


class TestEntries:
    """An entry is a mistake like any other: with a target, a function to plant, and words."""

    def test_has_what_the_author_wrote(self, load) -> None:
        """The edit is its name, and its line is that of the edit."""
        text = (
            '# Words.\n\n[[double]]\nedit = "x + x → x * x"\nsays = "Squared."\nhint = "Add."\nid = "T1"\nworth = 0.5\n'
        )
        made = only(load(text))
        assert (made.says, made.hint, made.id, made.worth) == ("Squared.", "Add.", "T1", 0.5)
        assert (made.name, made.target_name, made.line) == ("double: x + x → x * x", "double", 4)
        assert [variant(3) for _, variant in made.plants] == [9]

    def test_may_have_a_name(self, load) -> None:
        """A name that the author chose is the one that staff see."""
        assert only(load('[[double]]\nname = "squared"\nedit = "+ → *"\nsays = "Squared."\n')).name == "squared"

    def test_several_edits_and_every(self, load) -> None:
        """Several places of one function are changed by one mistake."""
        text = '[[again]]\nedit = ["every double → -", "0 * x → 1"]\nsays = "Signs."\n'
        assert only(load(text)).plants[0][1](5) == 6

    def test_body(self, load) -> None:
        """Other statements stand under the same first line and docstring."""
        made = only(load("[[double]]\nbody = '''\nif x:\n    return x * 3\nreturn 1\n'''\nsays = 'Three.'\n"))
        variant = made.plants[0][1]
        assert (variant(2), variant(0), variant.__doc__) == (6, 1, "Return x + x.")

    def test_method_with_super(self, load) -> None:
        """`super()` works in an edited method, and the names are those of the reference."""
        made = only(load('[["Net.__init__"]]\nedit = "ones → zeros"\nsays = "Zero."\n'))
        (target, variant), *_ = made.plants
        assert target.__qualname__ == variant.__qualname__ == "Net.__init__"
        net = target.__globals__["Net"].__new__(target.__globals__["Net"])
        variant(net, 2)
        assert net.gain.tolist() == [0, 0]

    def test_class(self, load) -> None:
        """A mistake that shows in several methods edits the class."""
        edits = '["torch.ones(width) → torch.ones(2 * width)", "self.gain * → self.gain[::2] *"]'
        made = only(load(f'[[Net]]\nedit = {edits}\nsays = "Wide."\n'))
        net = made.plants[0][1](2)
        assert net.gain.shape == (4,)
        assert net(3).tolist() == [6, 6]

    def test_several_targets(self, load) -> None:
        """One mistake may be made in several functions at once."""
        made = only(load('[["double, again"]]\nedit = "return → return 1 +"\nsays = "One too many."\n'))
        assert made.target_names == ("double", "again")
        assert [variant(1) for _, variant in made.plants] == [3, 5]

    def test_text_can_be_quoted(self, load) -> None:
        """A failure inside an edited function shows the edited line."""
        variant = only(load('[[double]]\nedit = "x + x → x / (x - x)"\nsays = "Never."\n')).plants[0][1]
        line = linecache.getline(variant.__code__.co_filename, variant.__code__.co_firstlineno + 2)
        assert line == "    y = x / (x - x)  # twice\n"

    def test_planted_text_keeps_comments_and_layout(self, load) -> None:
        """The planted program is the reference with the edit in it, and nothing else."""
        made = only(load('[["double, Net.forward"]]\nedit = "return → return -"\nsays = "Sign."\n'))
        assert plant(REFERENCE, made) == REFERENCE.replace("return y", "return - y").replace(
            "return double(self", "return - double(self"
        )

    def test_order_is_that_of_the_file(self, load) -> None:
        """Entries of several functions may stand in turns."""
        text = "".join(
            f'[[{name}]]\nedit = "return → return {n} +"\nsays = "{n}"\n'
            for n, name in enumerate(["double", "again", "double"])
        )
        assert [made.says for made in load(text)] == ["0", "1", "2"]


WORDS = '\nsays = "Wrong."\n'
REFUSED = {
    "not_there": ('[[double]]\nedit = "x + z → x"', 2, "'x + z' does not occur in double of the reference"),
    "part_of_a_name": (
        '[["Net.__init__"]]\nedit = "sup → x"',
        2,
        "'sup' does not occur in Net.__init__ of the reference",
    ),
    "twice": (
        '[[again]]\nedit = "double → -"',
        2,
        "'double' occurs 2 times in again of the reference: write more of the line, or `every` before it",
    ),
    "no_change": (
        '[[double]]\nedit = "x + x → x  +  x"',
        2,
        "'x + x → x  +  x' changes nothing: its old and its new text are the same",
    ),
    "same_body": ("[[double]]\nbody = '''\ny = x + x\nreturn y\n'''", 2, "nothing changes: double has this body"),
    "no_arrow": ('[[double]]\nedit = "x + x"', 2, "'x + x' is no edit: write the old text, one →, and the new text"),
    "no_old_text": (
        '[[double]]\nedit = " → x"',
        2,
        "' → x' has no old text: write before the → what stands in the reference",
    ),
    "overlapping": (
        '[[double]]\nedit = [\n"x + x → x",\n"y = x → y = 1",\n]',
        2,
        "two of its changes of double overlap: write them as one",
    ),
    "unknown_function": ('[[doubled]]\nedit = "x → y"', 2, "the reference defines no 'doubled'"),
    "no_function": ('[["Net.limit"]]\nedit = "x → y"', 2, "the reference defines no 'Net.limit'"),
    "names_itself": (
        '[[double]]\nedit = "x + x → double(x)"',
        2,
        "the new text names double itself: it would call itself for ever",
    ),
    "body_of_a_class": ('[[Net]]\nbody = "pass"', 2, "Net is a class: a body belongs to a function or a method"),
    "no_edit": ("[[double]]", 1, "an entry has either an edit or a body"),
    "both": ('[[double]]\nedit = "x + x → x"\nbody = "return x"', 1, "an entry has either an edit or a body"),
    "unknown_key": ('[[double]]\nedit = "x + x → x"\nword = "x"', 3, "double 1 word: unknown key 'word'"),
    "worth": ('[[double]]\nedit = "x + x → x"\nworth = 1', 3, "worth is 1, it must be at least 0 and less than 1"),
    "one_bracket": ('[double]\nedit = "x + x → x"', 1, "an entry begins with [[double]], in two pairs of brackets"),
}


class TestRefusals:
    """Every refusal names the file, the line and the reason in one sentence."""

    @pytest.mark.parametrize("name", sorted(REFUSED))
    def test_of_one_entry(self, load, name: str) -> None:
        """It is refused when the homework is loaded."""
        text, line, sentence = REFUSED[name]
        with pytest.raises(ConfigError) as refused:
            load(text + WORDS)
        assert str(refused.value).endswith(f"graders/tiny/mistakes/part1.toml:{line}: {sentence}")

    def test_same_edit_twice(self, load) -> None:
        """The same program comes of two entries, however they are written."""
        one, two = ('[[double]]\nedit = "x + x → x * x"', '[[double]]\nedit = "+ → *"')
        with pytest.raises(ConfigError) as refused:
            load(one + WORDS + one.replace("x * x", "x*x") + WORDS)
        assert "part1.toml:5: the same edit stands at " in str(refused.value)
        assert str(refused.value).endswith("part1.toml:2: keep one of them")
        with pytest.raises(ConfigError, match="the same edit stands at"):
            load(one + WORDS + two + WORDS)

    def test_same_text_at_two_places(self, load) -> None:
        """The same text put in at two places makes two programs, also if the old texts begin alike."""
        first, second = ('[[double]]\nedit = "x + x → - x + x"', '[[double]]\nedit = "x + x → x + - x"')
        assert len(load(first + WORDS + second + WORDS)) == 2
        with pytest.raises(ConfigError, match="the same edit stands at"):
            load(second + WORDS + second.replace("x + x →", "+ x →").replace("→ x + - x", "→ + - x") + WORDS)

    def test_no_words(self, load) -> None:
        """An entry without a sentence for the student is no named mistake."""
        with pytest.raises(ConfigError, match=r"part1\.toml:3: says is empty: name the mistake in one sentence"):
            load('[[double]]\nedit = "+ → *"\nsays = " "\n')
        with pytest.raises(ConfigError, match=r"part1\.toml:1: double 1: the key 'says' is missing"):
            load('[[double]]\nedit = "+ → *"\n')

    @pytest.mark.parametrize(
        ("edit", "sentence"),
        [
            ("y = x + x → y = (x", "what comes of double is no Python: '(' was never closed in 'y = (x  # twice'"),
            ("y = x + x → ", "what comes of double uses 'y', which the reference does not define"),
            ("x + x → math.pi", "what comes of double uses 'math', which the reference does not define"),
        ],
    )
    def test_of_what_comes_of_it(self, load, edit: str, sentence: str) -> None:
        """What is no Python, or names what is not there, is refused with the line when it is planted."""
        made = only(load(f'[[double]]\nedit = "{edit}"{WORDS}'))
        with pytest.raises(ConfigError) as refused:
            plant(REFERENCE, made)
        assert str(refused.value).endswith(f"part1.toml:2: {sentence}")
