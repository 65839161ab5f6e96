"""The handout as a page of HTML: every formula is converted, and nothing is loaded from anywhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from softmark.authoring.build import buildable
from softmark.authoring.handout_page import page
from softmark.records.errors import ConfigError

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$.+?\$\$|\$.+?\$", re.DOTALL)


class Read(HTMLParser):
    """Reads a page: its texts outside and inside of code, how many formulas it has, and what it refers to."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.prose, self.code, self.formulas, self.open = "", "", 0, []
        self.references: list[str] = []
        self.open: list[str]
        self.feed(content.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "br", "hr", "img"):
            self.open.append(tag)
        self.formulas += tag == "math"
        self.references += [value or "" for name, value in attrs if name in ("href", "src", "srcset", "data")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "code" in self.open:
            self.code += data
        elif "style" not in self.open:
            self.prose += data


def made(text: str) -> Read:
    return Read(page(f"# Title\n\n{text}\n", "README.md"))


@pytest.mark.parametrize("name", buildable(ROOT))
class TestOfTheCourse:
    """The course's own handouts."""

    def test_every_formula_is_converted(self, name: str) -> None:
        """There are as many as in the source, and no dollar and no backslash is left outside of code."""
        readme = (ROOT / f"assignments/{name}/README.md").read_text()
        read = Read(page(readme, name))
        assert read.formulas == len(FORMULA.findall(CODE.sub("", readme)))
        assert not re.findall(r".*[$\\].*", read.prose)
        assert read.open == []

    def test_needs_nothing_else(self, name: str) -> None:
        """It refers to its own sections only, and every diagram is in it as it was drawn."""
        readme = (ROOT / f"assignments/{name}/README.md").read_text()
        content = page(readme, name)
        read = Read(content)
        assert all(re.fullmatch(r"#section-\d+", reference) for reference in read.references)
        assert not re.search(rb"@import|url\(|<script|<link|https?://(?!www\.w3\.org/1998/Math)", content)
        for diagram in re.findall(r"^```\w*\n(.*?)^```", readme, re.MULTILINE | re.DOTALL):
            assert diagram in read.code


class TestPage:
    """`page` makes HTML of a text."""

    def test_sections_can_be_reached(self) -> None:
        """Below the title is a list of them."""
        read = made("## Part 1: `f` and $x$ (2 points)\n\nA text.\n\n## Part 2\n\nAnother one.")
        assert read.references == ["#section-1", "#section-2"]

    @pytest.mark.parametrize(
        "formula", [r"\Bigl\lVert x \Bigr\rVert", r"\big\lfloor x \big\rfloor", r"\ln 2 + \exp(x)"]
    )
    def test_knows_brackets_of_any_size(self, formula: str) -> None:
        """The converter alone leaves their names in the text."""
        read = made(f"So ${formula}$.")
        assert (read.formulas, "\\" in read.prose) == (1, False)

    @pytest.mark.parametrize(
        ("formula", "why"), [(r"\unheard{x}", r"it knows no \unheard"), ("x_a_b", "DoubleSubscriptsError")]
    )
    def test_refuses_a_formula(self, formula: str, why: str) -> None:
        """It is named with the line of its paragraph."""
        with pytest.raises(ConfigError) as refused:
            made(f"A text.\n\nSo ${formula}$.")
        assert "README.md:5: the formula" in str(refused.value)
        assert f"cannot be turned into MathML: {why}" in str(refused.value)

    def test_tags_are_text(self) -> None:
        """Only Markdown is read: what looks like HTML is shown."""
        assert "<b>x</b>" in made("Not <b>x</b> at all.").prose
