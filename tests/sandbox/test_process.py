"""A student process and the trusted side that asks it: the same answers everywhere, and no way to break the form."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
import torch

from softmark.sandbox import failure_texts, process, scratch, wire
from softmark.sandbox.failures import GraderFault, StudentFailure
from softmark.sandbox.isolation import ForkedSandbox, Sandbox
from softmark.sandbox.procfs import descendants
from softmark.sandbox.scratch import ScratchRoot
from softmark.sandbox.student_process import StudentProcess
from softmark.sandbox.walls import environment
from softmark.sandbox.wire import Handle, Meta
from softmark.sandbox.wire.protocol import Rule
from softmark.sandbox.zygote import Zygote
from tests.support.sandboxes import FILE, KINDS, SHORT, STRONGEST, ask, loaded, sandbox, value, zygote

RULES = (Rule(("torch.nn.functional.gelu",)),)
SUBMISSION = """
import os, sys, torch
from torch import nn

def double(x, times=2):
    return x * times

def nested(x):
    return {"pair": (x, [x + 1, None]), 3: "text", "many": list(range(3))}

def fails(x):
    y = x[0]
    return y[100]

def generator(x):
    yield x

def shortcut(x):
    return nn.functional.gelu(x)

def spoil(x):
    x += 1
    return x

def two(x, k):
    return x * k, x.sum(), 7

def where():
    return os.path.basename(os.getcwd()) == os.path.basename(os.path.dirname(__file__)), sorted(os.listdir())

def deeper(depth):
    if depth:
        return deeper(depth - 1)
    return [][0]

def complain(*names):
    raise ValueError("no use for " + " or ".join(os.path.join(os.path.dirname(__file__), name) for name in names))

def complain_of_the_directory():
    raise ValueError(f"{os.path.dirname(__file__)} and {os.path.dirname(__file__)!r} are of no use")

class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 1, bias=False)

    def forward(self, x):
        return self.linear(x)

    def width(self):
        return self.linear.in_features

class Counter:
    count = 0

    def more(self, by=1):
        self.count += by
        return self.count
