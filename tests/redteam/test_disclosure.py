"""What a submission learns from its inputs does not come back to the student who reads the feedback.

Each submission prints the first number of its hidden input (which staff may read, and so this test) and tries to get it
into what a student sees: through an exception's message or class, the name of a function, a line of code, an answer, or
a reply that it writes on the wire itself.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from softmark.feedback.documents import as_html, as_markdown
from softmark.feedback.feedback import Audience, feedback_for
from softmark.feedback.results_json import encoded
from softmark.feedback.terminal import show
from softmark.records.result import Outcome, Result, Status
from tests.support.course import grade, write_course
from tests.support.sandboxes import sandbox

if TYPE_CHECKING:
    from tests.conftest import Bench

PRINT = """    from softmark.sandbox import wire
    secret = repr(float(Q.flatten()[0]))
    digits = [int(digit) for digit in secret if digit.isdecimal()]
    spelled = "".join(map(str, digits))
    print('SECRET', secret, flush=True)
"""
ATTEMPTS = {
    "message": "    raise ValueError(secret)\n",
    "class": "    raise type('E' + secret, (Exception,), {})()\n",
    "known_class": "    raise NotImplementedError(secret)\n",
    "import_error": "    raise ModuleNotFoundError(secret, name=secret)\n",
    "returned_text": "    return secret, secret\n",
    "returned_key": "    return {secret: Q}\n",
    "object_class": "    return type('C' + secret, (), {})()\n",
    "code_line": "    exec(compile('\\n' * 2 + 'raise ValueError()', __file__, 'exec'))\n",
    "function_name": "    exec(f'def f_{int(abs(float(secret)) * 1e15)}(): raise ValueError')\n"
    "    [value for name, value in locals().items() if name.startswith('f_')][0]()\n",
    "attribute": "    getattr(Q, secret)\n",
    "shape": "    return torch.zeros([0, *digits]), Q\n",
    "lengths": "    return [[0] * digit for digit in digits]\n",
    "large_number": "    return int(''.join(map(str, digits)) * 40)\n",
    "row_sums": "    return Q, torch.full((Q.shape[-2], K.shape[-2]), float(secret) / K.shape[-2], dtype=Q.dtype)\n",
    "key_in_a_key": "    return {'a': {secret: Q}}, Q\n",
    "key_of_a_set": "    return {secret: {1}}\n",
}
FORGE = """

def forge(**reply):
    import os, sys
    from softmark.sandbox import wire
    frame = sys._getframe()
    while frame.f_code.co_name != "serve":
        frame = frame.f_back
    os.write(frame.f_locals["replies"], wire.pack({"id": frame.f_locals["request"].id, **reply}))
    os._exit(0)


def done(value):
    forge(done={"value": value, "changed": []})


def failed(kind, detail, raised=None):
    forge(failed=kind, detail=detail, raised=raised)
"""
RAISED = "    failed('error', '', wire.Raised('ValueError', '', (wire.Frame({frame}, secret, secret),)))\n"
FORGERIES = {
    "operator_overload": "    failed('forbidden', 'aten::scaled_dot_product_attention.' + secret)\n",
    "operator": "    failed('forbidden', 'aten::_scaled_dot_product_' + spelled)\n",
    "library_function": "    failed('forbidden', 'torch.nn.functional.' + secret)\n",
    "type": "    failed('type', f'an object of class z{spelled} cannot be sent')\n",
    "type_of_key": "    failed('type', f\"a set cannot be sent; return a list (key 'z{secret}' of the dict)\")\n",
    "subclass": "    failed('type', f'z{spelled}, a subclass of torch.Tensor, cannot be sent')\n",
    "device": "    failed('device', f'cpu, expected cuda:{secret}')\n",
    "missing": "    failed('missing', secret)\n",
    "walls": "    failed('walls', secret)\n",
    "unknown_kind": "    failed(secret, secret)\n",
    "memory": "    failed('memory', secret, wire.Raised('E' + spelled, secret))\n",
    "class_and_notes": "    failed('error', secret, wire.Raised('E' + spelled, secret, (), (secret,)))\n",
    "frames": RAISED.format(frame="secret, int(spelled[:9])"),
    "known_file": RAISED.format(frame="'attention_scores.py', 3"),
    "object": "    done(wire.Handle(1, 'z' + spelled, False))\n",
    "object_inside": "    done((wire.Handle(1, 'z' + spelled, True), Q))\n",
    "exception_inside": "    done((wire.Raised('z' + spelled, secret), Q))\n",
    "surplus": "    forge(done={'value': Q, 'changed': [], secret: secret}, **{'z' + spelled: secret})\n",
    "changed_inputs": "    forge(done={'value': (Q + 1, Q), 'changed': [secret]})\n",
    "nothing": "    forge(**{'z' + spelled: secret})\n",
}
CARRIED = """
import torch
from torch import nn

