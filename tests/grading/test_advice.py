"""What a student reads when their code does what is not possible while grading: the exact sentences.

Every piece of code runs in the real sandbox, in a file or in a notebook. Read each sentence as a first-year student.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Status, Submission
from softmark.sandbox import procfs
from softmark.sandbox.isolation import Sandbox
from tests.support.course import FILE, grade, write_course
from tests.support.notebooks import job, written
from tests.support.sandboxes import sandbox

HIDDEN = '''
@number("1")
@weight(2)
def test_one(student):
    """One."""
    agree(student.one, lambda x: x + 1, torch.ones(2))


@number("2")
@weight(2)
def test_two(student):
    """Two."""
    agree(student.two, lambda x, mask: x, torch.ones(2), mask=True)
'''
TWO = "def two(x, mask):\n    return x\n"
LIMITS = "cpu_seconds = 20\nimport_seconds = 5\nmemory_mb = 900\n"
TORCH, NUMPY = f"torch {torch.__version__.partition('+')[0]}", f"NumPy {np.__version__}"
PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
GUARD = 'move it under `if __name__ == "__main__":`'
PASSED = "the tests pass all that a function needs"
NOT_HERE = "which is not installed where it is graded"
WITHOUT = "write this without it; torch and NumPy are there"


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("course"), HIDDEN, (2, 2), limits=LIMITS)


def graded(course: Path, place: Sandbox, source: str, **beside: str) -> Result:
    """The result of a file, with other files of these names beside it."""
    files = {FILE: source.encode(), **{f"{name}.py": text.encode() for name, text in beside.items()}}
    (result,) = grade(course, place, Job(Submission(id="one"), SubmittedFiles(FILE, files)))
    assert result.status is not Status.GRADER_ERROR, result.staff_notes
    return result


def graded_undisturbed(course: Path, place: Sandbox, source: str) -> Result:
    """The result of a file in whose time the kernel killed no other program for memory, as it does in other tests."""
    while True:
        before = procfs.oom_kills()
        result = graded(course, place, source)
        if procfs.oom_kills() == before:
            return result


def told(result: Result) -> tuple[str, str]:
    """What is said of part 1, and the text of the line that is shown with it."""
    verdict = next(verdict for test in result.tests if test.part == "1" for verdict in test.verdicts)
    return verdict.fact, verdict.frames[-1].text if verdict.frames else ""


def in_a_call(*lines: str) -> str:
    """A file whose function `one` has this body."""
    body = "".join(f"    {line}\n" for text in lines for line in text.splitlines())
    return f"import os\nimport numpy as np\nimport torch\n\n{TWO}\ndef one(x):\n{body}"


CALLS = {  # the body of a function, and the sentence; the line that is shown is the one that ends with "#!"
    "input": ("n = input('n: ') #!", "waits for keyboard input with input(): there is no keyboard while grading; "
              "use the function's arguments instead"),
    "end of something else": ("raise EOFError('no more') #!", "raised EOFError"),
    "name": ("return x + W #!", "uses `W`, which is defined nowhere: check how it is spelt, or define it"),
    "name like another": ("return towo(x, 1) #!", "uses `towo`, which is not defined: did you mean `two`?"),
    "lookup": ("table = {}\nkey = 7\nreturn table[key] #!",
            "looks up a key that the dictionary does not have: ask with `in` first, or use its `.get`"),
    "lookup of a key that is written down": ("return {'W1': x}['W2'] #!", "raised KeyError: 'W2'"),
    "import forgotten": ("return math.sqrt(x) #!", "uses `math`, which is not defined: add `import math` at the top"),
    "import as": ("return F.relu(x) #!",
                  "uses `F`, which is not defined: add `import torch.nn.functional as F` at the top"),
    "other language": ("return null #!", "uses `null`, which is not defined: Python writes `None`"),
    "local": ("def other():\n    W = 1\nreturn x + W #!", "uses `W`, which is not defined at this place: "
              "pass it as an argument, or define it before it is used"),
    "unset": ("if x is None:\n    y = x\nreturn y #!",
              "uses `y` before it has a value: give it one before this line, in every branch"),
    "torch.load": ("return torch.load('data/weights.pt') #!",
                   f"opens `data/weights.pt`, and there is no such file while grading: load nothing; {PASSED}"),
    "np.load": ("return np.load('w.npy') #!",
                f"opens `w.npy`, and there is no such file while grading: load nothing; {PASSED}"),
    "open": ("return open('/home/me/x.txt').read() #!",
             f"opens `/home/me/x.txt`, and there is no such file while grading: load nothing; {PASSED}"),
    "np.loadtxt": (
        "return np.loadtxt('table.txt') #!",
        f"opens `table.txt`, and there is no such file while grading: load nothing; {PASSED}",
    ),
    "path made of parts": ("return open(os.path.join('data', 'x.csv')) #!",
                           f"opens `x.csv`, and there is no such file while grading: load nothing; {PASSED}"),
    "path from nowhere": ("return open(str(7)) #!",
                          f"opens a file, and there is no such file while grading: load nothing; {PASSED}"),
    "write": ("open('/home/log.txt', 'w') #!",
              "writes to `/home/log.txt`, which is not possible while grading: write no files"),
    "makedirs": ("os.makedirs('/content/out') #!",
                 "writes to `/content`, which is not possible while grading: write no files"),
    "compile": ("f = torch.compile(lambda a: a + 1)\nreturn f(x) #!",
                "uses torch.compile, which does not work while grading: leave it out, the answers are the same"),
    "DataLoader": ("from torch.utils.data import DataLoader\nloader = DataLoader([1, 2], num_workers=2)\n"
                   "for batch in loader: pass #!",
                   "uses a DataLoader with worker processes, which cannot be started while grading: "
                   "write num_workers=0"),
    **{
        name: (line, "starts processes of its own (multiprocessing), which is not possible while grading: "
               "compute in this process, with a loop or with torch")
        for name, line in {
            "Pool": "import multiprocessing\nmultiprocessing.Pool(2) #!",
            "Queue": "from torch import multiprocessing as mp\nmp.Queue() #!",
            "executor": "from concurrent.futures import ProcessPoolExecutor\n"
                        "list(ProcessPoolExecutor().map(abs, [1])) #!",
            "spawn": "import torch.multiprocessing as mp\nmp.spawn(print, nprocs=1) #!",
        }.items()
    },
    **{
        name: (line, "starts another program, which is not possible while grading: "
               "do this in Python, or leave it out")
        for name, line in {
            "run": "import subprocess\nsubprocess.run(['ls']) #!",
            "shell": "import subprocess\nsubprocess.check_output('nvidia-smi', shell=True) #!",
            "popen": "os.popen('ls') #!",
            "exec": "os.execv('/bin/ls', ['ls']) #!",
        }.items()
    },
    **{
        name: (line, f"uses the network, which is not there while grading: download nothing; {PASSED}")
        for name, line in {
            "urlopen": "import urllib.request\nurllib.request.urlopen('http://example.org') #!",
            "socket": "import socket\nsocket.create_connection(('10.0.0.1', 80)) #!",
            "hub": "torch.hub.load('pytorch/vision', 'resnet18') #!",
        }.items()
    },
    "np.float": ("return np.float(1) #!", f"uses `np.float`, which {NUMPY}, used here, does not have: write `float`"),
    "np.Inf": ("return np.Inf #!", f"uses `np.Inf`, which {NUMPY}, used here, does not have: write `np.inf`"),
    "torch function": ("return torch.nn.functional.sotfmax(x) #!",
                       f"uses `torch.nn.functional.sotfmax`, which {TORCH}, used here, does not have: "
                       "check how it is spelt, or write it another way"),
    "removed": ("return torch.symeig(x) #!",
                f"uses `torch.symeig`, which {TORCH}, used here, no longer has: see what replaces it"),
    "method": ("return x.adds(1) #!", f"uses `.adds`, which tensors of {TORCH}, used here, do not have: "
               "check how it is spelt, or write it another way"),
    "import in a function": ("import matplotlib.pyplot as plt #!\nplt.plot(x)",
                             f"needs `matplotlib`, {NOT_HERE}: {WITHOUT}"),
    "import of a name": ("from torch.nn import Softmx #!", f"imports `Softmx`, which {TORCH}, used here, does not "
                         "have: check how it is spelt, or do without it"),
    "import of another Python": ("from collections import Mapping #!", f"imports `Mapping`, which {PYTHON}, used "
                                 "here, does not have: check how it is spelt, or do without it"),
    "breakpoint": ("breakpoint() #!\nreturn x", "stops in a debugger, and none runs while grading: "
                   "delete the call of breakpoint or set_trace"),
    "the nearest of several": ("if x is None:\n    breakpoint()\nbreakpoint() #!\ny = x\nreturn y or breakpoint()",
                               "stops in a debugger, and none runs while grading: "
                               "delete the call of breakpoint or set_trace"),
    "set_trace": ("import pdb; pdb.set_trace() #!\ny = x\nreturn y", "stops in a debugger, and none runs while "
                  "grading: delete the call of breakpoint or set_trace"),
    "argparse": ("import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', required=True)\n"
                 "p.parse_args() #!", "reads the command line with argparse, and there is none while grading: "
                 "use the function's arguments instead"),
    "exit": ("exit() #!", "it tried to end the program (sys.exit, exit or quit) instead of returning an answer"),
    "KeyboardInterrupt": ("raise KeyboardInterrupt #!", "raised KeyboardInterrupt instead of returning an answer"),
    "recursion": ("return one(x) #!", "recursion too deep: it calls itself without an end"),
    "cuda": ("return x.cuda() #!",
             "asks for a GPU, and there is none here: create tensors on the device of the input"),
    "kill": ("os.kill(os.getpid(), 9)", "was killed, and not for its memory: does your code call os.kill? "
             "Delete that call"),
    "many items": ("return list(range(200_000))", "returned more than 100,000 items in lists and dicts, "
                   "not a plain value that can be compared: return an array or a tensor"),
    "key": ("return {(1, 2): x}", "returned a dict with a key that is neither str, int or bytes nor a tuple of "
            "texts or bytes, not a plain value that can be compared: use str, int or bytes as keys, or tuples of texts "
            "or bytes"),
    "set": ("return {1, 2}", "returned a set, not a plain value that can be compared: return a list"),
    "set in a list": ("return [x, {1, 2}]",
                      "returned a value that contains a set, not a plain value that can be compared: return a list"),
    "sparse": ("return x.to_sparse()", "returned a sparse tensor, not a plain value that can be compared: "
               "return a dense one, as .to_dense() gives it"),
    "objects": ("return np.array([None])", "returned an array of something else than numbers, "
                "not a plain value that can be compared: return an array of numbers"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "sentence"), CALLS.values(), ids=CALLS)
def test_in_a_call(course: Path, place: Sandbox, body: str, sentence: str) -> None:
    """The sentence names the cause and the next step, and the line that is shown is the one to look at."""
    result = graded_undisturbed(course, place, in_a_call(body))
    fact, line = told(result)
    assert fact == f"one: {sentence}"
    assert line.endswith("#!") == ("#!" in body), line
    assert [part.earned for part in result.parts] == [0.0, 2.0]


AT_HOME = (
    *"input name import-forgotten import-as local unset torch.load open np.float np.Inf method cuda kill".split(),
    *"set many-items key set-in-a-list objects argparse exit recursion KeyboardInterrupt import-of-a-name".split(),
)
"""Pieces of code that fail without walls, too."""


@pytest.fixture(scope="module")
def at_home() -> Iterator[Sandbox]:
    with sandbox("own") as opened:
        yield opened


@pytest.mark.parametrize("name", AT_HOME)
def test_in_check(course: Path, at_home: Sandbox, name: str) -> None:
    """On a student's own machine the same code reads the same."""
    body, sentence = CALLS[name.replace("-", " ")]
    fact, line = told(graded_undisturbed(course, at_home, in_a_call(body)))
    assert fact == f"one: {sentence}"
    assert line.endswith("#!") == ("#!" in body), line


