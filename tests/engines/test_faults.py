"""Faults of the grader: they cost nobody a mark, no part but their own, and no student can choose one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import gettempdir

import pytest

from softmark.records.limits import Allowed, Limits
from softmark.records.result import Outcome, Result, Status
from softmark.sandbox.in_process import InProcessWorker
from softmark.sandbox.isolation import ForkedSandbox, InProcess, Sandbox
from softmark.sandbox.process import ForkedWorker
from softmark.sandbox.student_process import Outgoing
from softmark.sandbox.walls import environment
from softmark.sandbox.wire.protocol import Call
from softmark.sandbox.zygote import Zygote
from tests.support.course import NAME, grade, named, write_course
from tests.support.sandboxes import STRONGEST, sandbox

THREE_PARTS = '''
@number("1")
@weight(2)
@pytest.mark.parametrize("x", [1.0, 2.0])
def test_one(student, x):
    """One."""
    agree(student.one, lambda x: x + 1, x)


@number("2")
@weight(2)
def test_two(student):
    """Two."""
    agree(student.two, lambda x: x * 2, 3.0)


@number("3")
@weight(2)
def test_three(student):
    """Three."""
    agree(student.three, lambda x: -x, 3.0)
'''
RIGHT = "def one(x):\n    return x + 1\n\n\ndef two(x):\n    return x * 2\n\n\ndef three(x):\n    return -x\n"
FAULTY = f"# faulty\n{RIGHT}"


class FaultyProcess(InProcessWorker):
    """A student process in this one; the trusted side has a fault when it asks for `two`."""

    def exchange(self, outgoing: Outgoing, allowed: Allowed) -> bytes:
        body = super().exchange(outgoing, allowed)
        if isinstance(outgoing.request, Call) and b"two" in outgoing.frame:
            raise KeyError("a fault of softmark")
        return body


class FaultyWithSome(InProcess):
    """A sandbox whose trusted side has a fault with the submissions that say so."""

    def open(self, files: Mapping[str, bytes], limits: Limits) -> InProcessWorker:
        process = FaultyProcess if any(b"# faulty" in text for text in files.values()) else InProcessWorker
        return process(self._root.make(files, None))


@pytest.fixture
def faulty() -> Iterator[Sandbox]:
    with sandbox("bare"):
        place = FaultyWithSome()
        yield place
        place.close()


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


class TestFaultInOnePart:
    """Whatever goes wrong on the trusted side while one part is judged."""

    def test_leaves_the_others_their_marks(self, faulty: Sandbox, tmp_path: Path) -> None:
        """Inside a test (the first submission) and outside of any (the third, which is asked what the second was)."""
        root = write_course(tmp_path, THREE_PARTS, points=[2, 2, 2])
        first, right, third, last = grade(root, faulty, FAULTY, RIGHT, FAULTY, RIGHT)
        assert right.total == last.total == 6
        for result in (first, third):
            assert result.status is Status.GRADER_ERROR
            assert result.finished
            assert [part.earned for part in result.parts] == [2, 0, 2]
            assert [test.outcome for test in result.tests] == [Outcome.PASSED, Outcome.GRADER_ERROR, Outcome.PASSED]
            (verdict,) = named(result, "test_two").verdicts
            assert verdict.fact == "this test could not be judged because of an error of the grader, not of yours"
            assert "KeyError: 'a fault of softmark'" in verdict.staff


def kill(zygote: Zygote) -> None:
    """Kill it, and wait until the kernel has told its children."""
    os.kill(zygote.pid, signal.SIGKILL)
    os.waitid(os.P_PID, zygote.pid, os.WEXITED | os.WNOWAIT)


class TestZygoteThatHasEnded:
    """The process that forks student processes, killed at any moment."""

    @pytest.fixture
    def zygote(self) -> Iterator[Zygote]:
        started = Zygote.spawn(environment(gettempdir()))
        yield started
        started.close()

    def _graded(self, zygote: Zygote, root: Path, source: str = RIGHT) -> list[Result]:
        place = ForkedSandbox(zygote, STRONGEST)
        try:
            return grade(root, place, source, RIGHT)
        finally:
            place.close()

    def _require_told(self, results: list[Result]) -> None:
        """Both submissions have a result, and both say in a sentence what happened."""
        assert len(results) == 2
        for result in results:
            assert result.status is Status.GRADER_ERROR
            (fault,) = {fault.partition(": ")[2] or fault for fault in result.faults}
            assert fault == "the process that forks student processes (the zygote) has ended unexpectedly"
            assert not result.finished  # so that another engine is asked to grade it

    def test_before_the_first_start(self, zygote: Zygote, tmp_path: Path) -> None:
        """Nothing can be graded, and that is said."""
        kill(zygote)
        self._require_told(self._graded(zygote, write_course(tmp_path, THREE_PARTS, points=[2, 2, 2])))

    @pytest.mark.parametrize("call", range(1, 5))
    def test_between_calls(self, call: int, zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Before the load and before any later call."""
        exchange, made = ForkedWorker.exchange, []

        def killing(self: ForkedWorker, outgoing: Outgoing, allowed: Allowed) -> bytes:
            made.append(outgoing)
            if len(made) == call + 1:
                kill(zygote)
            return exchange(self, outgoing, allowed)

        monkeypatch.setattr(ForkedWorker, "exchange", killing)
        self._require_told(self._graded(zygote, write_course(tmp_path, THREE_PARTS, points=[2, 2, 2])))

    def test_during_a_call(self, zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """While the student's function runs, which says so on its standard output."""
        drain = ForkedWorker._drain

        def killing(self: ForkedWorker) -> None:
            drain(self)
            if "running" in self.printed()[0]:
                kill(zygote)

        monkeypatch.setattr(ForkedWorker, "_drain", killing)
        waits = "import signal\n    print('running', flush=True)\n    signal.pause()"
        root = write_course(tmp_path, THREE_PARTS, points=[2, 2, 2])
        self._require_told(self._graded(zygote, root, RIGHT.replace("return x * 2", waits)))

    def test_after_the_last_call(self, zygote: Zygote, tmp_path: Path) -> None:
        """What was graded stays graded; staff are told."""
        hidden = THREE_PARTS.replace(
            "agree(student.three, lambda x: -x, 3.0)",
            f"""agree(student.three, lambda x: -x, 3.0)
    import os
    os.kill({zygote.pid}, 9)""",
        )
        first, second = self._graded(zygote, write_course(tmp_path, hidden, points=[2, 2, 2]))
        assert (first.status, first.total) == (Status.GRADED, 6)
        assert any("the zygote" in note for note in first.staff_notes)
        assert second.status is Status.GRADER_ERROR


STUMBLES = {
    "attribute": ("assert student.one(1.0).shape == (2,)", "return 7"),
    "index": ("assert student.one(1.0)[0] == 1", "return ()"),
    "operator": ("assert (student.one(1.0) + 1).sum() > 0", "return None"),
    "score": ("set_score(float(student.one(1.0)[1]))", "return torch.ones(2) * float('nan')"),
    "too high a score": ("set_score(float(student.one(1.0)[1]))", "return torch.ones(2) * 3"),
    "passed on": ("student.one([student.one(1.0)])", "return " + "[" * 18 + "]" * 18),
    "the reference": ("agree(student.one(1.0), lambda x: x + 0, student.one(1.0))", "return 'x'"),
    "skip": ("pytest.skip('not this one') if student.one(1.0) is None else None", "return None"),
}
STUMBLING = '''
@number("1")
@partial_credit(2)
def test_stumbles(student, set_score=None):
    """Stumbles."""
    {body}


@number("2")
@weight(2)
def test_sound(student):
    """Sound."""
    assert student.two(1.0) == 2.0
'''
GOOD = "import torch\n\n\ndef one(x):\n    return torch.ones(2)\n\n\ndef two(x):\n    return x * 2\n"


class TestAnswerThatATestStumblesOver:
    """A student could choose a fault of the grader, which costs no marks, if an odd answer were one."""

    @pytest.mark.parametrize(("body", "odd"), STUMBLES.values(), ids=STUMBLES)
    def test_is_the_students(self, body: str, odd: str, place: Sandbox, tmp_path: Path) -> None:
        """The test passes with the reference, so it is sound. Staff are told, for it could say more."""
        root = write_course(tmp_path, STUMBLING.format(body=body), points=[2, 2])
        (root / "reference" / f"{NAME}.py").write_text(GOOD)
        source = GOOD.replace("return torch.ones(2)", odd)
        for result in grade(root, place, source, source):
            assert result.status is Status.GRADED
            assert [part.earned for part in result.parts] == [0, 2]
            (verdict,) = named(result, "test_stumbles").verdicts
            assert verdict.category == "type"
            assert verdict.fact.startswith("this test cannot use the answer of your code")
            (note,) = result.staff_notes
            assert note.startswith("1: ")
            assert note.endswith("with the reference the test passes")

    def test_is_the_graders_if_the_reference_fares_no_better(self, place: Sandbox, tmp_path: Path) -> None:
        """A test that is broken stays a fault of the grader, for everybody."""
        body = "student.one(1.0)\n    undefined_name"
        root = write_course(tmp_path, STUMBLING.format(body=body), points=[2, 2])
        (root / "reference" / f"{NAME}.py").write_text(GOOD)
        (result,) = grade(root, place, GOOD.replace("torch.ones(2)", "None"))
        assert named(result, "test_stumbles").outcome is Outcome.GRADER_ERROR
        assert named(result, "test_sound").outcome is Outcome.PASSED
