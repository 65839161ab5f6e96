"""Where a course is looked for, and what is said if there is none, or not that homework."""

from __future__ import annotations

from pathlib import Path

import pytest

from softmark.course import homework
from softmark.course.homework import COURSE_VARIABLE, course_root, load_homework
from softmark.records.errors import UsageError


class TestCourse:
    """The folder of the course, and what is said if there is none."""

    @pytest.fixture
    def nowhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A folder outside of any course, for a Softmark that is no checkout."""
        monkeypatch.delenv(COURSE_VARIABLE, raising=False)
        monkeypatch.setattr(homework, "__file__", str(tmp_path / "lib/python/site/softmark/course/homework.py"))
        return tmp_path

    def test_is_the_nearest_around(self, nowhere: Path) -> None:
        """A folder with graders/ and reference/; one of the two is not enough."""
        for name in ("a/graders", "a/reference", "a/b/graders", "a/b/c/reference"):
            (nowhere / name).mkdir(parents=True)
        assert course_root(nowhere / "a/b/c") == nowhere / "a"
        with pytest.raises(UsageError) as error:
            course_root(nowhere)
        assert str(error.value) == (
            f"no course at {nowhere} or above it: go to the folder that holds graders/ and reference/, "
            "or name it in the environment variable SOFTMARK_COURSE."
        )

    def test_that_is_named(self, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The environment names it, and nothing else is looked at."""
        for name in ("a/graders", "a/reference"):
            (nowhere / name).mkdir(parents=True)
        monkeypatch.setenv(COURSE_VARIABLE, str(nowhere / "a"))
        assert course_root(nowhere) == nowhere / "a"
        monkeypatch.setenv(COURSE_VARIABLE, str(nowhere))
        with pytest.raises(UsageError) as error:
            course_root(nowhere / "a")
        assert str(error.value) == f"SOFTMARK_COURSE={nowhere} is no course: it lacks graders/ or reference/."

    @pytest.mark.parametrize(
        ("name", "meant"),
        [("multi_haed", " Did you mean 'multi_head'?"), ("transformers", ""), ("multi", " Did you mean 'multi_head'?")],
    )
    def test_homework_that_is_not_there(self, name: str, meant: str, nowhere: Path) -> None:
        """All that there are, and the one that is most like it."""
        for homework_name in ("multi_head", "multi_heads", "lstm"):
            folder = nowhere / "graders" / homework_name
            folder.mkdir(parents=True)
            (folder / "homework.toml").touch()
        with pytest.raises(UsageError) as error:
            load_homework(name, nowhere)
        assert str(error.value) == f"no homework named {name!r}; there are: lstm, multi_head, multi_heads.{meant}"

    def test_no_homework(self, nowhere: Path) -> None:
        """An empty course says so."""
        (nowhere / "graders").mkdir()
        with pytest.raises(UsageError, match=r"no homework named 'x'; there are: none\.$"):
            load_homework("x", nowhere)