"""
X = torch.tensor([1.0, 2.0, 3.0])


@pytest.fixture(scope="module", params=KINDS)
def worker(request: pytest.FixtureRequest) -> Iterator[StudentProcess]:
    """One process of every kind of sandbox; afterwards this process is where it was."""
    place = os.getcwd()
    with sandbox(request.param) as opened, loaded(opened, SUBMISSION, RULES) as started:
        yield started
    assert os.getcwd() == place


class TestRequests:
    """Every kind of request gives the same reply at every level."""

    def test_plain(self, worker: StudentProcess) -> None:
        """A call with arguments by position and by name gives its value."""
        torch.testing.assert_close(value(worker, "double", X, kwargs={"times": 3}), X * 3)

    def test_nested_containers(self, worker: StudentProcess) -> None:
        """Containers in containers arrive as they are."""
        got = value(worker, "nested", X)
        assert list(got) == ["pair", 3, "many"]
        assert type(got["pair"]) is tuple
        torch.testing.assert_close(got["pair"][1][0], X + 1)
        assert got["pair"][1][1] is None
        assert got["many"] == [0, 1, 2]

    def test_changed_inputs(self, worker: StudentProcess) -> None:
        """A call that changes an input is seen, and one that does not is not."""
        assert ask(worker, "spoil", X).changed == ["argument 1"]
        assert ask(worker, "double", X).changed == []

    def test_objects(self, worker: StudentProcess) -> None:
        """An object stays where it is; its handle can be called, and so can its methods."""
        handle = value(worker, "Counter")
        assert type(handle) is Handle
        assert (handle.cls, handle.is_module) == ("Counter", False)
        assert value(worker, handle, method="more") == 1
        assert value(worker, handle, method="more", kwargs={"by": 2}) == 3
        with pytest.raises(StudentFailure, match="`less` is not defined"):
            value(worker, handle, method="less")

    def test_modules(self, worker: StudentProcess) -> None:
        """A module takes weights, gives them back, and is called with them."""
        handle = value(worker, "Layer", 3)
        assert handle.is_module
        weights = {"linear.weight": torch.tensor([[1.0, 0.0, 2.0]], dtype=torch.float64)}
        back = value(worker, handle, "state_dict", weights, how="weights")
        torch.testing.assert_close(back, weights)
        assert value(worker, handle, X.double()).item() == 7.0
        assert value(worker, handle, method="width") == 3

    def test_gradients(self, worker: StudentProcess) -> None:
        """Gradients of <cotangent, value> for inputs and parameters; None where none arrives."""
        handle = value(worker, "Layer", 3)
        done = ask(worker, handle, X, how="vjp", cotangent=torch.tensor([2.0]))
        torch.testing.assert_close(done.parameters["linear.weight"], 2 * X[None])
        done = ask(worker, "two", X, kwargs={"k": torch.tensor(3.0)}, how="vjp", cotangent=(X, None, None))
        torch.testing.assert_close(done.args, [3 * X])
        torch.testing.assert_close(done.kwargs["k"], (X * X).sum())
        assert ask(worker, "two", X, 2, how="vjp", cotangent=(None, None, None)).args == [None, None]

    def test_operations(self, worker: StudentProcess) -> None:
        """The operations that a call makes are counted by name."""
        assert ask(worker, "double", X, how="count_ops").ops == {"aten.mul.Tensor": 1}

    def test_other_device(self, worker: StudentProcess) -> None:
        """What is on the device of the input is described; the rest keeps its numbers."""
        got = ask(worker, "nested", X, how="on_meta").value
        assert got["pair"][0] == Meta("float32", (3,))

    @pytest.mark.parametrize(
        ("name", "category", "fact"),
        [
            ("fails", "error", "raised IndexError"),
            ("generator", "type", "returned a generator"),
            ("shortcut", "forbidden", "uses a function that is not allowed here"),
            ("absent", "error", "`absent` is not defined"),
        ],
    )
    def test_failures(self, name: str, category: str, fact: str, worker: StudentProcess) -> None:
        """Whatever keeps a call from answering has the same name everywhere, and the process lives on."""
        with pytest.raises(StudentFailure, match=fact) as caught:
            value(worker, name, X)
        assert caught.value.category == category
        assert worker.alive

    def test_own_lines(self, worker: StudentProcess) -> None:
        """An exception comes with the student's own file and line, and nothing of ours."""
        with pytest.raises(StudentFailure) as caught:
            value(worker, "fails", X)
        raised = caught.value.raised
        assert raised is not None
        assert [(frame.file, frame.line, frame.text) for frame in raised.frames] == [(FILE, 13, "return y[100]")]

    def test_of_many_own_lines_the_innermost(self, worker: StudentProcess) -> None:
        """After many calls the line that raised is still among those that are told, and last."""
        with pytest.raises(StudentFailure) as caught:
            value(worker, "deeper", 30)
        raised = caught.value.raised
        assert raised is not None
        assert [frame.text for frame in raised.frames] == ["return deeper(depth - 1)"] * 7 + ["return [][0]"]

    @pytest.mark.parametrize(
        ("target", "names", "message"),
        [
            ("complain", ["hw.py"], "no use for hw.py"),
            ("complain", ["data/x.csv", "y"], "no use for data/x.csv or y"),
            ("complain_of_the_directory", [], ". and '.' are of no use"),
        ],
    )
    def test_messages_name_no_random_directory(
        self, target: str, names: list[str], message: str, worker: StudentProcess
    ) -> None:
        """The directory has another name in every run. A student reads the same message in all of them."""
        with pytest.raises(StudentFailure) as caught:
            value(worker, target, *names)
        raised = caught.value.raised
        assert raised is not None
        assert raised.message == message

    def test_wrong_arguments(self, worker: StudentProcess) -> None:
        """A function that does not take what the handout names says what it takes."""
        with pytest.raises(StudentFailure, match="does not take the arguments") as caught:
            value(worker, "double")
        assert "it is defined as (x, times=2)" in caught.value.detail

    def test_place(self, worker: StudentProcess) -> None:
        """The code runs in a directory of its own, beside its file."""
        assert value(worker, "where") == (True, [FILE])

    def test_what_cannot_be_sent(self, worker: StudentProcess) -> None:
        """A test that passes what cannot be sent is told so, and nobody else is to blame."""
        with pytest.raises(GraderFault, match="a set cannot be sent"):
            value(worker, "double", {1})


