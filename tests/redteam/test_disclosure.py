"""What a submission learns from its inputs does not come back to the student who reads the feedback.

Each submission prints the first number of its hidden input (which staff may read, and so this test) and tries to get it
into what a student sees: through an exception's message or class, the name of a function, a line of code, an answer.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from softmark.grading.result import Result
from softmark.report.feedback import Audience, feedback
from softmark.report.gradescope import encoded
from softmark.report.html import as_html
from softmark.report.markdown import as_markdown

if TYPE_CHECKING:
    from tests.conftest import Bench

PRINT = "    secret = repr(float(Q.flatten()[0]))\n    print('SECRET', secret)\n"
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
}


def student_texts(result: Result) -> str:
    """Everything that a student may come to see, in every form."""
    told = feedback(result, Audience.STUDENT)
    gradescope = json.loads(encoded(result))
    return as_html(told) + as_markdown(told) + json.dumps(gradescope, ensure_ascii=False)


class TestHiddenInputs:
    """Numbers that a hidden test draws."""

    @pytest.mark.parametrize("attempt", ATTEMPTS)
    def test_do_not_reach_the_student(self, attempt: str, bench: Bench, reference_source: str) -> None:
        """However the submission carries them out, no text for students contains them."""
        spoilt = "\n\ndef attention(Q, K, V, mask=None):\n" + PRINT + ATTEMPTS[attempt]
        result = bench.grade(reference_source + spoilt)
        secrets = set(re.findall(r"SECRET (\S+)", result.printed.stdout))
        assert secrets, "the submission did not run"
        texts = student_texts(result)
        digits = {secret.removeprefix("-") for secret in secrets}
        assert not [secret for secret in digits if secret in texts]
        assert not [secret for secret in digits if str(int(float(secret) * 1e15)) in texts]
