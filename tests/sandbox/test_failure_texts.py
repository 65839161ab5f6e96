"""What happened to a student's process, in one sentence that cannot hold a hidden input."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from softmark.records.verdict import Code
from softmark.sandbox import failure_texts
from softmark.sandbox.failures import GraderFault
from softmark.sandbox.wire import Raised
from softmark.sandbox.wire.protocol import Call, FailedReply

SECRET = "3.14159"
CALL = Call("f")
NO_NETWORK = "the network and files outside the working directory are not available"
NO_ACCESS = (
    ("PermissionError", "[Errno 13]"),
    ("PermissionError", "[Errno 1]"),
    ("OSError", "[Errno 13]"),
    ("URLError", "<urlopen error"),
    ("gaierror", "[Errno 1]"),
)


def reply(failed: Any, detail: str = "", raised: Raised | None = None) -> FailedReply:
    return FailedReply(1, failed, detail, raised)


class TestDeath:
    """The end of a process that did not answer."""

    @pytest.mark.parametrize(
        ("number", "words"),
        [
            (signal.SIGSEGV, "crashed with a segmentation fault (it touched memory that is not its own)"),
            (signal.SIGABRT, "was aborted by a failed check inside a C or C++ library"),
            (signal.SIGFPE, "crashed with an arithmetic error in compiled code"),
            (signal.SIGILL, "crashed on an instruction that this processor does not have"),
            (signal.SIGBUS, "crashed with a bus error (it touched memory that does not exist)"),
            (signal.SIGXFSZ, "wrote a larger file than is allowed"),
            (signal.SIGXCPU, "used all the processor time it was given"),
            (signal.SIGSYS, "made a system call that is not allowed here"),
            (signal.SIGUSR1, "was ended by signal 10"),
        ],
    )
    def test_names_the_signal_in_words(self, number: int, words: str) -> None:
        """A crash says what kind of crash it was."""
        failure = failure_texts.death(number)
        assert failure.category == "crash"
        assert failure.fact == f"the code {words}"

    @pytest.mark.parametrize(
        ("for_memory", "category", "fact"),
        [
            (True, "memory", "was killed by the system, most likely for using too much memory"),
            (False, "crash", "was killed, and not for its memory: does your code call os.kill? Delete that call"),
            (None, "crash", "was killed: by the system for using too much memory, or by a call of os.kill"),
        ],
    )
    def test_a_kill_is_put_down_to_memory_only_if_the_kernel_says_so(
        self, for_memory: bool | None, category: str, fact: str
    ) -> None:
        """SIGKILL comes from the kernel's memory killer, or from the code itself."""
        failure = failure_texts.death(signal.SIGKILL, for_memory)
        assert (failure.category, failure.fact) == (category, fact)

    def test_every_status_has_a_sentence(self) -> None:
        """All that wait() can give: every exit status, every signal with and without a core, stopped and continued."""
        for status in (*range(2**16), 0xC0000005 << 8):  # the last is what a crash gives on another system
            failure = failure_texts.death(status)
            assert failure.category in ("crash", "memory")
            assert failure.fact
        assert "ended by signal 40" in failure_texts.death(40).fact
        assert "ended by signal 40" in failure_texts.death(40 | 0x80).fact

    @pytest.mark.parametrize("code", [0, 1, 77])
    def test_an_exit_is_no_answer(self, code: int) -> None:
        """A process that ends itself has not answered, whatever its status."""
        failure = failure_texts.death(code << 8)
        assert failure.category == "crash"
        assert f"ended the process (exit status {code}) before returning an answer" in failure.fact


class TestRaised:
    """PyTorch's words for a change in place are put into ours."""

    @pytest.mark.parametrize(
        ("message", "words"),
        [
            (
                "a leaf Variable that requires grad is being used in an in-place operation.",
                "changes a parameter in place, which autograd does not allow: compute a new tensor instead",
            ),
            (
                "one of the variables needed for gradient computation has been modified by an inplace operation",
                "changes a tensor in place that the gradient still needs: compute a new tensor instead",
            ),
            (
                "a view was created and its base or another view of its base has been modified inplace",
                "changes a tensor in place that the gradient still needs: compute a new tensor instead",
            ),
        ],
    )
    def test_changes_in_place(self, message: str, words: str) -> None:
        """Only an exception of the class that PyTorch raises is taken for it."""
        for cls, fact in (("RuntimeError", words), ("ValueError", "raised ValueError")):
            raised = Raised(cls=cls, message=message, frames=())
            assert failure_texts.failed_reply(reply("error", message, raised), CALL).fact == fact


