"""Grades many source texts of one homework through real engines, side by side."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from softmark.batch.grader import Grader
from softmark.grading.homework import Homework
from softmark.grading.messages import Job, Setup
from softmark.grading.result import Result, Submission

STRONGEST = "full" if hasattr(os, "geteuid") and os.geteuid() == 0 else "user"


@dataclass(frozen=True)
class Subject:
    """A submission made for the proof: what it is (reference, equivalent, …), its name, its text."""

    kind: str
    name: str
    source: str


def grade_all(
    homework: Homework,
    subjects: Sequence[Subject],
    jobs: int,
    on_progress: Callable[[int, int], None] = lambda done, everything: None,
) -> list[Result]:
    """The results in the order of the subjects, whichever engine graded which."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for position in range(len(subjects)):
        waiting.put(position)
    results: dict[int, Result] = {}
    faults: list[BaseException] = []

    def work() -> None:
        try:
            setup = Setup(str(homework.root), homework.name, STRONGEST, progress=False)
            with Grader(setup) as grader:
                grader.ready()
                while not faults:
                    position = waiting.get_nowait()
                    results[position] = _grade(grader, homework, subjects[position])
                    on_progress(len(results), len(subjects))
        except queue.Empty:
            return
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(max(1, jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return [results[position] for position in range(len(subjects))]


def _grade(grader: Grader, homework: Homework, subject: Subject) -> Result:
    naming = subject.kind not in ("trivial", "starter")
    job = Job(Submission(id=subject.name), homework.file, {homework.file: subject.source.encode()}, naming=naming)
    return list(grader.grade(job))[-1]