LOADS = {  # the first lines of a file, and why it could not be loaded
    "input": ("n = int(input()) #!", "waits for keyboard input with input(): there is no keyboard while grading; "
              f"delete this line, or {GUARD}"),
    "input in a function": ("def main():\n    return input() #!\nmain()",
                            "waits for keyboard input with input(): there is no keyboard while grading; "
                            'call this only under `if __name__ == "__main__":`'),
    "file": ("import torch\nW = torch.load('w.pt') #!", "opens `w.pt`, and there is no such file while grading: "
             f"delete this line, or {GUARD}"),
    "argparse": ("import argparse\np = argparse.ArgumentParser()\np.add_argument('n')\np.parse_args() #!",
                 "reads the command line with argparse, and there is none while grading: "
                 f"delete this line, or {GUARD}"),
    "exit": ("exit() #!", f"ends the program while it is loaded (exit, quit or sys.exit): "
             f"delete this line, or {GUARD}"),
    "quit": ("quit() #!", f"ends the program while it is loaded (exit, quit or sys.exit): "
             f"delete this line, or {GUARD}"),
    "assert": ("assert 1 == 2 #!", f"has an assert that fails while it is loaded: delete this line, or {GUARD}"),
    "name": ("y = np.ones(2) #!", "uses `np`, which is not defined: add `import numpy as np` at the top"),
    "tabs": ("def f(x):\n\tif x:\n        return 1 #!",
             "is indented with tabs in one line and with spaces in another, or unevenly: use four spaces everywhere"),
    "not indented": ("def f(x):\nreturn 1 #!", "is not indented as Python wants it: what belongs to `def`, `if` or "
                     "`for` is four spaces further right"),
    "merge": ("x = 1\n<<<<<<< HEAD #!\nx = 2\n=======\nx = 3\n>>>>>>> mine",
              "has a line of a merge conflict (<<<<<<<, ======= or >>>>>>>): keep one of the two versions and delete "
              "the marker lines"),
    "merge in a call": ("x = f(1,\n<<<<<<< HEAD #!\n 2)\n=======\n 3)\n>>>>>>> mine",
                        "has a line of a merge conflict (<<<<<<<, ======= or >>>>>>>): keep one of the two versions "
                        "and delete the marker lines"),
    "typographic": ("x = “one” #!", "has a typographic quotation mark (“): type a plain ' or \" in its place"),
    "minus": ("x = 1 − 2 #!",
              "has a character that Python cannot read (U+2212, minus sign): delete it and type it anew"),
    "no-break space": ("x =\u00a01 #!",
                       "has a character that Python cannot read (U+00A0, no-break space): delete it and type it anew"),
    "magic": ("%matplotlib inline #!", "has a line that only a notebook can read (with %, ! or ?): delete this line"),
    "shell": ("!pip install einops #!", "has a line that only a notebook can read (with %, ! or ?): delete this line"),
    "print": ("print 'x' #!", "has a print without brackets, as in Python 2: write print(…)"),
    "invalid": ("x = = 1 #!", f"has a line that is not valid {PYTHON}, which is used here: "
                "check this line and the one above"),
}  # fmt: skip
NEWER = {
    "type": ((3, 12), "type X = int #!", "a `type` statement"),
    "generic function": ((3, 12), "def f[T](x: T) -> T: return x #!", "type parameters in square brackets"),
    "generic class": ((3, 12), "class A[T]: pass #!", "type parameters in square brackets"),
    "f-string": ((3, 12), "x = f'{dict(a=1)['a']}' #!",
                 "an f-string with the same quotation marks inside its braces"),
    "except": ((3, 14), "try: pass\nexcept ValueError, TypeError: pass #!",
               "several exceptions without brackets around them"),
    "t-string": ((3, 14), "x = t'{1}' #!", "a template string, t'…'"),
}  # fmt: skip
LOADS |= {
    name: (
        code,
        f"uses {what}, which only Python {version[0]}.{version[1]} and later can read, and {PYTHON} is used here: "
        "write it without",
    )
    for name, (version, code, what) in NEWER.items()
    if sys.version_info < version
}


