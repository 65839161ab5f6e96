"""A file as it was handed in: read as bytes, refused with a reason that a student can act on."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from softmark.intake.contents import check
from softmark.intake.places import Refusal, Unreadable, read

needs_ordinary_user = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")

REFUSED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "blank": (b" \n\t\r\n", "the file is empty"),
    "UTF-16, little end first": ("x = 1\n".encode("utf-16"), "the file is UTF-16, not Python source in UTF-8"),
    "UTF-16, big end first": (b"\xfe\xff" + "x = 1\n".encode("utf-16-be"), "the file is UTF-16"),
    "UTF-32": ("x = 1\n".encode("utf-32"), "the file is UTF-16"),
    "UTF-16 without a mark": ("x = 1\n".encode("utf-16-le"), "line 1 contains a NUL character"),
    "zip": (b"PK\x03\x04rest", "the file is a zip archive"),
    "PDF": (b"%PDF-1.7\n", "the file is a PDF, whatever its name says: hand in the Python file itself"),
    "Latin-1": ("x = 1\n# café\n".encode("latin-1"), "the file is not UTF-8: line 2 holds the byte 0xE9"),
    "half a character": ("x = 'é'".encode()[:-2], "line 1 holds the byte 0xC3"),
    "NUL": (b"x = 1\ny = '\0'\n", "line 2 contains a NUL character"),
    "utf-7": (b"# coding: utf-7\nx = 1\n", "declare the encoding 'utf-7'; only UTF-8 is accepted"),
    "rot13 in line 2": (b"#!/usr/bin/python\n# vim: set fileencoding=rot13 :\n", "declare the encoding 'rot13'"),
    "a cookie that is a lie": ("# coding: utf8\nx = 'é'\n".encode("latin-1"), "line 2 holds the byte 0xE9"),
    "a long cookie": (b"# coding: " + b"x" * 5000 + b"\n", "declare the encoding '" + "x" * 40 + "'"),
}

ACCEPTED: dict[str, bytes] = {
    "plain": b"x = 1\n",
    "without a line end": b"x = 1",
    "UTF-8": "x = 'ü✓'\n".encode(),
    "byte order mark": b"\xef\xbb\xbfx = 1\n",
    "Windows lines": b"x = 1\r\ny = 2\r\n",
    "old Mac lines": b"x = 1\ry = 2\r",
    "cookie": b"# -*- coding: utf-8 -*-\nx = 1\n",
    "Emacs cookie": b"# -*- coding: utf-8-unix -*-\nx = 1\n",
    "Latin-1 with its cookie": "# coding: latin-1\nx = 'é'\n".encode("latin-1"),
    "ISO-8859-1 with its cookie": "# coding: iso-8859-1\nx = 'é'\n".encode("latin-1"),
    "cookie too late": b"\n\n# coding: utf-7\nx = 1\n",
    "a cookie in a text": b"x = '# coding: utf-7'\n",
    "a syntax error": b"x = = 1\n",
}


class TestCheck:
    """What is refused before anything runs."""

    @pytest.mark.parametrize(("content", "says"), REFUSED.values(), ids=REFUSED)
    def test_refuses(self, content: bytes, says: str) -> None:
        """What Python would misread, or could not explain, is named with its line and byte."""
        with pytest.raises(Refusal) as refusal:
            check(content)
        assert says in str(refusal.value)
        assert "\n" not in str(refusal.value)

    @pytest.mark.parametrize("content", ACCEPTED.values(), ids=ACCEPTED)
    def test_accepts(self, content: bytes) -> None:
        """Whatever Python reads as it is meant, right or wrong, is for Python to judge."""
        check(content)


class TestRead:
    """Reading the file that was named."""

    def test_gives_the_bytes(self, tmp_path: Path) -> None:
        """Exactly what is in it."""
        (tmp_path / "hw.py").write_bytes(b"\xff\r\n\0")
        assert read(tmp_path / "hw.py") == b"\xff\r\n\0"

    def test_refuses_what_is_too_large(self, tmp_path: Path) -> None:
        """A file beyond the cap is the student's doing, and is not read."""
        (tmp_path / "hw.py").write_bytes(b"x" * 1_000_001)
        with pytest.raises(Refusal, match="the file is larger than 1 MB"):
            read(tmp_path / "hw.py", most=1_000_000)

    def test_no_such_file(self, tmp_path: Path) -> None:
        """A name that is not there."""
        with pytest.raises(Unreadable, match=r"no such file: .*/absent$"):
            read(tmp_path / "absent")

    def test_a_directory(self, tmp_path: Path) -> None:
        """A folder, with the next step."""
        with pytest.raises(Unreadable, match="is a directory: name the file in it that is to be graded"):
            read(tmp_path)

    @pytest.mark.parametrize("target", ["hw.py", "/etc/passwd", "nowhere", "link"])
    def test_a_link_is_not_followed(self, target: str, tmp_path: Path) -> None:
        """A link that was handed in could name any file of this machine."""
        (tmp_path / "hw.py").write_text("x = 1\n")
        (tmp_path / "link").symlink_to(target)
        with pytest.raises(Unreadable, match="is a symbolic link: name the file that it points to"):
            read(tmp_path / "link")

    def test_what_is_no_file(self, tmp_path: Path) -> None:
        """A pipe is not waited for, a device not read, a socket not connected to."""
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(Unreadable, match="is not a regular file"):
            read(tmp_path / "pipe")
        with pytest.raises(Unreadable, match="is not a regular file"):
            read(Path("/dev/zero"))
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(str(tmp_path / "end"))
            with pytest.raises(Unreadable, match="cannot be read: "):
                read(tmp_path / "end")

    @needs_ordinary_user
    def test_what_may_not_be_read(self, tmp_path: Path) -> None:
        """A file without permission."""
        (tmp_path / "hw.py").touch(mode=0)
        with pytest.raises(Unreadable, match="cannot be read: Permission denied"):
            read(tmp_path / "hw.py")

    def test_a_name_that_is_none(self, tmp_path: Path) -> None:
        """A name that is too long, and one that goes through a file."""
        with pytest.raises(Unreadable, match="cannot be read: File name too long"):
            read(tmp_path / ("x" * 300))
        (tmp_path / "hw.py").touch()
        with pytest.raises(Unreadable, match="cannot be read: Not a directory"):
            read(tmp_path / "hw.py" / "inner")