class TestDevices:
    """PyTorch's words for tensors on different devices."""

    @pytest.mark.parametrize(
        ("cls", "message", "fact"),
        [
            (
                "RuntimeError",
                "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
                "uses tensors on cuda:0 and cpu together: create new ones with device=x.device",
            ),
            (
                "TypeError",
                "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.",
                "makes a numpy array of a tensor on cuda:0: use torch's functions instead",
            ),
            (
                "RuntimeError",
                "Expected a 'cuda' device type for generator but found 'cpu'",
                "draws random numbers on cuda with a generator of cpu: create it with torch.Generator(device=x.device)",
            ),
            (
                "RuntimeError",
                "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
                "indexes a tensor on cpu with one on another device: create it with device=x.device",
            ),
            (
                "RuntimeError",
                "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
                "gives pack_padded_sequence lengths on cuda:0, where it takes them on the CPU: write lengths.cpu()",
            ),
            (
                "RuntimeError",
                "histc is only implemented on CPU tensors",
                "uses what works on the CPU only: use torch's functions",
            ),
            (
                "AssertionError",
                "Torch not compiled with CUDA enabled",
                "asks for a GPU, and there is none here: create tensors on the device of the input",
            ),
            (
                "AcceleratorError",
                "Found no NVIDIA driver on your system",
                "asks for a GPU, and there is none here: create tensors on the device of the input",
            ),
        ],
    )
    def test_are_named_with_what_to_write(self, cls: str, message: str, fact: str) -> None:
        """A student reads which devices met, and how to create the tensor."""
        failure = failure_texts.from_exception(Raised(cls, message))
        assert (failure.fact, failure.code) == (fact, Code.WRONG_DEVICE)
        other = failure_texts.from_exception(Raised("ValueError", message))
        assert (other.fact, other.code) == ("raised ValueError", Code.EXCEPTION)

    def test_of_an_answer(self) -> None:
        """An answer on the wrong device says on which it is, and on which it should be."""
        failure = failure_texts.failed_reply(reply("device", "cpu, expected cuda:0"), CALL)
        assert failure.fact == "returned a tensor on cpu, expected cuda:0: create it with device=x.device"
        assert failure.category == "device"


class TestOutOfTime:
    """Three ways to need too long."""

    def test_computing(self) -> None:
        """The limit that is named is the test's, however little of it was left for this call."""
        failure = failure_texts.out_of_time(10.0, 0.3, 0.4, 0.5)
        assert failure.fact == "no answer within 10 s of computing time"

    def test_waiting(self) -> None:
        """A program that sleeps is told that it did not compute."""
        failure = failure_texts.out_of_time(10.0, 10.0, 0.1, 32.0)
        assert failure.fact == "no answer within 32 s; the program was waiting, not computing"

    def test_something_of_both(self) -> None:
        """On a busy machine the share of computing is said."""
        for cpu, said in ((8.0, "8.0 s of them computing"), (3.2, "3.2 s of them computing")):
            assert failure_texts.out_of_time(10.0, 10.0, cpu, 32.0).fact == f"no answer within 32 s; {said}"

    def test_printing(self) -> None:
        """A program that waits for its prints to be read is told that it prints too much."""
        failure = failure_texts.out_of_time(10.0, 10.0, 0.1, 32.0, printing=True)
        assert failure.fact == "no answer within 32 s; the program was printing without end, not computing"

    def test_just_all_of_its_time(self) -> None:
        """Who has used what was left has used it all."""
        assert failure_texts.out_of_time(2.5, 0.5, 0.5, 9.0).fact == "no answer within 2.5 s of computing time"


class TestTooMuch:
    """What an answer may not need more of."""

    def test_names_the_limit_and_what_was_used(self) -> None:
        """Memory, disk and size each say what is allowed."""
        memory, disk = failure_texts.out_of_memory(400, 512_600_000), failure_texts.out_of_disk(60)
        large = failure_texts.too_large("a list of 5,000 values", "12 values")
        assert memory.fact == "needed more than 400 MB of memory (513 MB when it was stopped)"
        assert disk.fact == "wrote more than 60 MB of files (or far too many of them)"
        assert large.fact == "returned a list of 5,000 values, far more than is expected here (at most 12 values)"
        assert [failure.category for failure in (memory, disk, large)] == ["memory", "error", "type"]


