"""A large class in one run: what the grader uses does not grow with it, and everybody has the right mark."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from benchmarks.class_of import class_of
from benchmarks.many import Sample, sampled
from tests.support.classes import gradings, hand_in, marks

NUMBER = 300


class TestLargeClass:
    """Right, wrong, broken and hostile submissions, one after the other."""

    def test_is_graded_in_constant_space(self, course: Path, tmp_path: Path, temporary: Path) -> None:
        """Memory, open files and processes are the same after 100 and after 300; scratch is empty at the end."""
        examples = list(class_of(NUMBER))
        folder, results = (
            hand_in(tmp_path / "class", {one.student: one.files for one in examples}),
            tmp_path / "results",
        )
        samples = list(sampled(folder, results, "--jobs", "2"))
        early, late = (_around(samples, done) for done in (100, NUMBER - 20))
        assert late["launcher_mb"] - early["launcher_mb"] < 5
        assert late["engine_mb"] - early["engine_mb"] < 5
        assert late["files"] - early["files"] < 10
        assert late["processes"] - early["processes"] < 3
        assert marks(results) == {one.student: one.mark for one in examples}
        assert gradings(results) == {one.student: 1 for one in examples}
        assert list(temporary.iterdir()) == []


def _around(samples: list[Sample], done: int) -> dict[str, float]:
    """What there is when so many are done; the median of some, because a student's process comes and goes."""
    near = [sample for sample in samples if abs(sample.done - done) <= 20]
    return {name: median(getattr(one, name) for one in near) for name in Sample.__annotations__}