FORGE = """
import os, time
from softmark.sandbox import wire

def forge(number, message, raw):
    frame = raw if raw is not None else wire.pack({"id": number, **message})
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, frame)
        except OSError:
            pass
    time.sleep(60)

def closes():
    os.closerange(3, 64)
    time.sleep(60)

def says(what):
    print(what, end="")
    os.write(2, b"to stderr")

def tells(what):
    os.write(1, what)
    os.kill(os.getpid(), 15)

def kept():
    import gc
    return gc.isenabled()
"""
TENSOR = torch.ones(2)
FORGED: dict[str, tuple[str, dict[str, Any]]] = {
    "a text": ("plain", {"done": "full marks"}),
    "nothing": ("plain", {}),
    "no value": ("plain", {"done": {}}),
    "no list of changes": ("plain", {"done": {"value": 1}}),
    "changes that are no names": ("plain", {"done": {"value": 1, "changed": {1: TENSOR}}}),
    "another number": ("plain", {"id": 77, "done": {"value": 1, "changed": []}}),
    "a number that is a tensor": ("plain", {"id": TENSOR, "done": {"value": 1, "changed": []}}),
    "walls that fell": ("plain", {"failed": "walls", "detail": "landlock"}),
    "an unknown failure": ("plain", {"failed": "victory", "detail": ""}),
    "a failure without its text": ("plain", {"failed": "error"}),
    "a failure that is no word": ("plain", {"failed": TENSOR, "detail": ""}),
    "an error without exception": ("plain", {"failed": "error", "detail": ""}),
    "an exception that is a text": ("plain", {"failed": "memory", "detail": "", "raised": "x"}),
    "gradients of another number": ("vjp", {"done": {"value": 1, "args": [], "kwargs": {}, "parameters": {}}}),
    "gradients that are texts": (
        "vjp",
        {"done": {"value": 1, "args": ["x", "y", "z"], "kwargs": {}, "parameters": {}}},
    ),
    "gradients of no names": (
        "vjp",
        {"done": {"value": 1, "args": [None, None, None], "kwargs": {"q": None}, "parameters": {}}},
    ),
    "parameters that are numbers": (
        "vjp",
        {"done": {"value": 1, "args": [None, None, None], "kwargs": {}, "parameters": {"w": 1.0}}},
    ),
    "operations that are texts": ("count_ops", {"done": {"value": 1, "ops": {"mul": "few"}}}),
    "fewer than no operations": ("count_ops", {"done": {"value": 1, "ops": {"mul": -5}}}),
    "a list of operations": ("count_ops", {"done": {"value": 1, "ops": ["mul"]}}),
    "a tensor beyond measure": ("on_meta", {"done": {"value": [Meta("float32", (2**62, 2**62))]}}),
}
RAW = {
    "a frame beyond measure": (2**62).to_bytes(8, "little") + b"x",
    "an empty frame": bytes(8),
    "random bytes": bytes(range(256)) * 4,
    "half a frame": wire.pack({"id": 2, "done": {"value": 1, "changed": []}})[:-3] + b"\xff\xff\xff",
}


@pytest.fixture(scope="module")
def walled() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


