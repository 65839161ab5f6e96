"""Turns the failure of a student's process into one clear sentence. It runs on the trusted side, and its input is not
trusted.

A sentence (`fact`) consists of our words and of names on our lists only. An exception's message goes into `detail`,
because it may repeat the hidden inputs that the code was given. All other text from a worker is for staff.

The worker says in its own words why a value cannot be sent (wire/values.py, wire/packer.py). The first of these words
choose a sentence here, and none of them is repeated.
"""

from __future__ import annotations

import builtins
import re
import signal

from softmark.records.verdict import Category, Code
from softmark.sandbox.failures import GraderFault, StudentFailure
from softmark.sandbox.wire import Raised
from softmark.sandbox.wire.protocol import Call, FailedReply, Request
from softmark.sandbox.wire.values import MAX_ITEMS

_KNOWN_CLASSES = {
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
} | {
    "Skipped",
    "XFailed",
    "SkipTest",
    "BdbQuit",
    "CancelledError",
    "LinAlgError",
    "OutOfMemoryError",
    "AxisError",
    *("CalledProcessError", "TimeoutExpired", "HTTPError", "URLError", "gaierror", "JSONDecodeError"),
    *("BackendCompilerFailed", "InductorError", "TorchRuntimeError", "Unsupported", "PicklingError"),
    *("UnpicklingError", "BrokenProcessPool", "ProcessExitedException", "ProcessRaisedException"),
}

NOT_AS_NAMED = "it does not take the arguments that the handout names"

_PLAIN_WORDS = {
    "NotImplementedError": "not implemented yet",
    "SystemExit": "it tried to end the program (sys.exit, exit or quit) instead of returning an answer",
    "KeyboardInterrupt": "raised KeyboardInterrupt instead of returning an answer",
    "RecursionError": "recursion too deep: it calls itself without an end",
    "BdbQuit": "a debugger call (breakpoint or pdb.set_trace) was left in the code",
    "ObjectLost": "the process that held this object has ended, and the object with it",
    "SignatureMismatch": NOT_AS_NAMED,
    "CannotFollow": "does what the pretended device cannot follow",
}

_CODES = {
    "NotImplementedError": Code.NOT_WRITTEN,
    "RecursionError": Code.ENDLESS_RECURSION,
    "SignatureMismatch": Code.WRONG_ARGUMENTS,
}

_ANSWERED = re.compile(r"(cpu|meta|cuda:\d), expected (meta|cuda:\d)")
_OF_DEVICES = (
    (
        re.compile(
            r"tensors (?:to be on|are not at) the same device.*?\b(cpu|meta|cuda:\d)\b.*?\b(cpu|meta|cuda:\d)\b"
        ),
        "uses tensors on {} and {} together: create new ones with device=x.device",
    ),
    (
        re.compile(r"can't convert (meta|cuda:\d) device type tensor to numpy"),
        "makes a numpy array of a tensor on {}: use torch's functions instead",
    ),
    (
        re.compile(r"Expected a '(cpu|meta|cuda)' device type for generator but found '(cpu|meta|cuda)'"),
        "draws random numbers on {} with a generator of {}: create it with torch.Generator(device=x.device)",
    ),
    (
        re.compile(r"indices should be either on (cpu|meta|cuda:\d) or on the same device as the indexed tensor"),
        "indexes a tensor on {} with one on another device: create it with device=x.device",
    ),
    (
        re.compile(r"'lengths' argument should be a 1D CPU int64 tensor, but got .*?\b(meta|cuda:\d)\b"),
        "gives pack_padded_sequence lengths on {}, where it takes them on the CPU: write lengths.cpu()",
    ),
    (re.compile(r"is only implemented on CPU tensors"), "uses what works on the CPU only: use torch's functions"),
    (re.compile(r"CUDA|NVIDIA"), "asks for a GPU, and there is none here: create tensors on the device of the input"),
)
"""Exceptions that torch raises because of a tensor's device, and what to tell of them."""