@pytest.mark.parametrize(("top", "sentence"), LOADS.values(), ids=LOADS)
def test_while_loading(course: Path, place: Sandbox, top: str, sentence: str) -> None:
    """A file that cannot be loaded says why in the same words, and shows the line to mend."""
    result = graded(course, place, f"{top}\n{TWO}def one(x):\n    return x + 1\n")
    reason = result.reason.removeprefix(f"{FILE} could not be loaded: ")
    assert reason.partition(" (")[0] == sentence.partition(" (")[0]
    assert reason.startswith(sentence)
    assert result.reason_frames[-1].text.endswith("#!")


@pytest.mark.parametrize("top", ["while True: pass", "import time\ntime.sleep(999)"])
def test_file_that_is_never_loaded(tmp_path: Path, place: Sandbox, top: str) -> None:
    """It says what to do about the lines that take so long."""
    course = write_course(tmp_path, HIDDEN, (2, 2), limits="import_seconds = 0.2\n")
    reason = graded(course, place, f"{top}\n{TWO}").reason
    assert reason.startswith(f"{FILE} could not be loaded: no answer within ")
    assert reason.endswith(f": make a function of what takes so long, or {GUARD}")


class TestSignature:
    """What a function is called with is told by name, and so is one argument of several."""

    def test_too_few(self, course: Path, place: Sandbox) -> None:
        """Names come from the reference; where it has none, from the test; the student's own from their file."""
        course_with_names = course / "reference/tiny.py"
        course_with_names.write_text("def one(tokens):\n    return tokens + 1\n\n\ndef two(x, mask):\n    return x\n")
        try:
            result = graded(course, place, "def one():\n    return 1\n\ndef two(\n    x,  # input\n):\n    return x\n")
        finally:
            course_with_names.unlink()
        facts = [verdict.fact for test in result.tests for verdict in test.verdicts]
        start = "it does not take the arguments that the handout names: the tests call it with"
        assert facts == [f"one: {start} tokens; yours takes ()", f"two: {start} x and mask=…; yours takes (x,)"]

    def test_set_anew(self, course: Path, place: Sandbox) -> None:
        """Of a name that is given another value no definition is quoted that no longer holds."""
        fact, _ = told(graded(course, place, f"def one(x):\n    return x\n\n{TWO}\none = lambda: 1\n"))
        start = "it does not take the arguments that the handout names: the tests call it with"
        assert fact == f"one: {start} argument 1"