kept = []


def one(x):
    kept.append(repr(x))
    print("SECRET", kept[0])
    return x


def two(x):
    raise ValueError(kept)


def three(x):
    return torch.tensor([float(number) for number in kept] or [0.5], dtype=torch.float64)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        inner = nn.Linear(1, 1)
        for digit in reversed([d for d in (kept or ["1"])[0] if d.isdecimal()]):
            inner = nn.ModuleDict({digit: inner})
        self.inner = inner
"""
HIDDEN = """
@number("1.1")
@weight(1)
@visibility("after_published")
def test_hidden(student):
    "Hidden."
    agree(student.one, lambda x: x, 0.123456789012345)


@number("1.2")
@weight(1)
def test_exception(student):
    "Shown."
    agree(student.two, lambda x: x, 1.0)


@number("1.3")
@weight(1)
def test_numbers(student):
    "Shown."
    agree(student.three, lambda x: torch.ones(1, dtype=torch.float64), 1.0)


@number("1.4")
@weight(1)
@visibility("after_published")
def test_names(student):
    "Hidden."
    student.one(0.123456789012345)
    student.Layer().has_entries({})
"""


def student_texts(result: Result) -> str:
    """Everything that a student may come to see, in every form."""
    told = feedback_for(result, Audience.STUDENT)
    gradescope = json.loads(encoded(result))
    terminal = io.StringIO()
    show(result, Console(file=terminal, no_color=True, width=10_000))
    return "\n".join(
        (as_html(told), as_markdown(told), json.dumps(gradescope, ensure_ascii=False), terminal.getvalue())
    )


def require_undisclosed(result: Result) -> None:
    """No secret that the submission printed is in a text for students: as it is, as a whole number, digit by digit."""
    secrets = {secret.removeprefix("-") for secret in re.findall(r"SECRET (\S+)", result.printed.stdout)}
    assert secrets, "the submission did not run"
    texts = student_texts(result)
    assert not [secret for secret in secrets if secret in texts]
    assert not [secret for secret in secrets if str(int(float(secret) * 1e15)) in texts]
    lines = [re.sub(r"\D", "", line) for line in texts.splitlines()]
    digits = {re.sub(r"\D", "", secret)[:8] for secret in secrets}
    assert not [line for line in lines for spelled in digits if spelled in line]


class TestHiddenInputs:
    """Numbers that a hidden test draws."""

    @pytest.mark.parametrize("attempt", ATTEMPTS)
    def test_do_not_reach_the_student(self, attempt: str, bench: Bench, reference_source: str) -> None:
        """However the submission carries them out, no text for students contains them."""
        spoilt = "\n\ndef attention(Q, K, V, mask=None):\n" + PRINT + ATTEMPTS[attempt]
        require_undisclosed(bench.grade(reference_source + spoilt))

    @pytest.mark.parametrize("attempt", FORGERIES)
    def test_do_not_reach_the_student_in_a_forged_reply(
        self, attempt: str, bench: Bench, reference_source: str
    ) -> None:
        """Nor does any field of a reply that the submission writes on the wire itself."""
        spoilt = "\n\ndef attention(Q, K, V, mask=None):\n" + PRINT + FORGERIES[attempt]
        result = bench.grade(reference_source + FORGE + spoilt)
        require_undisclosed(result)
        assert result.status is Status.GRADED
        assert {part.number for part in result.parts if part.earned != part.points} == {"6"}

    @pytest.mark.parametrize("attempt", ["operator", "type", "subclass"])
    def test_are_told_to_staff(self, attempt: str, bench: Bench, reference_source: str) -> None:
        """What a worker says of its answer is not lost: it explains an honest failure as well."""
        spoilt = "\n\ndef attention(Q, K, V, mask=None):\n" + PRINT + FORGERIES[attempt]
        page = as_html(feedback_for(bench.grade(reference_source + FORGE + spoilt), Audience.STAFF))
        assert "For staff" in page
        assert "the student&#39;s process says: " in page

    def test_are_not_carried_into_a_test_that_is_shown(self, tmp_path: Path) -> None:
        """What a hidden test asks is not in the exception, the numbers or the names of another test's failure."""
        with sandbox() as place:
            (result,) = grade(write_course(tmp_path, HIDDEN, points=[4]), place, CARRIED)
        assert [test.outcome for test in result.tests] == [Outcome.PASSED, *[Outcome.FAILED] * 3]
        require_undisclosed(result)
        (shown,) = result.tests[1].verdicts
        assert shown.where == "[]"  # what a worker raises that has run shown tests alone