_OF_DTYPE = re.compile(r"\"\w+\" not implemented for '\w+'", re.ASCII)

_BY_SIGNAL = {
    "SIGSEGV": "crashed with a segmentation fault (it touched memory that is not its own)",
    "SIGBUS": "crashed with a bus error (it touched memory that does not exist)",
    "SIGABRT": "was aborted by a failed check inside a C or C++ library",
    "SIGFPE": "crashed with an arithmetic error in compiled code",
    "SIGILL": "crashed on an instruction that this processor does not have",
    "SIGXFSZ": "wrote a larger file than is allowed",
    "SIGXCPU": "used all the processor time it was given",
    "SIGSYS": "made a system call that is not allowed here",
}
_SIGNALS = {getattr(signal, name): said for name, said in _BY_SIGNAL.items() if hasattr(signal, name)}
_SIGKILL = 9
_ACCESS_VIOLATION = 0xC0000005
"""The exit code of a program that Windows ended because it touched memory that is not its own."""


def class_name(raised: Raised) -> str:
    """Return the name of an exception's class if it is on our list, because a student's class may have any name."""
    return raised.cls if raised.cls in _KNOWN_CLASSES else "an exception class of its own"


def known_class(raised: Raised) -> str:
    """Return the name of the nearest built-in class of an exception, if it says something; else `class_name`."""
    tells = raised.base in _KNOWN_CLASSES and raised.base not in ("Exception", "BaseException")
    return raised.base if tells else class_name(raised)


def failed_reply(reply: FailedReply, request: Request | None) -> StudentFailure:
    """Return the failure that a worker reports about a request."""
    detail, raised = reply.detail, reply.raised
    match reply.failed:
        case "walls":
            raise GraderFault(f"a student process could not be walled in: {detail}")
        case "missing":
            fact = f"`{_asked_for(request)}` is not defined in the file"
            return StudentFailure(Category.ERROR, fact, code=Code.NOT_DEFINED)
        case "type":
            return StudentFailure(Category.TYPE, no_plain_value(detail), staff=detail, code=Code.NOT_PLAIN)
        case "device" if _ANSWERED.fullmatch(detail):
            return StudentFailure(Category.DEVICE, f"returned a tensor on {detail}: create it with device=x.device")
        case "forbidden":
            fact = "uses a function that is not allowed here"  # only the homework's own list may say which one
            return StudentFailure(Category.FORBIDDEN, fact, "", raised, staff=detail)
        case "memory":
            fact = "needed more memory than it is allowed"
            return StudentFailure(Category.MEMORY, fact, message_of(raised, ""), raised)
        case "error" if raised is not None:
            return from_exception(raised)
    return malformed("a failure without its parts")


def _asked_for(request: Request | None) -> str:
    """Return the name that a call is about. The name that the worker gives is not repeated."""
    target = (request.method or request.target) if isinstance(request, Call) else ""
    return target if isinstance(target, str) else ""


def malformed(what: str) -> StudentFailure:
    """Return the failure of a process whose reply has no valid form."""
    return StudentFailure(
        Category.CRASH,
        "the code interfered with its own process: no proper answer came back",
        staff=f"malformed reply: {what}",
    )


def from_exception(raised: Raised) -> StudentFailure:
    """Return the failure of code that raised this exception."""
    of_device = _of_device(raised)
    if _OF_DTYPE.fullmatch(raised.message):  # torch's NotImplementedError is about a dtype, not about homework
        return StudentFailure(Category.ERROR, named_only(raised), raised.message, raised, code=Code.EXCEPTION)
    fact = _PLAIN_WORDS.get(raised.cls) or _cause(raised) or of_device or named_only(raised)
    detail = "" if raised.cls == "NotImplementedError" else message_of(raised, fact)
    code = _CODES.get(raised.cls, Code.WRONG_DEVICE if of_device else Code.EXCEPTION)
    return StudentFailure(Category.ERROR, fact, detail, raised, code=code)


