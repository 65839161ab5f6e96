"""Ways around a rule about forbidden functions, through the real sandbox; and code that must not notice the rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

from softmark.course.homework import ForbiddenRule
from softmark.grading.session import StudentSession
from softmark.grading.submission_time import TimeLimits
from softmark.intake.model import SubmittedFiles
from softmark.records.limits import Limits
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.wire.protocol import Call
from tests.support.sandboxes import FILE, sandbox
from tests.support.sessions import HOMEWORK

RULES = (
    ForbiddenRule(
        (
            "torch.nn.functional.scaled_dot_product_attention",
            "torch.nn.functional.multi_head_attention_forward",
            "torch.nn.MultiheadAttention",
            "torch.nn.LSTM",
            "torch.lstm",
        ),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_*", "aten::lstm"),
        (),
        "write it with matmul",
    ),
    ForbiddenRule(("torch.autograd.grad", "torch._make_dual"), ("aten::_make_dual",), ("two",), "differentiate"),
    ForbiddenRule(("torch.nn.functional.gelu",), (), ("three",), "write it with erf"),
)
LIMITS = Limits(cpu_seconds=10, import_seconds=20, memory_mb=1500)
PRE = """
import threading, queue, torch
import torch.nn.functional as F
from torch import nn


def sdpa(q):
    return F.scaled_dot_product_attention(q, q, q)


def in_thread(f, q):
    found = []
    thread = threading.Thread(target=lambda: found.append(f(q)))
    thread.start()
    thread.join()
    return found[0]
"""
ATTENTION = {
    "thread": "def one(q): return in_thread(sdpa, q)",
    "pool that was made before": """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
pool.submit(len, "").result()
def one(q): return pool.submit(sdpa, q).result()
""",
    "thread that was left before": """
asked, answers = queue.Queue(), queue.Queue()
def serve():
    while True:
        try:
            answers.put(sdpa(asked.get()))
        except BaseException as error:
            answers.put(None)
threading.Thread(target=serve, daemon=True).start()
def one(q):
    asked.put(q)
    return answers.get()
""",
    "modes off": "def one(q):\n    with torch._C.DisableTorchFunction():\n        return sdpa(q)",
    "subclasses off": "def one(q):\n    with torch._C.DisableTorchFunctionSubclass():\n        return sdpa(q)",
    "mode taken off": """
def one(q):
    if torch._C._len_torch_function_stack():
        torch._C._pop_torch_function_stack()
    return sdpa(q)
""",
    "keys excluded": """
def one(q):
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)
    with torch._C._ExcludeDispatchKeyGuard(keys):
        return sdpa(q)
""",
    "inference": "def one(q):\n    with torch.inference_mode():\n        return sdpa(q.clone())",
    "inner function": "def one(q): return torch._C._nn.scaled_dot_product_attention(q, q, q)",
    "kept reference": "kept = torch._C._nn.scaled_dot_product_attention\ndef one(q): return kept(q, q, q)",
    "operator": "def one(q): return torch.ops.aten.scaled_dot_product_attention.default(q, q, q)",
    "decomposed": "def one(q): return torch.ops.aten.scaled_dot_product_attention.default.decompose(q, q, q)",
    "script": "@torch.jit.script\ndef one(q): return torch.nn.functional.scaled_dot_product_attention(q, q, q)",
    "script within": """
@torch.jit.script
def compiled(q): return torch.nn.functional.scaled_dot_product_attention(q, q, q)
def one(q): return compiled(q)
""",
    "operation of torch.jit": """
found = torch._C._jit_get_operation("aten::scaled_dot_product_attention")
def one(q): return found[0](q, q, q)
""",
    "autograd function": """
class Shortcut(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q): return sdpa(q)
    @staticmethod
    def backward(ctx, g): return g
def one(q): return Shortcut.apply(q)
""",
    "backward pass": """
class Shortcut(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q): return q.clone()
    @staticmethod
    def backward(ctx, g): return sdpa(g)
def one(q):
    q = q.clone().requires_grad_()
    Shortcut.apply(q).sum().backward()
    return q.grad
""",
    "vmap": "def one(q): return torch.func.vmap(sdpa)(q[None])[0]",
    "grad of func": "def one(q): return torch.func.grad(lambda q: sdpa(q).sum())(q)",
    "subclass of tensor": """
class Own(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs)
def one(q): return sdpa(q.as_subclass(Own)).as_subclass(torch.Tensor)
""",
    "swallowed": """
