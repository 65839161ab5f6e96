"""A process that forges its replies: whatever it says, every test is judged, and the report can be written.

The forger is a right solution whose true replies are spoilt on their way: a part of one replaced by something odd, its
form broken, its bytes cut, or in its place the end of the process. So forgeries of every kind reach every way of
asking, and go through session, checks, Result and all reports, as they do in grading.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from softmark.feedback.documents import as_html, as_markdown
from softmark.feedback.feedback import Audience, feedback_for
from softmark.feedback.results_json import check, encoded
from softmark.feedback.terminal import show
from softmark.records.limits import Allowed, Limits
from softmark.records.result import Outcome, Result, Status, decode, encode
from softmark.sandbox import failure_texts, wire
from softmark.sandbox.in_process import InProcessWorker
from softmark.sandbox.isolation import InProcess
from softmark.sandbox.student_process import Outgoing
from softmark.sandbox.wire import Frame, Handle, Meta, Raised
from softmark.sandbox.wire.protocol import Load
from tests.support.course import FILE, grade, write_course
from tests.support.sandboxes import sandbox

SUBMISSIONS = 100

SOLUTION = """\
import torch
from torch import nn


def one(x):
    return torch.softmax(x @ x.mT, -1)


def two(x):
    return one(x) @ x, one(x)


