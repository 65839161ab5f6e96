"""Says in plain words why a student's code raised an exception, and what the student can do next. Trusted side.

A worker names the exception, its message and the libraries that it passed through. This may be false, so it only
chooses among the sentences here. A name or a path is put into a sentence only if the student's own line, as it was
handed in, contains it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from softmark.grading import versions
from softmark.grading.library_messages import library_message
from softmark.grading.missing_modules import missing_module
from softmark.grading.missing_names import missing_name
from softmark.grading.unreadable import PYTHON, unreadable
from softmark.intake.model import SubmittedFiles
from softmark.records.verdict import Category, Code
from softmark.sandbox.failure_texts import message_of, named_only
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.wire import Frame, Raised
from softmark.sandbox.wire.protocol import Call

MAIN_GUARD = '`if __name__ == "__main__":`'
_DEBUGGER = re.compile(r"\b(?:breakpoint|set_trace|embed|post_mortem)\s*\(")
_PATH = re.compile(r": '([^']{1,200})'(?: -> '[^']*')?$")
_TEXT = re.compile(r"""['"]([^'"]{1,200})['"]""")
_WRITES = re.compile(r"""\.(?:save|mkdir|write_\w+|to_\w+|savefig|touch)\(|makedirs|mkdir|['"][wax]\+?[bt]?\+?['"]""")
_LOOKS_UP = re.compile(r"\w\[\s*[A-Za-z_][\w.]*\s*\]")
_READS = re.compile(r"load\w*\(|read\w*\(")
_NO_PERMISSION = ("PermissionError", "OSError")
_NOT_A_FILE = ("FileNotFoundError", "NotADirectoryError", "IsADirectoryError", *_NO_PERMISSION)


@dataclass(frozen=True)
class Scene:
    """An exception of the student's, with the facts that the trusted side knows about its place."""

    raised: Raised
    handed: SubmittedFiles
    lacking: Callable[[str], str]
    """A function that returns, for a name, why the notebook's cell did not define it."""
    packages: Collection[str]
    """The libraries that students may import, even if this machine lacks them."""
    loading: bool
    """True if the exception came while the file was loaded; False if it came in a call of a test."""

    @property
    def frame(self) -> Frame | None:
        """The innermost of the student's own lines."""
        return self.raised.frames[-1] if self.raised.frames else None

    @property
    def line(self) -> str:
        """The text of that line as it was handed in."""
        return (self.handed.line(self.frame.file, self.frame.line) or "") if self.frame else ""

    def passed(self, *modules: str) -> bool:
        """Return whether the exception passed through one of these libraries."""
        return not set(modules).isdisjoint(self.raised.notes)

    def or_else(self, instead: str) -> str:
        """Return the advice to write `instead`; while the file is loaded, the advice not to run this line then."""
        if not self.loading:
            return instead
        within = len(self.raised.frames) > 1
        return f"call this only under {MAIN_GUARD}" if within else f"delete this line, or move it under {MAIN_GUARD}"


@dataclass(frozen=True)
class Advice:
    """One sentence. `frame` is the line that it is about, if another line raised."""

    fact: str
    frame: Frame | None = None


def advised(
    failure: StudentFailure,
    handed: SubmittedFiles,
    packages: Collection[str],
    lacking: Callable[[str], str] = lambda name: "",
    loading: bool = False,
    asked: Sequence[Call] = (),
) -> StudentFailure:
    """Return the failure with a sentence that names the cause and the next step, if the cause is known.

    Otherwise the sentence repeats the library's own message, as far as a student may read it. `asked` are the calls of
    the test.
    """
    if loading and failure.category is Category.TIMEOUT:
        instead = f"make a function of what takes so long, or move it under {MAIN_GUARD}"
        return replace(failure, fact=f"{failure.fact}: {instead}")
    if failure.raised is None or failure.category is not Category.ERROR or failure.code == Code.NOT_DEFINED:
        return failure
    scene = Scene(failure.raised, handed, lacking, packages, loading)
    found = next(_found(scene), None)
    if found is None:
        return failure if loading else _with_message(failure, failure.raised, handed, asked)
    raised = failure.raised if found.frame is None else Raised(failure.raised.cls, "", (found.frame,))
    detail = "" if raised.cls == "SystemExit" else message_of(failure.raised, found.fact)
    return replace(failure, fact=found.fact, detail=detail, raised=raised)


def _with_message(
    failure: StudentFailure, raised: Raised, handed: SubmittedFiles, asked: Sequence[Call]
) -> StudentFailure:
    """Return the failure with the message of the library's exception, if its sentence names only the exception."""
    if failure.fact != named_only(raised):
        return failure
    said = library_message(raised, handed, asked)
    whole = said == raised.message.strip().rstrip(".")
    return replace(failure, fact=f"{failure.fact}: {said}", detail="" if whole else failure.detail) if said else failure


def _found(scene: Scene) -> Iterator[Advice]:
    """Yield every piece of advice that fits, the most specific first."""
    for cause in _CAUSES:
        found = cause(scene)
        if found is not None:
            yield found if isinstance(found, Advice) else Advice(found)


def _unreadable(scene: Scene) -> Advice | None:
    """Return the advice on a file that Python cannot parse."""
    if scene.raised.cls not in ("SyntaxError", "IndentationError", "TabError") or scene.frame is None:
        return None
    said = unreadable(scene.raised, scene.handed.lines(scene.frame.file), scene.frame.line)
    if said is not None:
        return Advice(said[0], Frame(scene.frame.file, said[1], "", ""))
    if scene.frame.file in scene.handed.cells:
        return None  # for a notebook's cell, Python's own words are shown with the place
    return Advice(
        f"has a line that is not valid Python {PYTHON}, which is used here: check this line and the one above"
    )


def _debugger(scene: Scene) -> Advice | None:
    """Return the advice on a debugger. A debugger stops at the line after its call, so search for the call."""
    if scene.raised.cls != "BdbQuit" or scene.frame is None:
        return None
    lines = scene.handed.lines(scene.frame.file)[: scene.frame.line]
    numbers = [number for number, line in enumerate(lines, 1) if _DEBUGGER.search(line)]
    place = Frame(scene.frame.file, numbers[-1], "", "") if numbers else None
    return Advice("stops in a debugger, and none runs while grading: delete the call of breakpoint or set_trace", place)


def _keyboard(scene: Scene) -> str | None:
    if scene.raised.cls != "EOFError" or "input" not in scene.line:
        return None
    instead = scene.or_else("use the function's arguments instead")
    return f"waits for keyboard input with input(): there is no keyboard while grading; {instead}"


def _name(scene: Scene) -> str | None:
    """Return the advice on a name that is not defined."""
    if scene.raised.cls not in ("NameError", "UnboundLocalError"):
        return None
    return missing_name(scene.raised, scene.line, scene.handed, scene.lacking)


def _module(scene: Scene) -> Advice | None:
    """Return the advice on an import that failed, or on a name that it would have brought."""
    said = missing_module(scene.raised, scene.line, scene.handed, scene.packages, scene.loading)
    return None if said is None else Advice(*said)


def _key(scene: Scene) -> str | None:
    """Return the advice on a key that a dictionary lacks. A key that the line writes down is told by the message."""
    if scene.raised.cls != "KeyError" or not _LOOKS_UP.search(scene.line):
        return None
    return "looks up a key that the dictionary does not have: ask with `in` first, or use its `.get`"


def _compiler(scene: Scene) -> str | None:
    if not scene.passed("torch._dynamo", "torch._inductor") or not scene.handed.has_word("compile"):
        return None
    return "uses torch.compile, which does not work while grading: leave it out, the answers are the same"


def _workers(scene: Scene) -> str | None:
    if not scene.passed("torch.utils.data.dataloader") or not scene.passed("multiprocessing"):
        return None
    return "uses a DataLoader with worker processes, which cannot be started while grading: write num_workers=0"


def _processes(scene: Scene) -> str | None:
    if not scene.passed("multiprocessing", "concurrent.futures.process", "torch.multiprocessing"):
        return None
    what = "starts processes of its own (multiprocessing), which is not possible while grading"
    return f"{what}: compute in this process, with a loop or with torch"


def _programs(scene: Scene) -> str | None:
    started = scene.passed("subprocess") or re.search(r"\bos\.(?:exec|posix_spawn|spawn)", scene.line)
    if not started or scene.raised.cls not in (*_NO_PERMISSION, "FileNotFoundError", "CalledProcessError"):
        return None
    what = "starts another program, which is not possible while grading"
    return f"{what}: {scene.or_else('do this in Python, or leave it out')}"


def _network(scene: Scene) -> str | None:
    if not scene.passed("socket", "urllib", "torch.hub"):
        return None
    what = "uses the network, which is not there while grading"
    return f"{what}: {scene.or_else('download nothing; the tests pass all that a function needs')}"


def _file(scene: Scene) -> str | None:
    """Return the advice on a file that does not exist, or that may not be read or written."""
    message = scene.raised.message
    path = _PATH.search(message)
    if path is None and scene.raised.cls == "FileNotFoundError":  # some libraries have words of their own
        path = next((text for text in _TEXT.finditer(scene.line) if text[1] in message), None)
    if scene.raised.cls not in _NOT_A_FILE or path is None:
        return None
    quoted = scene.handed.quotes(path[1])
    reads = scene.raised.cls == "FileNotFoundError" and _READS.search(scene.line)
    if _WRITES.search(scene.line) and not reads:
        what = f"writes to `{quoted}`" if quoted else "writes to a file"
        return f"{what}, which is not possible while grading: {scene.or_else('write no files')}"
    what = f"opens `{quoted}`" if quoted else "opens a file"
    instead = scene.or_else("load nothing; the tests pass all that a function needs")
    return f"{what}, and there is no such file while grading: {instead}"


def _version(scene: Scene) -> str | None:
    """Return the advice on a function or class of torch, NumPy or Python that the version here does not have."""
    return versions.lacking(scene.raised, scene.line)


def _command_line(scene: Scene) -> str | None:
    if scene.raised.cls != "SystemExit" or not scene.passed("argparse"):
        return None
    what = "reads the command line with argparse, and there is none while grading"
    instead = scene.or_else("use the function's arguments instead")
    return f"{what}: {instead}"


def _top_level(scene: Scene) -> str | None:
    """Return the advice on code that fails only because it is outside of all functions."""
    if not scene.loading:
        return None
    if scene.raised.cls == "SystemExit":
        return f"ends the program while it is loaded (exit, quit or sys.exit): {scene.or_else('')}"
    if scene.raised.cls == "AssertionError" and "CUDA" not in scene.raised.message:
        return f"has an assert that fails while it is loaded: {scene.or_else('')}"
    return None


_CAUSES: tuple[Callable[[Scene], Advice | str | None], ...] = (
    *(_unreadable, _debugger, _keyboard, _name, _module, _key, _compiler, _workers, _processes, _programs, _network),
    *(_version, _file, _command_line, _top_level),
)