def one(q):
    try:
        return sdpa(q)
    except BaseException:
        return q
""",
    "swallowed in a thread": """
def one(q):
    try:
        return in_thread(sdpa, q)
    except BaseException:
        return q
""",
    "module that was made before": """
module = nn.MultiheadAttention(3, 1).double()
def one(q): return module(q, q, q)[0]
""",
    "module in a thread": "def one(q): return in_thread(lambda q: nn.MultiheadAttention(3, 1).double()(q, q, q)[0], q)",
    "its method": """
kept, module = nn.MultiheadAttention.forward, nn.MultiheadAttention(3, 1).double()
def one(q): return kept(module, q, q, q)[0]
""",
    "without its constructor": """
module = nn.MultiheadAttention(3, 1).double()
def one(q): return torch.func.functional_call(module, dict(module.named_parameters()), (q, q, q))[0]
""",
    "traced module": """
module = nn.MultiheadAttention(3, 1).double()
example = torch.ones(2, 5, 3, dtype=torch.float64)
traced = torch.jit.trace(module, (example, example, example))
def one(q): return traced(q, q, q)[0]
""",
    "function without modes": """
def one(q):
    m = made
    with torch._C.DisableTorchFunction():
        return F.multi_head_attention_forward(
            q, q, q, 3, 1, m.in_proj_weight, m.in_proj_bias, None, None, False, 0.0, m.out_proj.weight, m.out_proj.bias
        )[0]
made = nn.MultiheadAttention(3, 1).double()
""",
    "layer of PyTorch's": """
layer = nn.TransformerEncoderLayer(3, 1, 4).double().eval()
def one(q): return layer(q)
""",
    "lstm made before": "module = nn.LSTM(3, 3).double()\ndef one(q): return module(q)[0]",
    "lstm in a thread": """
module = nn.LSTM(3, 3).double()
state = torch.zeros(1, 5, 3, dtype=torch.float64)
def one(q):
    weights = module._flat_weights
    return in_thread(lambda q: torch._VF.lstm(q, (state, state), weights, True, 1, 0.0, False, False, False)[0], q)
""",
    "lstm from its parts": """
module = nn.LSTM(3, 3).double()
state = torch.zeros(1, 5, 3, dtype=torch.float64)
def one(q):
    args = q, (state, state), module._flat_weights, True, 1, 0.0, False, False, False
    return torch.ops.aten.lstm.input.decompose(*args)[0]
""",
    "lstm under vmap": """
module = nn.LSTM(3, 3).double()
def one(q): return torch.func.vmap(lambda q: module(q)[0])(q[None])[0]
""",
}
BACKWARD = {
    "grad": "def two(x): return torch.autograd.grad((x := x.clone().requires_grad_()).sum(), x)[0]",
    "kept": "kept = torch.autograd.grad\ndef two(x): return kept((x := x.clone().requires_grad_()).sum(), x)[0]",
    "thread": """