class TestFailedReply:
    """What a worker reports."""

    @pytest.mark.parametrize(
        ("raised", "fact"),
        [
            (Raised("NotImplementedError", "part 3"), "not implemented yet"),
            (
                Raised("SystemExit", "3"),
                "it tried to end the program (sys.exit, exit or quit) instead of returning an answer",
            ),
            (Raised("KeyboardInterrupt", ""), "raised KeyboardInterrupt instead of returning an answer"),
            (Raised("ObjectLost", ""), "the process that held this object has ended, and the object with it"),
            (Raised("SignatureMismatch", SECRET), "it does not take the arguments that the handout names"),
            (Raised("CannotFollow", SECRET), "does what the pretended device cannot follow"),
            (Raised("IndexError", SECRET), "raised IndexError"),
            (Raised("RecursionError", SECRET), "recursion too deep: it calls itself without an end"),
            (Raised("PASSED", SECRET), "raised an exception class of its own"),
            (Raised("E" + SECRET, SECRET), "raised an exception class of its own"),
            (Raised("ExceptionGroup", SECRET), "raised ExceptionGroup"),
            (Raised("GeneratorExit", SECRET), "raised GeneratorExit"),
            (Raised("Skipped", SECRET), "raised Skipped"),
            (Raised("BdbQuit", ""), "a debugger call (breakpoint or pdb.set_trace) was left in the code"),
            (Raised("ModuleNotFoundError", SECRET), "imports something that is not available here"),
            (Raised("ImportError", SECRET), "imports something that is not available here"),
            *((Raised(cls, f"{message} {SECRET}"), f"raised {cls}: {NO_NETWORK}") for cls, message in NO_ACCESS),
            (Raised("OSError", f"[Errno 2] {SECRET}"), "raised OSError"),
            (Raised("ValueError", f"[Errno 13] {SECRET}"), "raised ValueError"),
        ],
        ids=lambda value: value.cls if isinstance(value, Raised) else "",
    )
    def test_an_exception_is_named_if_it_is_known(self, raised: Raised, fact: str) -> None:
        """The fact is in our words; the message, which may repeat hidden inputs, is in the detail."""
        failure = failure_texts.failed_reply(reply("error", raised=raised), CALL)
        assert failure.fact == fact
        assert failure.category == "error"
        assert failure.raised == raised

    @pytest.mark.parametrize(
        ("raised", "detail"),
        [
            (Raised("SyntaxError", "unmatched ')'"), "unmatched ')'"),
            (Raised("PASSED", SECRET), SECRET),
            (Raised("PermissionError", "[Errno 13] x"), "[Errno 13] x"),
            (Raised("ModuleNotFoundError", "No module named 'x'"), "ModuleNotFoundError: No module named 'x'"),
        ],
        ids=lambda value: value.cls if isinstance(value, Raised) else "",
    )
    def test_a_class_is_said_once(self, raised: Raised, detail: str) -> None:
        """Fact and detail stand side by side: what the one names the other need not."""
        assert failure_texts.failed_reply(reply("error", raised=raised), CALL).detail == detail

    def test_a_stub_has_no_detail(self) -> None:
        """What a starter's own message says is no news to anybody."""
        assert (
            failure_texts.failed_reply(reply("error", raised=Raised("NotImplementedError", "part 3")), CALL).detail
            == ""
        )

    def test_what_is_missing_is_what_was_asked_for(self) -> None:
        """The name comes from the test, not from the worker."""
        failure = failure_texts.failed_reply(reply("missing", SECRET), Call("scores"))
        assert failure.fact == "`scores` is not defined in the file"

    @pytest.mark.parametrize(
        ("detail", "kind"),
        [
            ("a generator cannot be sent; return a list", "returned a generator"),
            ("a set cannot be sent; return a list", "returned a set"),
            ("Magic, a subclass of torch.Tensor, cannot be sent", "an instance of a subclass of torch.Tensor"),
            ("Magic, a subclass of float, cannot be sent", "an instance of a subclass of another type"),
            ("an object of class Equal cannot be sent", "an instance of a class of its own"),
            ("a tensor of shape (1000000000000,) is too large", "far too many elements"),
            (f"C{SECRET}, a subclass of {SECRET}", "an instance of a subclass of another type"),
        ],
    )
    def test_what_cannot_be_compared_is_named_by_kind(self, detail: str, kind: str) -> None:
        """The kind of thing is one on our list, whatever the worker calls it."""
        failure = failure_texts.failed_reply(reply("type", detail), CALL)
        assert kind in failure.fact
        assert SECRET not in failure.fact
        assert failure.category == "type"

    def test_memory_is_its_own_category(self) -> None:
        """An allocation that was refused is told apart from an error."""
        failure = failure_texts.failed_reply(reply("memory", raised=Raised("MemoryError", SECRET)), CALL)
        assert failure.category == "memory"
        assert SECRET not in failure.fact

    def test_walls_that_do_not_stand_are_the_graders_fault(self) -> None:
        """No student loses marks because a process could not be walled in."""
        with pytest.raises(GraderFault, match="could not be walled in: landlock: no"):
            failure_texts.failed_reply(reply("walls", "landlock: no"), None)

    @pytest.mark.parametrize("failed", [reply("error"), reply("device", SECRET)], ids=["error", "device"])
    def test_what_our_worker_does_not_say_is_interference(self, failed: FailedReply) -> None:
        """An error without an exception, and a device that is none, were not reported by our worker."""
        failure = failure_texts.failed_reply(failed, CALL)
        assert failure.category == "crash"
        assert "interfered with its own process" in failure.fact