def named_only(raised: Raised) -> str:
    """Return the sentence about an exception if nothing but its class is known."""
    return f"raised {class_name(raised)}"


def _cause(raised: Raised) -> str | None:
    """Return the well-known cause behind a general exception, if it has one."""
    message = raised.message
    if raised.cls == "RuntimeError" and "leaf Variable that requires grad" in message:
        return "changes a parameter in place, which autograd does not allow: compute a new tensor instead"
    if raised.cls == "RuntimeError" and ("modified by an inplace" in message or "modified inplace" in message):
        return "changes a tensor in place that the gradient still needs: compute a new tensor instead"
    if raised.cls in ("ModuleNotFoundError", "ImportError"):
        return "imports something that is not available here"
    if raised.cls in ("PermissionError", "OSError", "URLError", "gaierror") and (
        "urlopen" in message or "Errno 13" in message or "Errno 1]" in message
    ):
        return f"raised {class_name(raised)}: the network and files outside the working directory are not available"
    return None


def _of_device(raised: Raised) -> str | None:
    """Return the cause of an exception that torch raises because of a tensor's device."""
    if raised.cls not in ("RuntimeError", "TypeError", "AssertionError", "AcceleratorError"):
        return None
    found = ((text, known.search(raised.message)) for known, text in _OF_DEVICES)
    return next((text.format(*match.groups()) for text, match in found if match), None)


def message_of(raised: Raised | None, fact: str) -> str:
    """Return the message of an exception, preceded by its class unless the fact names it."""
    if raised is None:
        return ""
    if raised.cls in _PLAIN_WORDS or class_name(raised) in fact:
        return raised.message
    return f"{class_name(raised)}: {raised.message}"


def _killed(for_memory: bool | None) -> StudentFailure:
    """Return the failure of a process that ended by SIGKILL. The kernel sends it for want of memory; code can, too."""
    if for_memory:
        return StudentFailure(Category.MEMORY, "was killed by the system, most likely for using too much memory")
    if for_memory is None:
        return StudentFailure(
            Category.CRASH, "was killed: by the system for using too much memory, or by a call of os.kill"
        )
    return StudentFailure(
        Category.CRASH, "was killed, and not for its memory: does your code call os.kill? Delete that call"
    )


def death(status: int, for_memory: bool | None = None) -> StudentFailure:
    """Return the failure of a process that ended before it answered, from the status that wait() gave.

    `for_memory` says whether the kernel has killed a process for want of memory; None if the kernel does not tell. Some
    signals have no name in Python, such as 40. They have a sentence, too.
    """
    number = status & 0x7F  # the higher bits are one for a core dump, and the exit status
    if number == 0:
        code = status >> 8
        if code == _ACCESS_VIOLATION:
            return StudentFailure(Category.CRASH, f"the code {_BY_SIGNAL['SIGSEGV']}")
        return StudentFailure(
            Category.CRASH, f"the code ended the process (exit status {code}) before returning an answer"
        )
    if number == _SIGKILL:
        return _killed(for_memory)
    return StudentFailure(Category.CRASH, f"the code {_SIGNALS.get(number, f'was ended by signal {number}')}")


def out_of_time(limit: float, left: float, cpu: float | None, wall: float, *, printing: bool = False) -> StudentFailure:
    """Return the failure of a call that took too long.

    `left` is the part of the limit that earlier calls of the same test have left. `cpu` is None if processor time is
    not measured. `printing` is True if the call printed more than could be read.
    """
    if cpu is None:
        return StudentFailure(Category.TIMEOUT, f"no answer within {wall:.0f} s")
    if cpu >= left:
        return StudentFailure(Category.TIMEOUT, f"no answer within {limit:g} s of computing time")
    waiting = cpu < 0.1 * wall
    how = f"{cpu:.1f} s of them computing"
    if waiting:
        how = f"the program was {'printing without end' if printing else 'waiting'}, not computing"
    return StudentFailure(Category.TIMEOUT, f"no answer within {wall:.0f} s; {how}")


