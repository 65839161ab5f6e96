"""Measures repairs: `python benchmarks/repairs.py [--json] [--sample N] [HOMEWORK …]`.

Every named mistake is planted into the reference and graded with its name switched off. What is counted for each
homework: mistakes that lose marks (`planted`), those of which the student is told a line (`repaired`), those where that
is a line that the mistake has changed (`right_line`), the others (`wrong_line`), and the processor time that the search
adds to each submission (`seconds`, the mean; `most_seconds`).

A line is right if the planted text differs from the reference there; where lines are missing, if it is the line before
or behind them.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from softmark.authoring.plant import plant
from softmark.course.homework import Homework, homework_names, load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.grading.author_files import load_mistakes
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Submission
from softmark.sandbox.procfs import family

ROOT = Path(__file__).resolve().parents[1]
LEVEL = "full" if os.geteuid() == 0 else "user"
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("homeworks", nargs="*", metavar="HOMEWORK")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="plant only each N-th mistake")
    parser.add_argument("--json", action="store_true", help="print the figures of each homework as JSON")
    parser.add_argument("--list", action="store_true", help="print a line for each mistake")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    figures = {}
    for name in options.homeworks or homework_names(ROOT):
        figures[name] = measured(load_homework(name, ROOT), options.sample, told=options.list)
        if not options.json:
            print(f"{name}: {figures[name]}", flush=True)
    if options.json:
        print(json.dumps({"homeworks": figures}))


def measured(homework: Homework, sample: int, *, told: bool) -> dict[str, float]:
    """Plant the mistakes of one homework, one after the other, and return the figures."""
    reference = homework.reference.read_text(encoding="utf-8")
    counts = Counter[str](planted=0, repaired=0, right_line=0, wrong_line=0)
    seconds = [0.0]
    with LocalEngine(GradingSpec.of(homework, LEVEL)) as engine:
        engine.pending()
        graded(engine, job(homework, reference))
        for mistake in load_mistakes(homework, ("mistakes",)).mistakes[::sample]:
            source = plant(reference, mistake)
            first = job(homework, source)
            plainly, without = graded(engine, first)
            if plainly.total == plainly.max_score:
                continue
            result, within = graded(engine, msgspec.structs.replace(first, repairs=True))
            seconds.append(max(0.0, within - without))
            outcome = judged(result, reference, source)
            counts.update(("planted", *outcome))
            if told:
                print(outcome, mistake.name, f"{seconds[-1]:.2f} s", *repairs_in(result), flush=True)
    return {**counts, "seconds": round(sum(seconds) / max(1, len(seconds) - 1), 2), "most_seconds": max(seconds)}


def job(homework: Homework, source: str) -> Job:
    """Return the submission of a source text, for which no names are looked for."""
    return Job(Submission(id="planted"), SubmittedFiles(homework.file, {homework.file: source.encode()}), naming=False)


def graded(engine: LocalEngine, wanted: Job) -> tuple[Result, float]:
    """Return the result of a submission, and the processor time that the engine and all its processes used."""
    before = cpu_seconds(engine)
    result = engine.submit(wanted).result()
    return result, cpu_seconds(engine) - before


def cpu_seconds(engine: LocalEngine) -> float:
    """Return the processor time of an engine and of all processes below it, ended ones included."""
    total = 0.0
    for pid in {pid for own in engine.pids for pid in family(own)}:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15])) / TICKS
    return total


def judged(result: Result, reference: str, planted: str) -> tuple[str, ...]:
    """Return which of the counts a result adds to."""
    lines = {test.repair.line for test in result.tests if test.repair is not None}
    if not lines:
        return ()
    return "repaired", "right_line" if lines <= set(changed_lines(reference, planted)) else "wrong_line"


def changed_lines(reference: str, planted: str) -> Iterator[int]:
    """Yield the lines of a planted text that differ from the reference."""
    before, after = reference.splitlines(), planted.splitlines()
    for tag, _, _, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        while first < last and not after[first].partition("#")[0].strip():
            first += 1  # an empty line, or only the comment of a line that is missing
        if tag != "equal" and first == last:
            yield from (first, first + 1)
        elif tag != "equal":
            yield from range(first + 1, last + 1)


def repairs_in(result: Result) -> list[str]:
    """Return the repairs of a result in words."""
    found = {test.part: test.repair for test in result.tests if test.repair is not None}
    return [f"{part}: line {repair.line} {repair.kind} [{repair.edit}]" for part, repair in found.items()]


if __name__ == "__main__":
    main()