class Three(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.W = nn.Parameter(torch.eye(d, dtype=torch.float64))

    def forward(self, x):
        return x @ self.W


def scale(x, by):
    if by < 0:
        raise ValueError("negative")
    return {"scaled": x * by, "by": by, "mask": x > 0}
"""

HIDDEN = """
from softmark.verdict import (
    batch_independent, causal, gradients_agree, ignores_padding, keeps_dtype, leaves_inputs, ops_independent_of,
    permutation_equivariant, raises, repeatable, rows_sum_to_one, uses_inputs, uses_weights, works_on_meta)


class Layer(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.W = torch.nn.Parameter(torch.eye(d, dtype=torch.float64))

    def forward(self, x):
        return x @ self.W


def one(x):
    return torch.softmax(x @ x.mT, -1)


def two(x):
    return one(x) @ x, one(x)


def scale(x, by):
    return {"scaled": x * by, "by": by, "mask": x > 0}


def tried(check, *args):
    try:
        check(*args)
    except Failed:
        pass


X, PADDING = draw("b n d", b=2, n=4, d=3), torch.tensor([True] * 2 + [False] * 2)
CHECKS = {
    "plain": lambda student: agree(student.one, one, X),
    "two": lambda student: agree(student.two, two, X),
    "dict": lambda student: agree(student.scale, scale, X, 2),
    "gradients": lambda student: gradients_agree(student.one, one, X),
    "gradients of a module": lambda student: gradients_agree(student.Three(3), Layer(3), X),
    "operations": lambda student: ops_independent_of("the batch", student.one, (X[:1],), (X,)),
    "meta": lambda student: works_on_meta(student.two, X),
    "meta of a module": lambda student: works_on_meta(student.Three(3), X),
    "module": lambda student: agree(student.Three(3), Layer(3), X),
    "entries": lambda student: student.Three(3).has_entries(Layer(3).state_dict()),
    "weights": lambda student: student.Three(3).load_state_dict(Layer(3).state_dict()),
    "modes": lambda student: agree(student.Three(3).train().eval(), Layer(3), X),
    "uses weights": lambda student: uses_weights(student.Three(3), X),
    "uses inputs": lambda student: uses_inputs(student.one, X),
    "raises": lambda student: raises(ValueError, student.scale, X, -1),
    "rows": lambda student: rows_sum_to_one(student.two, X, output=1),
    "permutation": lambda student: permutation_equivariant(student.two, X),
    "causal": lambda student: tried(causal, student.two, X),
    "padding": lambda student: ignores_padding(student.Three(3), X, padding=PADDING, compare=~PADDING),
    "batch": lambda student: batch_independent(student.one, X),
    "repeatable": lambda student: repeatable(student.scale, X, 2),
    "inputs": lambda student: leaves_inputs(student.one, X),
    "dtype": lambda student: keeps_dtype(student.one, X),
}


@number("1.1")
@weight(2)
@visibility("after_published")
@pytest.mark.parametrize("name", CHECKS)
def test_hidden(student, name):
    "Not shown."
    CHECKS[name](student)


@number("1.2")
@weight(2)
@pytest.mark.parametrize("name", CHECKS)
def test_visible(student, name):
    "Shown."
    CHECKS[name](student)
"""

FAILURES = [*"walls missing type device forbidden memory error crash timeout load".split(), "", "\x1b[31m", "no such"]
EXCEPTIONS = """
ValueError RuntimeError NotImplementedError SignatureMismatch SyntaxError IndentationError TabError ObjectLost NameError
UnboundLocalError ModuleNotFoundError ImportError AttributeError TypeError FileNotFoundError PermissionError OSError
EOFError BdbQuit SystemExit AssertionError RecursionError KeyboardInterrupt MemoryError
""".split()
MESSAGES = [
    *("name 'one' is not defined", "name '' is not defined", "name '(' is not defined", "No module named '[.x'"),
    *("cannot import name '*' from 'torch' (/x)", "[Errno 2] No such file or directory: '../[x'", "[Errno 13] : ''"),
    *("module 'numpy' has no attribute 'float('", "invalid syntax (tiny.py, line 0)", "[Errno 1] '': 'a' -> 'b'"),
    *("it is defined as (: one", "all tensors to be on the same device cpu meta", "'(' was never closed", "two((("),
]
LIBRARIES = ["torch._dynamo", "multiprocessing", "subprocess", "socket", "argparse", "torch.utils.data.dataloader"]
TEXTS = [
    "",
    "PASSED",
    "a\x00b\x1b[2J\u202e\n::error::",
    "z" * 2000,
    "'",
    "cpu, expected cuda:0",
    "=1+1",
    "<b>",
    "\U0001f600",
]
NUMBERS = [
    0,
    -1,
    1,
    2**31,
    2**63 - 1,
    2**63,
    -(2**63),
    2**4000,
    -(2**4000),
    1e308,
    float("nan"),
    float("inf"),
    1j,
    True,
]


class Forger:
    """What spoils replies; the same number spoils them alike."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)
        self._often = self._random.choice((0.05, 0.2, 1.0))

    def forged(self, body: bytes, of_load: bool) -> bytes:
        """The body of a reply, or of what comes in its place. StudentFailure if that is the end of the process.

        Most submissions load truly, or no test would be reached.
        """
        if self._random.random() > (self._often / 10 if of_load else self._often):
            return body
        how = self._random.choice((self._spoilt, self._spoilt, self._spoilt, self._failed, self._broken, self._ended))
        return how(body)

    def _spoilt(self, body: bytes) -> bytes:
        """A true reply with something odd in it, nearly always where the answer is."""
        reply: Any = wire.unpack(body)
        if self._random.random() < 0.1 or "done" not in reply:
            return _packed(self._with_something_odd(reply))
        return _packed({**reply, "done": self._with_something_odd(reply["done"])})

    def _with_something_odd(self, value: Any) -> Any:
        if type(value) in (dict, list, tuple) and value and self._random.random() < 0.85:
            if type(value) is dict:
                return self._another_dict(value)
            index = self._random.randrange(len(value))
            items = [*value[:index], self._with_something_odd(value[index]), *value[index + 1 :]]
            return type(value)(items)
        if type(value) is torch.Tensor and self._random.random() < 0.6:
            return self._another_tensor(value)
        return self._odd()

    def _another_dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        key, by = self._random.choice(list(value)), self._random.random()
        if by < 0.1:
            return {name: inner for name, inner in value.items() if name != key}
        if by < 0.2:
            return {**value, self._random.choice((*TEXTS, 3, -1)): self._odd()}
        return {**value, key: self._with_something_odd(value[key])}

    def _another_tensor(self, value: torch.Tensor) -> Any:
        plain = value.detach()
        changes: tuple[Callable[[torch.Tensor], Any], ...] = (
            lambda t: t.reshape(-1), lambda t: t[None], lambda t: t[..., :0], lambda t: t.sum(), lambda t: t + 1,
            lambda t: t * float("nan"), lambda t: t.numpy(), lambda t: t.numpy().astype("uint16"), lambda t: [t],
            lambda t: t.to(getattr(torch, self._random.choice("bool int8 float16 bfloat16 complex64".split()))),
            lambda t: (t, t), lambda t: t.double().requires_grad_(), lambda t: t.mT if t.dim() > 1 else t,
            lambda t: t.tolist(), lambda t: Meta(str(t.dtype).removeprefix("torch."), tuple(t.shape)),
        )  # fmt: skip
        return self._random.choice(changes)(plain)

    def _odd(self) -> Any:
        pick = self._random.choice
        return pick((
            None, b"", b"\xff", [], (), {}, pick(TEXTS), pick(NUMBERS), Handle(pick((0, 7, 2**62)), pick(TEXTS), True),
            self._raised(), Meta("float64", pick(((), (0, 2**62), (2**62, 2**62), (3,)))),
            torch.ones(pick(((), (0,), (3, 3)))),
            np.ones(3, pick(("uint16", "uint64", "float16", "bool"))), [[[[[[[[[]]]]]]]]], {3: 4, "3": 4}, [1] * 50,
        ))  # fmt: skip

    def _raised(self) -> Raised:
        pick = self._random.choice
        classes = (*TEXTS, *EXCEPTIONS)
        frames = tuple(
            Frame(
                pick((FILE, "", "../x", pick(TEXTS)[:500])),
                pick((0, 1, 7, 2**31 - 1)),
                pick(TEXTS)[:500],
                pick(TEXTS)[:500],
            )
            for _ in range(pick((0, 1, 32)))
        )
        return Raised(
            pick(classes)[:500], pick((*TEXTS, *MESSAGES)), frames, (pick((*TEXTS, *LIBRARIES)),) * pick((0, 8))
        )

    def _failed(self, body: bytes) -> bytes:
        reply: Any = wire.unpack(body)
        raised = self._random.choice((None, self._raised(), self._raised(), self._odd()))
        detail = self._random.choice((*TEXTS, "aten::gelu.x", "a generator", "Magic, a subclass of torch.Tensor"))
        failed = {"id": reply["id"], "failed": self._random.choice(FAILURES), "detail": detail, "raised": raised}
        if self._random.random() < 0.2:
            failed[self._random.choice(list(failed))] = self._odd()
        return _packed(failed)

    def _broken(self, body: bytes) -> bytes:
        place = self._random.randrange(len(body))
        cut = body[:place] + self._random.randbytes(self._random.choice((0, 1, 40))) + body[place + 1 :]
        return self._random.choice((cut, body[:place], self._random.randbytes(20), b""))

    def _ended(self, body: bytes) -> bytes:
        raise failure_texts.death(self._random.randrange(2**16))


class ForgingProcess(InProcessWorker):
    """A student process in this one, whose replies are forged."""

    def __init__(self, directory: Path, forger: Forger | None) -> None:
        super().__init__(directory)
        self._forger = forger

    def exchange(self, outgoing: Outgoing, allowed: Allowed) -> bytes:
        body = super().exchange(outgoing, allowed)
        return body if self._forger is None else self._forger.forged(body, isinstance(outgoing.request, Load))


class Forgers(InProcess):
    """A sandbox of forgers; a submission's last line says which it is, and with none it tells the truth."""

    def open(self, files: Mapping[str, bytes], limits: Limits) -> ForgingProcess:
        number = files[FILE].decode().rpartition("# ")[2]
        return ForgingProcess(self._root.make(files, None), Forger(int(number)) if number.isdecimal() else None)


def _packed(value: Any) -> bytes:
    return wire.pack(value)[wire.PREFIX :]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Result]]:
    """The result of a right submission, and of so many forgers; the course has no reference to ask in doubt."""
    root = write_course(tmp_path_factory.mktemp("course"), HIDDEN, limits="memory_mb = 300\n")
    forgers = [f"{SOLUTION}# {number}" for number in range(SUBMISSIONS)]
    with sandbox("bare"):
        place = Forgers()
        try:
            yield grade(root, place, SOLUTION, *forgers, SOLUTION)
        finally:
            place.close()