def too_large(what: str, most: str) -> StudentFailure:
    """Return the failure of an answer that is far larger than the expected one."""
    return StudentFailure(Category.TYPE, f"returned {what}, far more than is expected here (at most {most})")


def out_of_memory(allowed_mb: int, used_bytes: int) -> StudentFailure:
    return StudentFailure(
        Category.MEMORY,
        f"needed more than {allowed_mb} MB of memory ({used_bytes / 1e6:.0f} MB when it was stopped)",
    )


def out_of_disk(allowed_mb: int) -> StudentFailure:
    return StudentFailure(Category.ERROR, f"wrote more than {allowed_mb} MB of files (or far too many of them)")


_LIST, _RESULT = "return a list", "return its result"
_PLAIN = "return numbers, lists, arrays or tensors"
_KINDS = (  # the worker's first words, the name of the kind, what to return instead
    *((kind, kind, _LIST) for kind in ("a generator", "an iterator", "a set", "a frozenset", "a range")),
    ("a view of a dict", "a view of a dict", _LIST),
    *((kind, kind, "define the function without async") for kind in ("an async generator", "a coroutine")),
    *((kind, kind, _RESULT) for kind in ("a function", "a built-in function", "a method")),
    *((kind, kind, "return bytes") for kind in ("a bytearray", "a memoryview")),
    ("a Python module", "a Python module", _PLAIN),
    ("a class", "a class", "return an object of it, or a value"),
    ("a nested tensor", "a nested tensor", "return a list of tensors"),
    ("a quantised tensor", "a quantised tensor", "return an ordinary tensor"),
    ("a sparse tensor", "a sparse tensor", "return a dense one, as .to_dense() gives it"),
    (
        "a tensor on the meta device",
        "a tensor on the meta device, which has no values",
        "create it with device=x.device",
    ),
    ("a tensor of dtype", "a tensor of a dtype that is not used here", "convert it to torch.float32"),
    ("a tensor whose values", "a tensor whose values cannot be read", "return an ordinary tensor"),
    ("an array of", "an array of something else than numbers", "return an array of numbers"),
    ("a value nested too deeply", "a value nested too deeply", "return a tensor, or a list of tensors"),
    ("an int of more than", "an int of thousands of digits", "return a number of ordinary size"),
    ("a str with a lone surrogate", "a str with half a character in it", "return a str of whole characters"),
    (
        "a dict with a key of",
        "a dict with a key that is neither str, int or bytes nor a tuple of texts or bytes",
        "use str, int or bytes as keys, or tuples of texts or bytes",
    ),
    (
        f"more than {MAX_ITEMS} items",
        f"more than {MAX_ITEMS:,} items in lists and dicts",
        "return an array or a tensor",
    ),
    ("more than", "more than can be compared", "return numbers, arrays or tensors"),
)


def no_plain_value(detail: str) -> str:
    """Return the sentence for the student about a value that the worker could not send. `detail` is its reason."""
    kind, instead = _called(detail)
    contains = "a value that contains " if re.search(r"\((?:item|key) [^()]*\)$", detail) else ""
    return f"returned {contains}{kind}, not a plain value that can be compared: {instead}"


def _called(own: str) -> tuple[str, str]:
    if "a subclass of" in own:
        base = "torch.Tensor" if "Tensor" in own.partition("a subclass of")[2] else "another type"
        return f"an instance of a subclass of {base}", "return the plain type"
    if "is too large" in own:
        return "far too many elements", "check the shape of what you create"
    known = ((kind, instead) for beginning, kind, instead in _KINDS if own.startswith(beginning))
    return next(known, ("an instance of a class of its own", _PLAIN))
