"""What an instructor reads when an engine cannot grade: one sentence with the next step."""

from __future__ import annotations

import io
import subprocess
from typing import Any

import pytest

from softmark.engines import server
from softmark.engines.messages import Progress, send
from softmark.engines.processes import EngineProcess, Examined, Lane, examine_machine
from softmark.engines.protocol import EngineError
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.errors import UsageError
from softmark.records.limits import Level
from softmark.records.result import Result, Status, Submission
from softmark.sandbox.isolation import LevelCheck
from softmark.sandbox.machine import Machine
from tests.support.results import graded, second_zero


class TestIsolation:
    """The level that was asked for holds, or nothing is graded."""

    @pytest.mark.parametrize("asked", [Level.USER, Level.FULL])
    def test_that_does_not_hold(self, asked: Level, monkeypatch: pytest.MonkeyPatch) -> None:
        """It says why not, which level does hold, and what to say for that one."""
        finding = LevelCheck(asked, False, "a file of root's could be read")
        monkeypatch.setattr(server, "examine", lambda zygote, level: finding)
        monkeypatch.setattr(server, "highest", lambda zygote: [finding, LevelCheck(Level.PROCESS, True)])
        with pytest.raises(UsageError) as refused:
            server._sandbox(object(), asked, ())  # type: ignore[arg-type]
        assert str(refused.value) == (
            f"isolation level {asked} does not hold on this machine: a file of root's could be read. "
            "It reaches process: say --isolation process if that is enough, or run `softmark doctor`."
        )

    @pytest.mark.parametrize("asked", [Level.USER, Level.FULL])
    def test_where_nothing_can_be_forked(self, asked: Level) -> None:
        """Without fork there are no walls."""
        with pytest.raises(UsageError) as refused:
            server._sandbox(None, asked, ())
        assert str(refused.value) == f"isolation level {asked} needs Linux: say --isolation process if that is enough."

    @pytest.mark.parametrize("asked", [Level.NONE, Level.PROCESS])
    def test_of_a_level_without_walls(self, asked: Level) -> None:
        """There is nothing to examine."""
        opened = server._sandbox(None, asked, ())
        opened.close()
        assert opened.level <= Level.PROCESS

    @pytest.mark.parametrize(
        ("asked", "reached", "enough"),
        [("full", "full", True), ("full", "user", False), ("user", "full", True), ("process", "none", False)],
    )
    def test_of_a_machine(self, asked: str, reached: str, enough: bool) -> None:
        """`softmark doctor` compares the level that was asked for with the one that the machine reaches."""
        fields: dict[str, Any] = dict.fromkeys(Machine.__struct_fields__)
        assert Examined(Machine(**{**fields, "level": reached}), asked).enough == enough


class TestEndOfAJudge:
    """A judge that ends in the midst of a submission."""

    @pytest.mark.parametrize("so_far", [(), (second_zero(),), (second_zero(), graded())], ids=["0", "1", "2"])
    def test_keeps_what_was_graded_until_then(self, so_far: tuple[Result, ...]) -> None:
        """The error has the last result on the way, as one that is no mark, and what did not return."""
        replies = io.BytesIO()
        for result in so_far:
            send(replies, Progress(result))
        replies.seek(0)
        lane = Lane(io.BytesIO(), replies, lambda: EngineError("it ended", endless="the hidden test a"))
        seen: list[Result] = []
        with pytest.raises(EngineError, match="it ended") as broken:
            lane.grade(Job(Submission(), SubmittedFiles()), seen.append)
        kept, last = broken.value.result, so_far[-1] if so_far else None
        assert (seen, broken.value.endless) == ([*so_far], "the hidden test a")
        assert (kept and kept.tests) == (last and last.tests)
        assert kept is None or (kept.status, kept.staff_notes[-1]) == (Status.GRADER_ERROR, "it ended")


class TestProcesses:
    def test_that_cannot_be_started(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Fewer lanes need fewer processes."""

        def refuse(*args: Any, **more: Any) -> None:
            raise OSError(11, "Resource temporarily unavailable")

        monkeypatch.setattr(subprocess, "Popen", refuse)
        with pytest.raises(EngineError) as error:
            EngineProcess(3)
        assert str(error.value) == (
            "no grading engine can be started (Resource temporarily unavailable); try fewer --jobs"
        )

    def test_examination_that_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its exit status is told."""
        monkeypatch.setattr(subprocess, "run", lambda words, **more: subprocess.CompletedProcess(words, 7, b""))
        with pytest.raises(EngineError) as error:
            examine_machine("full")
        assert str(error.value) == "the examination of this machine ended with exit status 7"