def in_terminal(result: Result, audience: Audience) -> str:
    file = io.StringIO()
    show(result, Console(file=file, no_color=True), audience)
    return file.getvalue()


class TestForgers:
    """Replies of every kind, spoilt in every way."""

    def test_the_solution_is_right(self, results: list[Result]) -> None:
        """Before the forgers and after them, a right solution has full marks."""
        for result in (results[0], results[-1]):
            wrong = [(c.id, [v.fact for v in c.verdicts]) for t in result.tests for c in t.cases if c.verdicts]
            assert not wrong
            assert result.total == result.max_score

    def test_are_never_the_graders_fault(self, results: list[Result]) -> None:
        """Each has a result in which every test was judged."""
        assert len(results) == SUBMISSIONS + 2
        for number, result in enumerate(results):
            faults = [
                verdict.staff for test in result.tests for verdict in test.verdicts if verdict.category == "grader"
            ]
            assert not faults, number
            assert result.status is not Status.GRADER_ERROR
            assert not [test for test in result.tests if test.outcome in (Outcome.GRADER_ERROR, Outcome.NOT_RUN)]

    def test_mostly_fail(self, results: list[Result]) -> None:
        """The forgeries reach what they are to reach: failures of many kinds, and submissions with some marks."""
        forged = results[1:-1]
        categories = {verdict.category for result in forged for test in result.tests for verdict in test.verdicts}
        assert categories >= {
            "crash",
            "memory",
            "error",
            "type",
            "shape",
            "dtype",
            "value",
            "property",
            "forbidden",
            "nan",
        }
        assert len({result.total for result in forged}) > 1

    def test_can_be_reported(self, results: list[Result]) -> None:
        """Every report of every result can be written, and says nothing that a terminal would obey."""
        for result in results:
            assert decode(encode(result)) == result
            check(encoded(result), result)
            json.loads(encoded(result, for_staff=True))
            for audience in Audience:
                told = feedback_for(result, audience)
                texts = as_html(told) + as_markdown(told) + in_terminal(result, audience)
                texts.encode()
                assert "\x1b[31m" not in texts
