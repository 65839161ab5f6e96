"""What happened to a student's process, in one sentence that cannot hold a hidden input."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from softmark.sandbox import failure_texts
from softmark.sandbox.failures import GraderFault
from softmark.sandbox.wire import Raised
from softmark.sandbox.wire.protocol import Call, FailedReply

SECRET = "3.14159"
CALL = Call("f")


def reply(failed: Any, detail: str = "", raised: Raised | None = None) -> FailedReply:
    return FailedReply(1, failed, detail, raised)


class TestDeath:
    """The end of a process that did not answer."""

    @pytest.mark.parametrize(
        ("number", "words"),
        [
            (signal.SIGSEGV, "segmentation fault"),
            (signal.SIGABRT, "aborted by a failed check"),
            (signal.SIGFPE, "arithmetic error"),
            (signal.SIGILL, "an instruction that this processor does not have"),
            (signal.SIGBUS, "bus error"),
            (signal.SIGXFSZ, "a larger file than is allowed"),
            (signal.SIGSYS, "a system call that is not allowed"),
            (signal.SIGUSR1, "was ended by signal 10"),
        ],
    )
    def test_names_the_signal_in_words(self, number: int, words: str) -> None:
        """A crash says what kind of crash it was."""
        failure = failure_texts.death(number)
        assert failure.category == "crash"
        assert words in failure.fact

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
            ("a leaf Variable that requires grad is being used in an in-place operation.", "changes a parameter in"),
            (
                "one of the variables needed for gradient computation has been modified by an inplace operation",
                "changes in place a tensor that the gradient still needs",
            ),
        ],
    )
    def test_changes_in_place(self, message: str, words: str) -> None:
        raised = Raised(cls="RuntimeError", message=message, frames=())
        assert words in failure_texts.failed_reply(reply("error", message, raised), CALL).fact


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
        assert "8.0 s of them computing" in failure_texts.out_of_time(10.0, 10.0, 8.0, 32.0).fact


class TestFailedReply:
    """What a worker reports."""

    @pytest.mark.parametrize(
        ("raised", "fact"),
        [
            (Raised("NotImplementedError", "part 3"), "not implemented yet"),
            (Raised("IndexError", SECRET), "raised IndexError"),
            (Raised("RecursionError", SECRET), "recursion too deep: it calls itself without an end"),
            (Raised("PASSED", SECRET), "raised an exception class of its own"),
            (Raised("E" + SECRET, SECRET), "raised an exception class of its own"),
            (Raised("ExceptionGroup", SECRET), "raised ExceptionGroup"),
            (Raised("GeneratorExit", SECRET), "raised GeneratorExit"),
            (Raised("Skipped", SECRET), "raised Skipped"),
            (Raised("BdbQuit", ""), "a debugger call (breakpoint or pdb.set_trace) was left in the code"),
            (Raised("ModuleNotFoundError", SECRET), "imports something that is not available here"),
            (Raised("RuntimeError", f"No CUDA GPUs are available {SECRET}"), "asks for a GPU, and there is none here"),
            (Raised("PermissionError", f"[Errno 13] {SECRET}"), "outside the working directory are not available"),
        ],
        ids=lambda value: value.cls if isinstance(value, Raised) else "",
    )
    def test_an_exception_is_named_if_it_is_known(self, raised: Raised, fact: str) -> None:
        """The fact is in our words; the message, which may repeat hidden inputs, is in the detail."""
        failure = failure_texts.failed_reply(reply("error", raised=raised), CALL)
        assert fact in failure.fact
        assert SECRET not in failure.fact
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
