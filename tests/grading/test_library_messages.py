"""What a student reads of an exception that Python, NumPy or torch raised, and what no exception can tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.grading.library_messages import library_message
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result
from softmark.records.verdict import Verdict
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.wire import Frame, Raised
from softmark.sandbox.wire.protocol import Call
from tests.redteam.test_disclosure import FORGE, student_texts
from tests.support.course import FILE, grade, write_course
from tests.support.sandboxes import sandbox

HIDDEN = '''
@number("1")
@weight(4)
@visibility("after_published")
def test_one(student):
    """One."""
    agree(student.one, lambda x, y: x, draw("n d", n=5, d=7), draw("m d", m=6, d=7))
'''
SECRET = 0.123456789012345
OF_A_SECRET = f'''
@number("1")
@weight(4)
@visibility("after_published")
def test_one(student):
    """One."""
    agree(student.one, lambda x: x, {SECRET})
'''


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("course"), HIDDEN)


@pytest.fixture(scope="module")
def secret_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("secret"), OF_A_SECRET)


def raised_by(course: Path, place: Sandbox, *body: str) -> Verdict:
    """The verdict on a function with this body."""
    lines = "".join(f"    {line}\n" for line in body)
    source = f"import numpy as np\nimport torch\nfrom torch import nn\n\n\ndef one(x, y):\n{lines}"
    (result,) = grade(course, place, source)
    (verdict,) = result.tests[0].verdicts
    return verdict


SAID = {
    "x @ y": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (5x7 and 6x7)",
    "x + y": "RuntimeError: The size of tensor a (5) must match the size of tensor b (6) at non-singleton dimension 0",
    "x.view(7, 6)": "RuntimeError: shape '[7, 6]' is invalid for input of size 35",
    "x.softmax(dim=3)": "IndexError: Dimension out of range (expected to be in range of [-2, 1], but got 3)",
    "torch.cat(x, y)": "TypeError: cat(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor",
    "x.sum(dim='d')": "TypeError: sum() received an invalid combination of arguments - got (dim=str)",
    "torch.sqrt(x.shape[1])": "TypeError: sqrt(): argument 'input' (position 1) must be Tensor, not int",
    "one.foo": "AttributeError: 'function' object has no attribute 'foo'",
    "torch.einsum('ij->ik', x)": "RuntimeError: einsum(): output subscript k does not appear in the equation for any "
    "input operand",
    "x.numpy() @ y.numpy()": "ValueError: matmul: Input operand 1 has a mismatch in its core dimension 0",
    "x.long().softmax(1)": "NotImplementedError: \"…\" not implemented for 'Long'",
    "{}['key']": "KeyError: 'key'",
    "len(x.sum())": "TypeError: len() of a 0-d tensor",
    "[*x.sum()]": "TypeError: iteration over a 0-d tensor",
    "x.sum()[1:]": "IndexError: slice() cannot be applied to a 0-dim tensor",
    "x.sum().chunk(2)": "RuntimeError: chunk expects at least a 1-dimensional tensor",
    "torch.cat([x.sum(), y])": "RuntimeError: zero-dimensional tensor (at position 0) cannot be concatenated",
    "x[:0].amax(dim=0)": "IndexError: amax(): Expected reduction dim 0 to have non-zero size",
    "x.topk(9)": "RuntimeError: selected index k out of range",
    "list(zip(x, y, strict=True))": "ValueError: zip() argument 2 is longer than argument 1",
    "max([])": "ValueError: max() arg is an empty sequence",
    "one(x)": "TypeError: one() missing 1 required positional argument: 'y'",
    "nn.LayerNorm(7).double()(x[:, 1:])": "RuntimeError: Given normalized_shape=[7], expected input with shape [*, 7], "
    "but got input of size[5, 6]",
}


class TestHonestCode:
    """The message is what a student would read on their own machine."""

    @pytest.mark.parametrize("line", SAID)
    def test_reads_the_message(self, line: str, course: Path, place: Sandbox) -> None:
        """The type, the library's own words with the shapes, and the line."""
        verdict = raised_by(course, place, f"return {line}")
        assert verdict.fact == f"one: raised {SAID[line]}"
        assert [frame.text for frame in verdict.frames][:1] == [f"return {line}"]

    def test_numbers_that_no_size_explains_are_cut_out(self, course: Path, place: Sandbox) -> None:
        """A number of the code's own may be a hidden one."""
        fact = raised_by(course, place, "return x + torch.zeros(5, 7919)").fact
        assert fact.endswith(
            "The size of tensor a (7) must match the size of tensor b (…) at non-singleton dimension 1"
        )

    @pytest.mark.parametrize("raising", ["raise ValueError('shape mismatch of mine')", "assert x is None, 'mine'"])
    def test_own_messages_are_left_out(self, raising: str, course: Path, place: Sandbox) -> None:
        """The text of an exception that the code raises itself is its own, and only its class is told."""
        verdict = raised_by(course, place, raising)
        assert re.fullmatch(r"one: raised (ValueError|AssertionError)", verdict.fact)

    def test_words_of_a_library_in_an_own_exception_are_left_out(self, course: Path, place: Sandbox) -> None:
        """An exception that looks like torch's may have been composed."""
        words = "The size of tensor a (5) must match the size of tensor b (6) at non-singleton dimension 0"
        assert raised_by(course, place, f"raise RuntimeError('{words}')").fact == "one: raised RuntimeError"


