"""Defines `student`, by which a hidden test uses the submission.

`student.scores(q, k)` calls the student's function in the student's process and returns a plain value.
`student.MultiHeadAttention(d_model=8, n_heads=2)` returns an object that stands for one in the student's process. A
failure of the student's code arrives as `Failed` with a verdict, so a test never has to handle its exceptions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, TypeVar

import torch

from softmark.course.homework import ForbiddenRule
from softmark.course.reference import as_called
from softmark.grading.advice import advised
from softmark.grading.changed_inputs import by_name, note_changed
from softmark.grading.session import NotLoadable, StudentSession
from softmark.grading.weight_names import superfluous, weights_problem
from softmark.intake.model import SubmittedFiles
from softmark.records.verdict import Category, Code, CodeLine, Failed, Verdict
from softmark.sandbox.failure_texts import NOT_AS_NAMED, known_class
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.wire import Frame, Handle, Meta
from softmark.sandbox.wire.protocol import Call, CallResult, ComputedResult, CountResult, How, PullbackResult
from softmark.sandbox.worker.forbidden import UNSEEN
from softmark.verdict.callee import Answer, Gradients, Lent, OpCount, Work
from softmark.verdict.context import MadeCall, current_test
from softmark.verdict.values import size_of

_AnyResult = TypeVar("_AnyResult", bound=CallResult)


class Student:
    """Stands for the submission: its attributes are the submission's functions and classes."""

    def __init__(self, session: StudentSession) -> None:
        self._session = session

    def __getattr__(self, name: str) -> StudentFunction:
        if name.startswith("_"):
            raise AttributeError(name)
        return StudentFunction(self._session, name, name)

    def vjp(self, name: str, args: Sequence[Any], cotangent: Any, **kwargs: Any) -> Gradients:
        return StudentFunction(self._session, name, name).vjp(args, kwargs, cotangent)

    def count_ops(self, name: str, args: Sequence[Any], **kwargs: Any) -> OpCount:
        return StudentFunction(self._session, name, name).count_ops(args, kwargs)

    def on_meta(self, name: str, args: Sequence[Any], **kwargs: Any) -> Any:
        return StudentFunction(self._session, name, name).on_meta(args, kwargs)