class TestNotebook:
    """In a notebook the cell is named, and what was left out of it."""

    def test_name_of_a_cell_that_was_left_out(self, course: Path, place: Sandbox) -> None:
        """A value that takes long to compute is not computed."""
        train = "def train():\n    for i in [1]: pass\n    return 1\n"
        fact = self.fact(course, place, train, "W = train()", "def one(x):\n    return x + W\n")
        assert fact == (
            "one: uses `W`, which is set in cell 2, line 1, and that was not run: of a notebook only imports, "
            "functions, classes and simple constants are run"
        )

    def test_name_of_a_cell_that_failed(self, course: Path, place: Sandbox) -> None:
        """The reason stands in the same sentence."""
        fact = self.fact(course, place, "W = 1 / 0", "def one(x):\n    return x + W\n")
        assert fact == (
            "one: uses `W`, which is not there, because this failed: cell 1, line 1: "
            "raised ZeroDivisionError (division by zero)"
        )

    def test_newer_syntax(self, course: Path, place: Sandbox) -> None:
        """A cell that does not parse says more than "invalid syntax" where more is known."""
        fact = self.fact(course, place, "def one(x):\n    return “x”\n")
        said = "has a typographic quotation mark (“): type a plain ' or \" in its place"
        assert fact == f"one: the notebook's cell 1, line 2: {said}"

    def fact(self, course: Path, place: Sandbox, *cells: str) -> str:
        (result,) = grade(course, place, job("tiny.ipynb", written(*cells, TWO)))
        return told(result)[0]