def gradient(x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(x.sum(), x)[0]
def two(x): return in_thread(gradient, x)
""",
    "engine": """
engine = torch.autograd.Variable._execution_engine
def two(x):
    x = x.clone().requires_grad_()
    return engine.run_backward((x.sum(),), (torch.ones((), dtype=x.dtype),), False, False, (x,), True, False)[0]
""",
    "forward mode": "def two(x): return in_thread(lambda x: torch.func.jvp(torch.sin, (x,), (x,))[1], x)",
    "jacobian": "def two(x): return torch.func.jacrev(torch.sin)(x)",
}
GELU = {
    "plain": ("def three(x): return F.gelu(x)", "gelu"),
    "kept": ("kept = torch._C._nn.gelu\ndef three(x): return kept(x)", "gelu"),
    "thread": ("def three(x): return in_thread(F.gelu, x)", "a thread"),
    "modes off": ("def three(x):\n    with torch._C.DisableTorchFunction():\n        return F.gelu(x)", "switches off"),
    "mode taken off": ("def three(x):\n    torch._C._pop_torch_function_stack()\n    return F.gelu(x)", "switches off"),
}
HONEST = {
    "by hand": "def one(q): return torch.softmax(q @ q.transpose(-1, -2), -1) @ q",
    "in a thread": "def one(q): return in_thread(lambda q: torch.softmax(q @ q.transpose(-1, -2), -1) @ q, q)",
    "with layers": """
layer = nn.Linear(3, 3).double()
def one(q): return torch.relu(nn.LayerNorm(3).double()(layer(q)))
""",
    "with its own gradients": """
def one(q):
    q = q.clone().requires_grad_()
    torch.softmax(q @ q.transpose(-1, -2), -1).sum().backward()
    return q.grad
""",
    "under vmap": "def one(q): return torch.func.vmap(lambda q: torch.softmax(q @ q.T, -1) @ q)(q)",
    "a self-check below": "def one(q): return 2 * q\nprint(sdpa(torch.ones(1, 2, 3)), nn.MultiheadAttention(4, 2))",
    "a class of that name": """
class LSTM(nn.Module):
    def forward(self, q): return q
def one(q): return LSTM()(q)
""",
}


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


def answer(place: Sandbox, source: str, target: str, how: str = "plain") -> Any:
    """What a submission answers to one call; the same twice, so that a refusal does not wear off."""
    homework = replace(HOMEWORK, forbidden=RULES)
    text = f"{PRE}\n\ndef two(x): return x\n\n\n{source}\n"
    session = StudentSession(place, SubmittedFiles(FILE, {FILE: text.encode()}), homework, TimeLimits(LIMITS))
    session.begin("1", "a test")
    x = torch.arange(30, dtype=torch.float64).reshape(2, 5, 3) / 30
    try:
        return session.call(Call(target, args=[x], how=how, cotangent=x)).value
    finally:
        session.close()


class TestRefused:
    """However a forbidden function is reached, using it is refused, and is called by its name."""

    @pytest.mark.parametrize("way", ATTENTION)
    def test_attention(self, way: str, place: Sandbox) -> None:
        with pytest.raises(StudentFailure) as failure:
            answer(place, ATTENTION[way], "one")
        assert failure.value.category == "forbidden", failure.value
        assert any(name in failure.value.staff for name in ("attention", "Attention", "lstm", "LSTM", "torch.jit"))

    @pytest.mark.parametrize("way", BACKWARD)
    def test_gradients(self, way: str, place: Sandbox) -> None:
        with pytest.raises(StudentFailure) as failure:
            answer(place, BACKWARD[way], "two")
        assert failure.value.category == "forbidden", failure.value

    @pytest.mark.parametrize("way", GELU)
    def test_function_of_c_without_its_operator(self, way: str, place: Sandbox) -> None:
        with pytest.raises(StudentFailure) as failure:
            answer(place, GELU[way][0], "three")
        assert failure.value.category == "forbidden", failure.value

    def test_child_process(self, place: Sandbox) -> None:
        """A fork is under the same rules, and a new program cannot be started."""
        forked = """
import os
def one(q):
    end, write = os.pipe()
    if os.fork() == 0:
        try:
            os.write(write, str(sdpa(q).sum().item()).encode())
        finally:
            os._exit(0)
    os.close(write)
    return float(os.read(end, 100) or b"nan")
"""
        assert answer(place, forked, "one") != answer(place, forked, "one")  # NaN: the child had no answer
        program = (
            "import subprocess, sys\ndef one(q): return subprocess.check_output([sys.executable, '-c', 'print(1)'])"
        )
        with pytest.raises(StudentFailure, match="PermissionError"):
            answer(place, program, "one")


class TestAllowed:
    """What is not forbidden works as ever."""

    @pytest.mark.parametrize("code", HONEST)
    def test_honest_code(self, code: str, place: Sandbox) -> None:
        assert answer(place, HONEST[code], "one").shape == (2, 5, 3)

    def test_other_functions(self, place: Sandbox) -> None:
        """A rule for some functions forbids nothing in others."""
        source = "def one(q): return F.gelu(torch.autograd.grad((p := q.clone().requires_grad_()).sum(), p)[0])"
        assert answer(place, source, "one").shape == (2, 5, 3)

    @pytest.mark.parametrize("how", ["vjp", "count_ops", "on_meta"])
    def test_every_way_to_ask(self, how: str, place: Sandbox) -> None:
        assert answer(place, HONEST["by hand"], "one", how).shape == (2, 5, 3)

    @pytest.mark.parametrize("how", ["vjp", "count_ops", "on_meta"])
    def test_every_way_to_ask_refuses(self, how: str, place: Sandbox) -> None:
        with pytest.raises(StudentFailure) as failure:
            answer(place, "def one(q): return sdpa(q)", "one", how)
        assert failure.value.category == "forbidden"