TRIES = {
    "size": "torch.zeros(digits) + torch.zeros(digits - 1)",
    "sizes": "torch.zeros(n(0, 3), n(3, 6)) @ torch.zeros(n(6, 9), 3)",
    "view": "torch.zeros(3).view([n(i, i + 3) for i in range(0, 9, 3)])",
    "index": "torch.zeros(3)[digits]",
    "int": "int(repr(x))",
    "key": "{}[repr(x)]",
    "key_of_digits": "{}[digits]",
    "attribute": "getattr(torch, 'z' + repr(digits))",
    "markup": "getattr(torch, '<b>' + repr(x))",
    "terminal": "getattr(torch, chr(27) + '[31m' + repr(x))",
    "type": "type('z' + repr(digits), (), {})() + 1",
    "argument": "(lambda: 0)(**{'z' + repr(digits): 1})",
    "function": "eval(f'(lambda: 0)')(digits)",
    "subscripts": "torch.einsum('ij->ik', torch.zeros(n(0, 3), n(3, 6)), torch.zeros(n(6, 9)))",
    "check": "torch._check(False, lambda: f'index {digits} is out of bounds for dimension 0 with size {digits}')",
    "composed": "exec('ra' + f'ise IndexError(\"too many indices for tensor of dimension {digits}\")')",
    "dtype": "exec('ra' + f'ise TypeError(\"unhashable type: {chr(39)}z{digits}{chr(39)}\")')",
    "lines": "exec('ra' + 'ise IndexError(\"list index out of range\\\\n' + repr(x) + '\")')",
}
LEAKS = """
import torch


def one(x):
    print("SECRET", repr(x))
    spelled = repr(x)[2:]
    digits = int(spelled[:8])

    def n(start, end):
        return int(spelled[start:end])

    return {}
"""


def require_untold(result: Result) -> None:
    """No eight digits of the secret, one after the other, are in a line of what a student reads."""
    assert "SECRET" in result.printed.stdout
    texts = student_texts(result)
    lines = [re.sub(r"\D", "", line) for line in texts.splitlines()]
    assert not [line for line in lines if str(SECRET)[2:10] in line]
    assert "\x1b" not in texts
    assert not [verdict for test in result.tests for verdict in test.verdicts if "<" in verdict.fact]