class TestForgedReplies:
    """A worker whose code writes on the wire itself."""

    @pytest.mark.parametrize(("how", "message"), FORGED.values(), ids=FORGED)
    def test_is_the_students_failure(self, how: str, message: dict[str, Any], walled: Sandbox) -> None:
        """A reply that breaks the form costs this test; it never looks like a fault of the grader's."""
        with loaded(walled, FORGE) as worker:
            with pytest.raises(StudentFailure, match="interfered with its own process") as caught:
                ask(worker, "forge", 2, {"id": 2, **message}, None, how=how)
            assert caught.value.category == "crash"

    @pytest.mark.parametrize("raw", RAW.values(), ids=RAW)
    def test_bytes_that_are_no_frame(self, raw: bytes, walled: Sandbox) -> None:
        """What is no frame ends the worker, whatever it announces."""
        with loaded(walled, FORGE) as worker:
            with pytest.raises(StudentFailure, match="interfered with its own process"):
                ask(worker, "forge", 2, {}, raw)
            assert not worker.alive

    def test_closing_the_wire(self, walled: Sandbox) -> None:
        """Code that closes the wire and lives on is not waited for."""
        with loaded(walled, FORGE) as worker:
            with pytest.raises(StudentFailure, match="interfered with its own process"):
                ask(worker, "closes")
            assert not worker.alive

    def test_a_well_formed_forgery_is_an_answer(self, walled: Sandbox) -> None:
        """A forged value is the student's answer, as any other value would be: there is no verdict to forge."""
        with loaded(walled, FORGE) as worker:
            assert ask(worker, "forge", 2, {"done": {"value": 42, "changed": []}}, None).value == 42


def dies(exchange: Any) -> bytes:
    raise failure_texts.death(0)


class TestWhatIsPrinted:
    """What staff and students read of the output."""

    @pytest.mark.parametrize("kind", ["walled", "process", "spawned"])
    def test_names_files_as_they_were_handed_in(self, kind: str) -> None:
        """A warning tells the file and the line, without the directory of this run."""
        source = "import warnings\n\ndef one():\n    warnings.warn('odd')\n    print(__file__)\n"
        with sandbox(kind) as opened, loaded(opened, source) as worker:
            ask(worker, "one")
            printed = "".join(worker.printed())
        assert "\nhw.py:4: UserWarning: odd" in f"\n{printed}"
        assert f"{FILE}\n" in printed
        assert "scratch" not in printed