class StudentFunction:
    """A function, a class, a method, or an object that can be called. Each use of it is a request to the process."""

    def __init__(self, session: StudentSession, name: str, target: str | Handle, method: str | None = None) -> None:
        self.name = name
        self._session, self._target, self._method = session, target, method

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The names of its arguments in the handout; none if they are not known."""
        return self._session.homework.takes.get(self._callee, ())

    def mentions(self, pattern: str) -> bool:
        """Return whether the submission's text has something like this. A test that asks for it is not repeated."""
        current_test().steps = None
        return re.search(pattern, self._session.handed.text) is not None

    @property
    def defined_as(self) -> str | None:
        """The name of the function in every submission; None for a method or an object."""
        return self._target if isinstance(self._target, str) and self._method is None else None

    @property
    def _callee(self) -> str:
        """The function or method that a call runs; for a class, its constructor."""
        of_a_class = self._method is None and self.name[:1].isupper()
        return f"{self.name}.__init__" if of_a_class else self.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value = self._wrap(self._ask(CallResult, "plain", args, kwargs).value)
        if self._method is None and self.name[:1].isupper() and type(self) is StudentFunction:
            return self._object(value)
        return value

    def _object(self, value: Any) -> StudentObject:
        """Return the object that a class has made. Raise Failed if it is no object."""
        if not isinstance(value, StudentObject):
            raise Failed(Verdict(Category.TYPE, f"{self.name} is not a class: calling it does not make an object"))
        return value

    def call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
        """Return the answer to a call, and the inputs that the call changed."""
        done = self._ask(ComputedResult, "plain", args, kwargs)
        return Answer(self._wrap(done.value), [name for name in by_name(args, kwargs) if name in done.changed])

    def vjp(self, args: Sequence[Any], kwargs: Mapping[str, Any], cotangent: Any) -> Gradients:
        done = self._ask(PullbackResult, "vjp", args, kwargs, cotangent=cotangent)
        return Gradients(done.value, tuple(done.args), done.kwargs, done.parameters)

    def count_ops(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> OpCount:
        counts = self._ask(CountResult, "count_ops", args, kwargs).ops
        return OpCount(sum(counts.values()), counts)

    def on_meta(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return _real_meta(self._ask(CallResult, "on_meta", args, kwargs).value)

    def work(self) -> Work:
        return self._session.work()

    def _ask(
        self,
        result: type[_AnyResult],
        how: How,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        cotangent: Any = None,
        expected_bytes: int = 0,
    ) -> _AnyResult:
        """Return the result of a call, which is of this class; raise Failed if the student's code gives none."""
        lent = _lent(args, kwargs)
        given = [_sent(value) for value in args], {name: _sent(value) for name, value in kwargs.items()}
        call = Call(self._target, self._method, *given, how, cotangent, lent=tuple(lent))
        try:
            test = current_test()
            if test.keeps_call and how not in ("weights", "mode"):
                takes = self._session.homework.takes.get(self._callee, ())
                test.last_call = MadeCall(self.name, takes, args, kwargs, self._session.next_id)
            done = self._session.call(call, expected_bytes or test.expected_bytes, lent, test.packing)
        except StudentFailure as failure:
            session, lacking = self._session, self._session.cells.lacking
            known = advised(failure, session.handed, session.homework.packages, lacking, asked=session.asked)
            known = self._signature(known, len(args), list(kwargs)) if how not in ("weights", "mode") else known
            raise Failed(verdict_of(known, self.name, self._session)) from None
        except NotLoadable as refusal:
            unloadable = replace(refusal.failure, fact=f"the file could not be loaded: {refusal.failure.fact}")
            raise Failed(verdict_of(unloadable, self.name, self._session)) from refusal
        if not isinstance(done, result):
            raise TypeError(f"a call of kind {how} gave a {type(done).__name__}")
        if isinstance(done, ComputedResult):
            note_changed(self, by_name(args, kwargs), done.changed)
        return done

    def _signature(self, failure: StudentFailure, count: int, keywords: list[str]) -> StudentFailure:
        """Return the failure. If arguments do not fit, add the call and the student's own signature."""
        if failure.code != Code.WRONG_ARGUMENTS:
            return failure
        called = as_called(self._session.homework.takes, self._callee, count, keywords)
        own = self._session.handed.signature(self._callee)
        fact = f"{NOT_AS_NAMED}: the tests call it with {called}{f'; yours takes {own}' if own else ''}"
        return replace(failure, fact=fact)

    def _wrap(self, value: Any) -> Any:
        return StudentObject(self._session, self.name, value) if type(value) is Handle else value


class StudentObject(StudentFunction):
    """An object of the student's, such as an nn.Module, that stays in the student's process.

    `name` is the name that the test called to make it, because a class may give itself any name.
    """

    def __init__(self, session: StudentSession, name: str, handle: Handle) -> None:
        super().__init__(session, name, handle)
        self._handle = handle

    @property
    def _callee(self) -> str:
        return f"{self.name}.forward"

    def __getattr__(self, name: str) -> StudentFunction:
        if name.startswith("_"):
            raise AttributeError(name)
        return StudentFunction(self._session, f"{self.name}.{name}", self._handle, name)

    def state_dict(self) -> dict[str, torch.Tensor]:
        return self._weights("state_dict")

    def parameters(self) -> dict[str, torch.Tensor]:
        """Return every parameter by its name."""
        return self._weights("parameters")

    def train(self, mode: bool = True) -> StudentObject:
        self._ask(CallResult, "mode", (mode,), {})
        return self

    def eval(self) -> StudentObject:
        return self.train(False)

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Give the module these weights and their dtype. Raise Failed if a name or a shape does not fit.

        Entries that only the module has keep their values. `has_entries` checks that there are none.
        """
        own = self._weights("state_dict", expected_bytes=size_of(dict(state)))
        problem = weights_problem(state, own, self._session.handed)
        if problem:
            raise Failed(Verdict(Category.ERROR, f"{self.name}: {problem}"))
        self._weights("state_dict", dict(state))

    def has_entries(self, expected: Mapping[str, torch.Tensor]) -> None:
        """Raise Failed unless the state_dict has these names and shapes and no others."""
        own = self._weights("state_dict", expected_bytes=size_of(dict(expected)))
        problem = weights_problem(expected, own, self._session.handed)
        unexpected = [name for name in own if name not in expected]
        if not problem and unexpected:
            problem = superfluous(unexpected, self.parameters(), self._session.handed)
        if problem:
            raise Failed(Verdict(Category.ERROR, f"{self.name}: {problem}"))

    def _weights(self, which: str, *given: dict[str, torch.Tensor], expected_bytes: int = 0) -> dict[str, torch.Tensor]:
        found = self._ask(CallResult, "weights", (which, *given), {}, expected_bytes=expected_bytes).value
        if type(found) is not dict or not all(isinstance(value, torch.Tensor) for value in found.values()):
            raise Failed(Verdict(Category.TYPE, f"{self.name}: its {which} does not give tensors by name"))
        return {str(name): value for name, value in found.items()}


def _sent(value: Any) -> Any:
    """Return an argument as it is sent: the handle of a student's object, and None for a function that is lent."""
    if isinstance(value, Lent):
        return None
    return value._handle if isinstance(value, StudentObject) else value


def _lent(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Lent]:
    """Return the functions among the arguments that the test lends, by their names in the protocol."""
    named = [(str(position + 1), value) for position, value in enumerate(args)]
    return {f"argument {name}": value for name, value in [*named, *kwargs.items()] if isinstance(value, Lent)}


def _real_meta(value: Any) -> Any:
    """Return the value with each description of a meta tensor replaced by such a tensor."""
    if type(value) is Meta:
        return torch.empty(value.shape, dtype=getattr(torch, value.dtype), device="meta")
    if type(value) in (list, tuple):
        return type(value)(_real_meta(item) for item in value)
    if type(value) is dict:
        return {key: _real_meta(item) for key, item in value.items()}
    return value


def verdict_of(failure: StudentFailure, name: str, session: StudentSession) -> Verdict:
    """Return a student's failure as a verdict whose sentence begins with the name of the function."""
    category, raised = failure.category, failure.raised
    not_defined = failure.code == Code.NOT_DEFINED
    fact = f"{name}: {failure.fact}"
    if category is Category.FORBIDDEN:
        fact = f"{name} {_forbidden(failure, session)}"
    broken = session.cells.behind(name) if not_defined else None
    if broken is not None:
        frames = own_frames(broken.frames, session)
        what = "the notebook's" if session.handed.cells else f"{failure.fact}, perhaps because of"
        return Verdict(category, f"{name}: {what} {broken.sentence}", frames=frames, code=failure.code, function=name)
    wanted = session.homework.wanted
    known = wanted if name in wanted else ()  # a function that another part asks for is not misspelt
    similar = session.handed.similar(name.rpartition(".")[2], known) if not_defined else None
    if similar is not None:
        fact += f"; is your `{similar}` meant to be it?"
    frames = own_frames(_pointing(failure, name, similar, session.handed), session)
    exception = known_class(raised) if raised is not None else ""
    in_its_words = failure.code == Code.NOT_PLAIN or category is Category.FORBIDDEN
    staff = f"the student's process says: {failure.staff}" if failure.staff and in_its_words else failure.staff
    return Verdict(
        category,
        fact,
        failure.detail,
        staff,
        frames=frames,
        code=failure.code,
        function=name,
        exception=exception,
    )


def _pointing(failure: StudentFailure, name: str, similar: str | None, handed: SubmittedFiles) -> tuple[Frame, ...]:
    """Return the lines to show: those of an exception, or the definition whose signature or name is wrong."""
    raised = failure.raised
    if raised is not None and failure.code != Code.WRONG_ARGUMENTS:
        return raised.frames
    named = name.rpartition(".")[2] if raised is not None else similar
    place = handed.place_of(named) if named is not None else None
    return (Frame(*place, "", ""),) if place is not None else ()


def own_frames(frames: tuple[Frame, ...], session: StudentSession) -> tuple[CodeLine, ...]:
    """Return the student's own lines that an exception passed through, as they were handed in."""
    lines = [(frame, session.handed.line(frame.file, frame.line)) for frame in frames]
    return tuple(CodeLine(frame.file, frame.line, "", text) for frame, text in lines if text is not None)


def _forbidden(failure: StudentFailure, session: StudentSession) -> str:
    """Return which forbidden function was used, and what to write instead.

    The worker may give any name. It is repeated only if the homework forbids it; if by a pattern, only if torch has it.
    """
    named = failure.staff
    if named in UNSEEN:
        return UNSEEN[named]
    operator = named.partition(".")[0]
    for rule in session.homework.forbidden:
        if named in rule.names:
            return not_allowed(named, rule)
        if any(fnmatchcase(operator, pattern) for pattern in rule.ops) and _is_operator(operator):
            return not_allowed(operator, rule)
    return failure.fact


def not_allowed(named: str, rule: ForbiddenRule) -> str:
    """Return the words about a function or an operator that a rule of the homework forbids."""
    return f"uses {named}, which is not allowed here: {rule.instead}"


def _is_operator(name: str) -> bool:
    space, _, operator = name.partition("::")
    return operator.isidentifier() and hasattr(getattr(torch.ops, space), operator)