class TestHostileCode:
    """Code that makes a library raise what it wants to be told."""

    @pytest.mark.parametrize("attempt", TRIES)
    def test_hidden_inputs_are_not_told(self, attempt: str, secret_course: Path, place: Sandbox) -> None:
        """Whatever the message is made of, a hidden number is not in it, nor is markup or a terminal's code."""
        (result,) = grade(secret_course, place, LEAKS.replace("return {}", f"return {TRIES[attempt]}"))
        assert result.tests[0].score == 0
        require_untold(result)

    @pytest.mark.parametrize(
        "message",
        [
            "index {digits} is out of bounds for dimension {digits} with size {digits}",
            "<b>{digits}</b>",
            "\x1b[31m{digits}",
            "shape '[{spaced}]' is invalid for input of size {digits}",
            "'{word}' object has no attribute '{word}'",
        ],
    )
    def test_forged_replies_tell_nothing(self, message: str, secret_course: Path, place: Sandbox) -> None:
        """A reply that the submission writes itself names one of its own lines, and any message."""
        source = f"""{FORGE}

def one(x):
    from softmark.sandbox import wire
    print("SECRET", repr(x), flush=True)
    digits = repr(x)[2:12]
    word, spaced = "z" + digits, ", ".join(digits)
    failed('error', '', wire.Raised('IndexError', f{message!r}, (wire.Frame('{FILE}', 2, 'one', ''),)))
"""
        (result,) = grade(secret_course, place, source)
        require_untold(result)


class TestForms:
    """What may stand in the places of a form."""

    def message(self, message: str, cls: str = "RuntimeError", asked: tuple[int, ...] = (5, 7)) -> str:
        handed = SubmittedFiles(FILE, {FILE: b"y = f(word, x)\n"})
        raised = Raised(cls, message, (Frame(FILE, 1, "", ""),))
        return library_message(raised, handed, (Call("f", None, list(asked), {}),))

    @pytest.mark.parametrize("number", [0, 4, 5, 6, 7, 8, 12, 14, 28, 35, 49, 175])
    def test_numbers_that_sizes_explain(self, number: int) -> None:
        """A size, its neighbours and multiples, products and sums of sizes, and small numbers."""
        assert self.message(f"too many indices for tensor of dimension {number}").endswith(f" {number}")

    @pytest.mark.parametrize("number", [19, 123, 4096, 123456789])
    def test_other_numbers(self, number: int) -> None:
        """Nothing that the test has asked explains them."""
        assert self.message(f"too many indices for tensor of dimension {number}").endswith(" …")

    def test_many_numbers(self) -> None:
        """A list of sizes is as long as a shape can be, and no longer."""
        said = self.message(f"invalid shape dimension 1 at index 2 of shape [{', '.join('5' * 30)}]")
        assert said.count("5") == 10

    def test_words(self) -> None:
        """A word of the submission, or a type; any other is cut out."""
        assert self.message("'Tensor' object has no attribute 'word'") == "'Tensor' object has no attribute 'word'"
        assert self.message("'Tensor' object has no attribute 'wort'") == "'Tensor' object has no attribute '…'"

    @pytest.mark.parametrize(
        "message", ["anything at all", "'word'", "5", "", "list index out of range or so", "ü" * 9]
    )
    def test_no_form(self, message: str) -> None:
        """What no library says is not repeated, not even a single word."""
        assert self.message(message) == ""

    def test_unknown_classes(self) -> None:
        """An exception class of the submission's own is not a library's."""
        assert self.message("list index out of range", cls="Mine") == ""

    def test_lines_that_are_not_in_the_submission(self) -> None:
        """Without a line that was handed in, nobody knows what raised."""
        raised = Raised("IndexError", "list index out of range", (Frame("other.py", 1, "", ""),))
        assert library_message(raised, SubmittedFiles(FILE, {FILE: b"x"}), ()) == ""
        assert library_message(Raised("IndexError", "list index out of range"), SubmittedFiles(FILE), ()) == ""
