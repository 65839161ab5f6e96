"""A class in which some answer with far too much: what trusted processes hold is bounded, and so are the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from softmark.course.homework import load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Status, Submission, encode
from softmark.sandbox.procfs import descendants
from tests.support.classes import RIGHT, STRONGEST
from tests.support.course import FILE, NAME, write_course
from tests.support.processes import peak_of

LARGEST, LARGEST_RESULT = 600_000_000, 200_000
TORCH = f"import torch\n{RIGHT}"
LONG_TEXTS = """
from softmark.sandbox import wire
pack = wire.pack
text = {"failed": "type", "detail": "x" * 1_000_000, "raised": None}
wire.pack = lambda reply: pack({"id": reply["id"], **text} if "value" in reply.get("done", {}) else reply)
"""
HOSTILE = {
    "huge": TORCH.replace("x * 2", "torch.zeros(2, 2850, 5700, dtype=torch.float64)"),
    "as much as is allowed": TORCH.replace("x * 2", "torch.zeros(990_000, dtype=torch.float64)"),
    "many tensors": TORCH.replace("x * 2", "[torch.empty(0)] * 90_000"),
    "long texts": RIGHT + LONG_TEXTS,
    "loud": RIGHT.replace("return x * 2", "print('\\0' * 1_000_000, flush=True)\n    import os\n    os._exit(0)"),
}


def test_memory_of_the_graders_own_processes(course: Path) -> None:
    """Engine, judges and zygotes stay below 600 MB each, results below 200 kB; right submissions keep their marks."""
    right = {f"right {number}": f"{RIGHT}# {number}\n" for number in range(35)}
    twice = [name for name in HOSTILE for _ in range(2)]
    with LocalEngine(GradingSpec.of(load_homework(NAME, course), STRONGEST), slots=2) as engine:
        hostile = dict(zip(twice, graded(engine, [HOSTILE[name] for name in twice]), strict=True))
        others = graded(engine, list(right.values()))
        (pid,) = engine.pids
        peaks = [peak_of(one) for one in (pid, *descendants(pid))]
    assert max(peaks) < LARGEST
    assert [result.total for result in others] == [4.0] * 35
    assert {result.status for result in hostile.values()} == {Status.GRADED}
    assert {name: result.total for name, result in hostile.items()} == {**dict.fromkeys(HOSTILE, 2.0), "long texts": 0}
    assert max(len(encode(result)) for result in hostile.values()) < LARGEST_RESULT


def graded(engine: LocalEngine, sources: Sequence[str]) -> list[Result]:
    """The final results of these submissions."""
    jobs = [Job(Submission(id="one"), SubmittedFiles(FILE, {FILE: source.encode()})) for source in sources]
    return [future.result() for future in [engine.submit(job) for job in jobs]]


PROPERTIES = """
from softmark import batch_independent, permutation_equivariant, repeatable, rows_sum_to_one


@number("1")
@weight(4)
@pytest.mark.parametrize("holds", [rows_sum_to_one, repeatable, batch_independent, permutation_equivariant])
def test_one(student, holds):
    '''One.'''
    holds(student.one, torch.ones(4, 3))
"""
MANY_AXES = "import torch\n\n\ndef one(x):\n    return torch.zeros((7_900_000, *[1] * 31), dtype=torch.uint8)\n"
MANY_COLUMNS = "import torch\n\n\ndef one(x):\n    return torch.zeros(4, 1_900_000, dtype=torch.uint8)\n"


def test_memory_of_property_checks(tmp_path: Path) -> None:
    """A check whose answer has no right size looks at it a piece at a time: a byte of it does not become eight."""
    root = write_course(tmp_path, PROPERTIES)
    with LocalEngine(GradingSpec.of(load_homework(NAME, root), STRONGEST)) as engine:
        results = graded(engine, (MANY_AXES, MANY_COLUMNS))
        (pid,) = engine.pids
        assert peak_of(pid) < LARGEST
    assert [result.status for result in results] == [Status.GRADED] * 2