class TestForkedWorker:
    """One process behind walls."""

    def test_streams_are_kept_apart(self, walled: Sandbox) -> None:
        """What is printed before an answer arrives with it, stdout and stderr each."""
        with loaded(walled, FORGE) as worker:
            ask(worker, "says", "to stdout")
            assert worker.printed() == ("to stdout", "to stderr")

    def test_last_words_are_heard(self, walled: Sandbox) -> None:
        """Of a process that dies, the beginning and the end of what it printed remain."""
        with loaded(walled, FORGE, limits=replace(SHORT, output_bytes=4)) as worker:
            with pytest.raises(StudentFailure, match="was ended by signal 15"):
                ask(worker, "tells", b"HEAD" + b"." * 50_000 + b"TAIL")
            assert worker.printed()[0] == "HEAD\n… 50000 bytes omitted …\nTAIL"

    def test_every_signal_is_told(self, walled: Sandbox) -> None:
        """A process may end itself by any signal there is: each has a sentence."""
        ignored = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
        stops = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
        handled = {signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ}  # by Python; SIGINT is an exception
        of_glibc = {32, 33}  # for its threads: a process that ever had a second one does not end by 33
        for number in sorted({*range(1, 65)} - ignored - stops - handled - of_glibc):
            source = f"import os\nos.kill(os.getpid(), {number})\n"
            with pytest.raises(StudentFailure) as failed, loaded(walled, source):
                pytest.fail(f"signal {number} does not end it while it is loaded")
            assert failed.value.category in ("crash", "memory"), number
            assert failed.value.fact

    def test_inherits_no_signals(self) -> None:
        """A process ends by signals that softmark's launcher ignores or has blocked."""
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        try:
            own = Zygote.spawn(environment(gettempdir()))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            signal.signal(signal.SIGHUP, before)
        try:
            for number in (signal.SIGHUP, signal.SIGUSR1):
                source = f"import os\nos.kill(os.getpid(), {number})\n"
                place = ForkedSandbox(own, STRONGEST)
                with pytest.raises(StudentFailure, match="was ended by signal"), loaded(place, source):
                    pytest.fail(f"signal {number} does not end it while it is loaded")
        finally:
            own.close()

    def test_a_large_input_arrives_at_once(self, walled: Sandbox) -> None:
        """An input of many megabytes is sent as fast as it is read, and not on the clock of a test."""
        with loaded(walled, "def last(x):\n    return x[-1]\n") as worker:
            assert value(worker, "last", torch.arange(4_000_000.0)).item() == 3_999_999

    def test_garbage_is_collected(self, walled: Sandbox) -> None:
        """Python collects cycles as it does at home, or honest code would run out of memory."""
        with loaded(walled, FORGE) as worker:
            assert value(worker, "kept") is True

    def test_closing_twice_tells_the_same(self, walled: Sandbox) -> None:
        """The end of a worker is told once and for all, and a request after it is the grader's own mistake."""
        with loaded(walled, FORGE) as worker:
            ended = worker.close()
            assert worker.close() == ended
            assert not worker.alive
            with pytest.raises(GraderFault, match="a student process that has ended"):
                ask(worker, "kept")

    def test_walls_that_fail_are_the_graders_fault(self, walled: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of a worker that could not be walled in, nothing is left, and no student is to blame."""
        before = len(os.listdir("/proc/self/fd"))
        monkeypatch.setattr(ScratchRoot, "make", lambda *_: Path("/does/not/exist"))
        monkeypatch.setattr(scratch, "remove", lambda _: None)
        with pytest.raises(GraderFault, match="could not be walled in: place"):
            walled.open({}, SHORT)
        assert len(os.listdir("/proc/self/fd")) == before
        assert descendants(zygote().pid) == []

    def test_a_death_before_the_submission_is_loaded(self, walled: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
        """A process that ends before any code of the student's ran is the grader's fault."""
        monkeypatch.setattr(process._Exchange, "run", dies)
        with pytest.raises(GraderFault, match="exit status 0"):
            walled.open({}, SHORT)
        assert descendants(zygote().pid) == []

    def test_no_descriptor_is_left(self, walled: Sandbox) -> None:
        """A worker that was started and ended leaves the trusted side as many descriptors as before."""
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            with loaded(walled, FORGE) as worker:
                value(worker, "kept")
        assert len(os.listdir("/proc/self/fd")) == before

    def test_what_one_left_is_not_the_next_ones(self, walled: Sandbox) -> None:
        """A child that was left behind is counted for the worker that left it, and for no other."""
        twin = "import os\ndef twin():\n    os.fork()\n    return 1\ndef idle():\n    return 1\n"
        left = []
        for name in ("twin", "idle"):
            with loaded(walled, twin) as worker:
                value(worker, name)
                ended = worker.close()
                assert ended is not None
                left.append((ended.leftovers, ended.clean))
        assert left == [(1, True), (0, True)]


class TestSpawnedWorker:
    """One process that was started as a program, without walls."""

    def test_a_child_left_behind_holds_up_nobody(self) -> None:
        """A process that holds the output pipe open is ended with the worker that started it."""
        daemon = "import os, time\ndef leave():\n    if os.fork() == 0:\n        time.sleep(60)\n    return 1\n"
        with sandbox("spawned") as opened, loaded(opened, daemon) as worker:
            assert value(worker, "leave") == 1
            ended = worker.close()
            assert ended is not None
            assert ended.clean

    def test_closing_the_wire(self) -> None:
        """Code that closes the wire and lives on is not waited for."""
        with sandbox("spawned") as opened, loaded(opened, FORGE) as worker:
            with pytest.raises(StudentFailure, match="interfered with its own process"):
                ask(worker, "closes")
            assert not worker.alive
