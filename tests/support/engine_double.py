"""Has an engine that grades nothing: each submission gets the next answer that a test has written down for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Self

from softmark.engines.protocol import EngineError, GradingSpec
from softmark.grading.job import Job
from softmark.records.result import Provenance, Result

Script = Mapping[str, Sequence[Result | Exception | None]]
"""The answers by the id of the submission; one that is None stays open."""


class ScriptedEngine:
    """An `Engine`. The answer to a job is its next one in the script."""

    def __init__(
        self,
        spec: GradingSpec,
        pending: Result,
        script: Mapping[str, Sequence[Result | Exception | None]],
        slots: int = 1,
    ) -> None:
        self.spec, self.slots, self.started = spec, slots, False
        self._pending, self._script = pending, {name: iter(answers) for name, answers in script.items()}
        self.jobs: list[Job] = []
        self.open: list[Future[Result]] = []

    def provenance(self) -> Provenance:
        return self._pending.provenance

    def start(self) -> None:
        self.started = True

    def pending(self, timeout: float | None = None) -> Result:
        self.start()
        return self._pending

    def submit(self, job: Job, on_progress: Callable[[Result], None] | None = None) -> Future[Result]:
        self.jobs.append(job)
        future: Future[Result] = Future()
        answer = next(self._script[job.submission.id])
        if isinstance(answer, Exception):
            future.set_exception(answer)
        elif answer is not None:
            future.set_result(answer)
        else:
            self.open.append(future)
        return future

    def stop(self) -> None:
        while self.open:
            self.open.pop().set_exception(EngineError("stopped"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()
