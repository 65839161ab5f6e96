"""A file is replaced whole or not at all."""

import os
from pathlib import Path

import pytest

from softmark.feedback.safe_files import replace_file


def accept(data: bytes) -> None:
    assert data


class Refused(Exception):
    """What a check raises here."""


def refuse(data: bytes) -> None:
    raise Refused(data)


class TestReplaceFile:
    def test_replaces(self, tmp_path: Path) -> None:
        """The new content is there, and nothing beside it."""
        path = tmp_path / "results.json"
        replace_file(path, b"old", accept)
        replace_file(path, b"new", accept)
        assert path.read_bytes() == b"new"
        assert os.listdir(tmp_path) == ["results.json"]

    def test_checks_what_is_on_disk(self, tmp_path: Path) -> None:
        """The check is given the bytes that were read back."""
        seen: list[bytes] = []
        replace_file(tmp_path / "results.json", b"content", seen.append)
        assert seen == [b"content"]

    def test_keeps_the_old_file_if_the_check_fails(self, tmp_path: Path) -> None:
        """What does not pass the check never takes the place of what did, and is swept away."""
        path = tmp_path / "results.json"
        replace_file(path, b"old", accept)
        with pytest.raises(Refused):
            replace_file(path, b"new", refuse)
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["results.json"]

    @pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError])
    def test_leaves_nothing_behind_when_it_is_stopped(self, stop: type[BaseException], tmp_path: Path) -> None:
        """Ctrl-C in the middle of writing leaves the old file, and nothing else in a folder that is handed back."""
        path = tmp_path / "feedback.html"
        replace_file(path, b"old", accept)

        def stopped(data: bytes) -> None:
            raise stop

        with pytest.raises(stop):
            replace_file(path, b"new", stopped)
        assert path.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["feedback.html"]

    def test_is_private(self, tmp_path: Path) -> None:
        """Other users, a student's process among them, cannot read a result."""
        path = tmp_path / "results.json"
        replace_file(path, b"new", accept)
        assert path.stat().st_mode & 0o777 == 0o600

    def test_replaces_a_link_and_not_its_target(self, tmp_path: Path) -> None:
        """A link planted at the place is replaced; what it points to is left alone."""
        target = tmp_path / "target"
        target.write_bytes(b"precious")
        path = tmp_path / "results.json"
        path.symlink_to(target)
        replace_file(path, b"new", accept)
        assert target.read_bytes() == b"precious"
        assert path.read_bytes() == b"new"
        assert not path.is_symlink()

    def test_says_when_there_is_no_folder(self, tmp_path: Path) -> None:
        """A folder that is not there is an OSError for the command to put into words."""
        with pytest.raises(FileNotFoundError):
            replace_file(tmp_path / "nowhere" / "results.json", b"new", accept)
