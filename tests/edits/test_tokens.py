"""Old text is found by its tokens, whatever its spaces, comments and line breaks are."""

import io
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.edits.changes import EditError, change_of, changed, places_of
from softmark.edits.definitions import definitions_of
from softmark.edits.tokens import words_of

ROOT = Path(__file__).parents[2]
SKIPPED = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    tokenize.ENCODING,
}  # fmt: skip
WORDS = ["h", "h_n", "x1", "1", "1e-9", ".5", "+", "**", "*", "@", "(", ")", ".T", "'h # h'", '"→"', "not", "=="]


@pytest.mark.parametrize("file", sorted((ROOT / "src/softmark/verdict").glob("*.py")), ids=lambda file: file.name)
def test_agrees_with_pythons_own(file: Path) -> None:
    """A whole file has the tokens that Python's own tokenizer finds."""
    text = file.read_text()
    own = [token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in SKIPPED]
    assert list(words_of(text)) == own


@given(st.lists(st.sampled_from(WORDS)), st.data())
def test_spaces_comments_and_line_breaks_do_not_matter(words: list[str], data: st.DataObject) -> None:
    """The same words between other gaps are the same tokens."""
    gap = st.sampled_from([" ", "\n", "  # h + 1 \n", "\t", " \\\n"])
    spread = "".join(word + data.draw(gap) for word in words)
    assert words_of(spread) == words_of(" ".join(words))


class TestChanges:
    """A change replaces tokens and leaves the rest of the text as it is."""

    def edited(self, source: str, text: str) -> str:
        definition = definitions_of(source)["f"]
        return changed(definition, places_of(definition, [change_of(text)]))

    @given(st.lists(st.sampled_from(["a", "b", "a_b", "ab", "1", "'a'"]), min_size=1, max_size=12), st.data())
    def test_every_replaces_whole_tokens_only(self, words: list[str], data: st.DataObject) -> None:
        """Each token `a` becomes `c`; `a_b` and `ab` stay, and so does the number of tokens."""
        source = "def f():\n    x = [" + ", ".join([*words, "a"]) + "]\n"
        sides = [data.draw(st.sampled_from([" ", "   "])) for _ in range(2)]
        after = words_of(self.edited(source, f"every{sides[0]}a{sides[1]}→ c"))
        assert after == tuple("c" if word == "a" else word for word in words_of(source))

    @given(st.integers(0, 5), st.sampled_from(["", " ", "  # why\n        "]))
    def test_the_rest_stays_as_it_is(self, blanks: int, gap: str) -> None:
        """Comments and layout around the place are those of the text."""
        before = f"def f(x):\n    # first\n    y = ({gap}x{' ' * blanks}+ 1)  # an x\n"
        after = self.edited(before, "x + 1 → x - 1")
        assert after == f"def f(x):\n    # first\n    y = ({gap}x - 1)"

    def test_tokens_do_not_run_into_each_other(self) -> None:
        """A name that comes beside another one is kept apart from it."""
        assert self.edited("def f(x):\n    return(x)\n", "(x) → x") == "def f(x):\n    return x"
        assert self.edited("def f(x):\n    return x if(x)else 0\n", "(x) → x").endswith("if x else 0")

    def test_lines_have_the_indentation_of_their_place(self) -> None:
        """New text of several lines is indented as its first line."""
        assert self.edited("def f(x):\n    return x\n", "return x → x = x + 1\nreturn x") == (
            "def f(x):\n    x = x + 1\n    return x"
        )

    def test_the_arguments_and_the_docstring_are_no_place(self) -> None:
        """Only the statements of a function are changed."""
        with pytest.raises(EditError, match="'mask' does not occur in f"):
            self.edited('def f(mask):\n    """Take a mask."""\n    return 1\n', "mask → ~mask")
