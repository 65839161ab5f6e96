"""What a worker tells of an exception: its class, its message, and the student's own lines."""

from __future__ import annotations

import errno
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from softmark.sandbox.wire import Frame, Raised
from softmark.sandbox.worker.exceptions import describe, is_memory


def raised_by(folder: Path, source: str, call: str = "f()", **given: Any) -> BaseException:
    """Return what a call of a file of the student's raises."""
    file = folder / "hw.py"
    file.write_text(source)
    linecache.checkcache()
    namespace = dict(given)
    exec(compile(source, str(file), "exec"), namespace)
    with pytest.raises(BaseException) as raised:
        eval(call, namespace)
    return raised.value


def told(folder: Path, source: str, **given: Any) -> Raised:
    return describe(raised_by(folder, source, **given), str(folder))


class TestFrames:
    def test_own_lines_outermost_first(self, tmp_path: Path) -> None:
        """Only lines of the student's, each with its function and text; not those of the grader or a library."""
        source = "def f():\n    return library(g)\n\ndef g():\n        raise ValueError('no')\n"
        assert told(tmp_path, source, library=lambda call: call()) == Raised(
            "ValueError",
            "no",
            (Frame("hw.py", 2, "f", "return library(g)"), Frame("hw.py", 5, "g", "raise ValueError('no')")),
            (),
            "ValueError",
        )

    def test_innermost_eight(self, tmp_path: Path) -> None:
        """Of a deep recursion the end is told."""
        frames = told(tmp_path, "def f(n=20):\n    if n == 0:\n        1 / 0\n    f(n - 1)\n").frames
        assert [frame.line for frame in frames] == [4] * 7 + [3]

    def test_long_names_and_lines_are_cut(self, tmp_path: Path) -> None:
        """A name has 80 characters at most, a line 200, a message 2000."""
        name = "f" * 100
        raised = told(tmp_path, f"def {name}(): raise ValueError('{'x' * 3000}')\nf = {name}\n")
        (frame,) = raised.frames
        assert (len(frame.function), len(frame.text), len(raised.message)) == (80, 200, 2000)

    def test_files_in_folders(self, tmp_path: Path) -> None:
        """A helper file is named as it was handed in."""
        (tmp_path / "pkg").mkdir()
        namespace: dict[str, Any] = {}
        exec(compile("def f(): 1 / 0", str(tmp_path / "pkg" / "a.py"), "exec"), namespace)
        with pytest.raises(ZeroDivisionError) as error:
            namespace["f"]()
        assert [frame.file for frame in describe(error.value, str(tmp_path)).frames] == ["pkg/a.py"]

    def test_a_folder_with_a_longer_name_is_another(self, tmp_path: Path) -> None:
        """What lies beside the scratch directory is not the student's."""
        (tmp_path / "scratch2").mkdir()
        error = raised_by(tmp_path / "scratch2", "def f(): 1 / 0\n")
        assert describe(error, str(tmp_path / "scratch")).frames == ()

    def test_syntax_error(self, tmp_path: Path) -> None:
        """It has no frame, so its place is told; one in another file has none."""
        file = str(tmp_path / "hw.py")
        with pytest.raises(SyntaxError) as error:
            compile("x = 1\n  y = (\n", file, "exec")
        assert describe(error.value, str(tmp_path)).frames == (Frame("hw.py", 2, "", "y = ("),)
        assert describe(error.value, str(tmp_path / "other")).frames == ()
        for odd in (SyntaxError("no place"), SyntaxError("no", (file, None, 0, ""))):
            assert describe(odd, str(tmp_path)).frames == ()
        without_text = SyntaxError("no", (file, 3, 0, None))
        assert describe(without_text, str(tmp_path)).frames == (Frame("hw.py", 3, "", ""),)


class TestMessage:
    def test_without_the_scratch_directory(self, tmp_path: Path) -> None:
        """Paths in a message begin at the submission's own directory."""
        raised = told(tmp_path, f"def f(): raise OSError('{tmp_path}/a.txt is not in {tmp_path}')\n")
        assert raised.message == "a.txt is not in ."

    def test_that_cannot_be_made(self, tmp_path: Path) -> None:
        """A class of the student's may fail to make its message, or make something else than text."""
        head = "class E(Exception):\n    def __str__(self): "
        assert told(tmp_path, f"{head}raise SystemExit\ndef f(): raise E\n").message == (
            "(its message could not be made: SystemExit)"
        )
        subclass = f"class T(str): pass\n{head}return T('x')\ndef f(): raise E\n"
        assert told(tmp_path, subclass).message == "(its message is not a string)"


class TestClass:
    @pytest.mark.parametrize(
        ("definition", "base"),
        [
            ("class E(KeyError): pass", "KeyError"),
            ("class A(ValueError): pass\nclass E(A): pass", "ValueError"),
            ("class ValueError(KeyError): pass\nE = ValueError", "KeyError"),
            ("class E(BaseException): pass", "BaseException"),
        ],
    )
    def test_nearest_of_pythons_own(self, definition: str, base: str, tmp_path: Path) -> None:
        """A class of the student's is told with the class of Python's own that it is derived from."""
        assert told(tmp_path, f"{definition}\ndef f(): raise E('x')\n").base == base

    def test_a_metaclass_does_not_lie(self, tmp_path: Path) -> None:
        """The name is the class's own, whatever its metaclass says."""
        source = (
            "class M(type):\n    @property\n    def __name__(cls): return 'Passed'\n"
            "class E(Exception, metaclass=M): pass\ndef f(): raise E\n"
        )
        assert told(tmp_path, source).cls == "E"


class TestNotes:
    @pytest.mark.parametrize(
        ("module", "notes"),
        [
            ("socket", ("socket",)),
            ("urllib.request", ("urllib",)),
            ("torch.hub", ("torch.hub",)),
            ("torch._dynamo.eval_frame", ("torch._dynamo",)),
            ("torch.utils.data.dataloader", ("torch.utils.data.dataloader",)),
            ("socketserver", ()),
            ("torch", ()),
            (None, ()),
        ],
    )
    def test_libraries_that_tell(self, module: str | None, notes: tuple[str, ...], tmp_path: Path) -> None:
        """It is told through which of some libraries the exception passed."""
        namespace: dict[str, Any] = {"__name__": module}
        exec("def library(): raise PermissionError(13, 'no')", namespace)
        assert told(tmp_path, "def f(): library()\n", library=namespace["library"]).notes == notes


class Own(OSError):
    """An error of the student's own."""


@pytest.mark.parametrize(
    ("make", "is_so"),
    [
        (lambda: MemoryError(), True),
        (lambda: OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (lambda: OSError(errno.EACCES, "out of memory"), False),
        (lambda: Own(errno.ENOMEM, "Cannot allocate memory"), False),
        (lambda: RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (lambda: RuntimeError("CUDA Out Of Memory. Tried to"), True),
        (lambda: RuntimeError("no"), False),
        (lambda: ValueError("out of memory"), False),
    ],
)
def test_is_memory(make: Callable[[], BaseException], is_so: bool) -> None:
    """Python's own error, the system's number or torch's words say that memory was refused."""
    assert is_memory(make()) == is_so
