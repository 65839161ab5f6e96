"""Stand-ins for earlier functions and classes: whatever holds them asks, and what they answer is the reference's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import torch

from softmark.course.homework import Homework
from softmark.grading.answering import Answering
from softmark.grading.session import StudentSession
from softmark.grading.student import Student
from softmark.grading.submission_time import TimeLimits
from softmark.intake.model import SubmittedFiles
from softmark.records.verdict import Category, Failed
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.student_process import packed
from softmark.sandbox.wire.protocol import Ask, Call, Object
from softmark.verdict import lend
from tests.support.sandboxes import SHORT, sandbox
from tests.support.sessions import HOMEWORK, session

REFERENCE = """
import torch
from torch import nn

def one(x, by=2.0, *, plus=0.0):
    if x.dim() == 0:
        raise ValueError("no axes")
    return by * x.sin() + plus

def pair(p, n):
    return p["a"] * n, (p["b"], n)

def table(n, d):
    return torch.arange(n * d, dtype=torch.float64).reshape(n, d)

class Layer(nn.Module):
    def __init__(self, d, scale=1.0):
        super().__init__()
        self.inner = nn.Linear(d, d)
        self.gain = nn.Parameter(torch.ones(d))
        self.register_buffer("scale", torch.tensor(scale))
        self.d = d
    def forward(self, x, twice=False):
        y = self.inner(x) * self.gain * self.scale
        return 2 * y if twice else y
    def norm(self, x):
        return (self.gain * x).sum(-1)

def two(x):
    return one(x) + 1

def quarters(p, n):
    (a, (b, _)) = pair(p, n)
    return a + b

def shifted(n, d):
    return table(n, d) + 1

class Stack(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.layers = nn.ModuleList([Layer(d) for _ in range(n)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def applied(step, x):
    return step(one(x))

def slope(x):
    leaf = x.detach().requires_grad_()
    return torch.autograd.grad(one(leaf).sum(), leaf)[0]
"""
EARLIER = ("one", "pair", "table", "Layer")
X = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3)


def reference() -> ModuleType:
    module = ModuleType("reference_of_stand_ins")
    exec(compile(REFERENCE, "reference.py", "exec"), vars(module))
    for thing in vars(module).values():
        if getattr(thing, "__module__", None) == "builtins" and callable(thing):
            thing.__module__ = module.__name__
    return module


REF = reference()


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@contextmanager
def with_stand_ins(place: Sandbox, source: str, names: tuple[str, ...] = EARLIER) -> Iterator[Any]:
    """The student's module whose earlier functions are stand-ins."""
    with session(place, source) as begun, begun.stand_ins(Answering(REF, names)):
        begun.begin("2", "a test")
        yield Student(begun)


def assert_two_is_right(place: Sandbox, handed: SubmittedFiles, homework: Homework = HOMEWORK) -> None:
    """Assert that the second part of these files is right with stand-ins for the first."""
    begun = StudentSession(place, handed, homework, TimeLimits(SHORT))
    try:
        with begun.stand_ins(Answering(REF, EARLIER)):
            begun.begin("2", "a test")
            assert same(Student(begun).two(X), REF.two(X))
    finally:
        begun.close()


def same(got: Any, want: Any) -> bool:
    return type(got) is type(want) and torch.allclose(got, want)


WRONG = "import torch\nfrom torch import nn\ndef one(x, by=2.0, *, plus=0.0):\n    raise RuntimeError('broken')\n"
HOLDERS = {
    "global": "def two(x):\n    return one(x) + 1\n",
    "alias": "s = one\ndef two(x):\n    return s(x) + 1\n",
    "default": "def two(x, f=one):\n    return f(x) + 1\n",
    "keyword_default": "def two(x, *, f=one):\n    return f(x) + 1\n",
    "partial": "from functools import partial\nhalf = partial(one, by=2.0)\ndef two(x):\n    return half(x) + 1\n",
    "table": "PARTS = {'one': [one]}\ndef two(x):\n    return PARTS['one'][0](x) + 1\n",
    "tuple": "PARTS = (one,)\ndef two(x):\n    return PARTS[0](x) + 1\n",
    "closure": "def made(f):\n    return lambda x: f(x) + 1\ntwo = made(one)\n",
    "class_attribute": "class Parts:\n    f = staticmethod(one)\ndef two(x):\n    return Parts.f(x) + 1\n",
    "method": "class Parts:\n    f = one\ndef two(x):\n    return Parts.f(x) + 1\n",
    "attribute": "class Two:\n    def __init__(self):\n        self.attend = one\n    def __call__(self, x):\n"
    "        return self.attend(x) + 1\ntwo = Two()\n",
    "own_keywords": "def two(x):\n    return one(x=x, by=2.0) + 1\n",
    "through_map": "def two(x):\n    return next(map(one, [x])) + 1\n",
    "thread": "from threading import Thread\ndef two(x):\n    kept = []\n"
    "    t = Thread(target=lambda: kept.append(one(x)))\n    t.start()\n    t.join()\n    return kept[0] + 1\n",
}


@pytest.mark.parametrize("name", HOLDERS)
def test_whoever_holds_a_function(place: Sandbox, name: str) -> None:
    with with_stand_ins(place, WRONG + HOLDERS[name]) as student:
        assert same(student.two(X), REF.two(X))


FORMS = {
    "lambda": "one = lambda x: x[99]\n",
    "partial": "from functools import partial\ndef broken(x):\n    return x[99]\none = partial(broken)\n",
    "object": "class One:\n    def __call__(self, x):\n        return x[99]\none = One()\n",
    "cached": "from functools import cache\n@cache\ndef one(x):\n    return x[99]\n",
    "wrapped": "import torch\n@torch.no_grad()\ndef one(x):\n    return x[99]\n",
    "closed": "def made(k):\n    def one(x):\n        return x[99] + k\n    return one\none = made(3)\n",
    "module": "from torch import nn\none = nn.Softmax(dim=-1)\n",
    "generator": "def one(x):\n    yield x\n",
    "missing": "",
    "no_function": "one = 3\n",
    "nothing": "one = None\n",
    "library": "import torch\none = torch.sin\n",
    "library_in_python": "import torch.nn.functional as F\none = F.softmax\nkept = one\n",
    "positional_only": "def one(x, /):\n    return x[99]\n",
    "hanging": "def one(x):\n    while True: pass\n",
}
USES = (
    "def two(x):\n    return one(x) + 1\n",
    "def helper(x):\n    return one(x)\ndef two(x):\n    return helper(x) + 1\n",
)


@pytest.mark.parametrize("name", FORMS)
def test_whatever_the_function_is(place: Sandbox, name: str) -> None:
    for uses in USES:
        with with_stand_ins(place, FORMS[name] + uses) as student:
            assert same(student.two(X), REF.two(X))


@pytest.mark.parametrize("form", ["module", "object", "cached"])
@pytest.mark.parametrize("holder", ["alias", "default", "table", "closure", "attribute", "partial"])
def test_objects_that_cannot_change_are_exchanged(place: Sandbox, form: str, holder: str) -> None:
    with with_stand_ins(place, FORMS[form] + HOLDERS[holder]) as student:
        assert same(student.two(X), REF.two(X))


@pytest.mark.parametrize("kind", ["walled", "spawned"])
def test_a_library_stays_as_it_is(kind: str) -> None:
    source = "import torch.nn.functional as F\none = F.softmax\ndef two(x):\n    return F.softmax(x, dim=-1)\n"
    with sandbox(kind) as place, with_stand_ins(place, source + "def shifted(x):\n    return one(x)\n") as student:
        assert same(student.two(X), X.softmax(-1))
        assert same(student.shifted(X), REF.one(X))


def test_renamed_arguments_and_own_defaults(place: Sandbox) -> None:
    renamed = "def one(values, factor=2.0):\n    return 0\ndef two(x):\n    return one(factor=3.0, values=x)\n"
    with with_stand_ins(place, renamed) as student:
        assert same(student.two(X), REF.one(X, 3.0))
    own = "def pair(p, n=3):\n    return 0\ndef quarters(p, n):\n    a, (b, _) = pair(p)\n    return a + b\n"
    p = {"a": X, "b": 2 * X}
    with with_stand_ins(place, own) as student:
        assert same(student.quarters(p, 3), REF.quarters(p, 3))


def test_in_another_file(place: Sandbox) -> None:
    files = {
        "hw.py": WRONG + "import later\nfrom later import two, three\n",
        "later.py": "from hw import one as s\nimport hw\ndef two(x):\n    return s(x) + 1\n"
        "def three(x):\n    return hw.one(x) + 1\n",
    }
    assert_two_is_right(place, SubmittedFiles("hw.py", {name: text.encode() for name, text in files.items()}))


def test_gradients(place: Sandbox) -> None:
    source = "def two(x):\n    return one(x) + 1\ndef quarters(p, n):\n    a, (b, _) = pair(p, n)\n    return a + b\n"
    with with_stand_ins(place, source) as student:
        got = student.vjp("two", [X], torch.ones_like(X))
        assert same(got.args[0], 2 * X.cos())
        student.two(X)  # plain calls go on working afterwards


def test_gradients_through_a_dictionary(place: Sandbox) -> None:
    source = "import torch\ndef quarters(a, b):\n    x, (y, _) = pair({'a': a, 'b': b}, 3)\n    return x + y\n"
    source += "def slope(x):\n    return quarters(x, x)\n"
    with with_stand_ins(place, source) as student:
        got = student.vjp("slope", [X], torch.ones_like(X))
        assert same(got.args[0], torch.full_like(X, 4.0))


SUBCLASS = "class Own(Layer):\n    pass\n"
CLASSES = {
    "right_kind": "class Layer(nn.Module):\n    def __init__(self, d, scale=1.0):\n        super().__init__()\n"
    "        self.w = nn.Parameter(torch.zeros(d))\n    def forward(self, x):\n        raise RuntimeError('broken')\n"
    "    def state_dict(self, *a, **k):\n        return {}\n    def __call__(self, x):\n        return x\n",
    "no_module": "class Layer:\n    def __init__(self, d):\n        self.d = d\n",
    "function": "def Layer(d):\n    return None\n",
    "missing": "",
    "library": "Layer = nn.Linear\n",
    "none_made": "class Layer(nn.Module):\n    def __init__(self, d):\n        raise RuntimeError('broken')\n",
}
STACK = (
    "class Stack(nn.Module):\n    def __init__(self, d, n):\n        super().__init__()\n"
    "        self.layers = nn.ModuleList([Layer(d) for _ in range(n)])\n"
    "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"
)


@pytest.mark.parametrize("name", CLASSES)
def test_classes(place: Sandbox, name: str) -> None:
    want = REF.Stack(3, 2).double()
    with with_stand_ins(place, "import torch\nfrom torch import nn\n" + CLASSES[name] + STACK) as student:
        stack = student.Stack(3, 2)
        assert {k: v.shape for k, v in stack.state_dict().items()} == {k: v.shape for k, v in want.state_dict().items()}
        assert list(stack.parameters()) == [name for name, _ in want.named_parameters()]
        stack.load_state_dict(want.state_dict())
        assert same(stack.eval()(X), want(X).detach())
        got = stack.vjp((X,), {}, torch.ones_like(X))
    x = X.clone().requires_grad_()
    want(x).sum().backward()
    assert same(got.args[0], x.grad)
    for key, parameter in want.named_parameters():
        assert same(got.parameters[key], parameter.grad)


def test_ways_with_a_class(place: Sandbox) -> None:
    source = "import torch, copy\nfrom torch import nn\n" + CLASSES["right_kind"]
    source += (
        "class Own(Layer):\n    def forward(self, x):\n"
        "        return super().forward(x, twice=True) + self.norm(x)[:, None]\n"
        "class Stack(nn.Module):\n    kind = Own\n    def __init__(self, d, n):\n        super().__init__()\n"
        "        self.first = self.kind(d)\n        self.second = copy.deepcopy(self.first)\n"
        "    def forward(self, x):\n        assert isinstance(self.first, Layer) and self.first.training\n"
        "        return self.second.double()(x)\n"
    )
    with with_stand_ins(place, source) as student:
        stack = student.Stack(3, 2)
        state = {key: value.double() for key, value in stack.state_dict().items()}
        layer = REF.Layer(3).double()
        layer.load_state_dict({key.removeprefix("second."): v for key, v in state.items() if key.startswith("second")})
        assert same(stack(X), (layer(X, twice=True) + layer.norm(X)[:, None]).detach())


def test_counts_as_one_operation(place: Sandbox) -> None:
    with with_stand_ins(place, "def two(x):\n    return one(x) + 1\n") as student:
        assert student.count_ops("two", [X]).total == 2


def test_another_device(place: Sandbox) -> None:
    source = "import torch\ndef two(x):\n    return one(x) + torch.ones(2, 1, device=x.device)\n"
    source += "def slope(x):\n    return one(x) + torch.ones(2, 1)\ndef shifted(n, d):\n    return table(n, d) + 1\n"
    with with_stand_ins(place, source) as student:
        assert student.on_meta("two", [X]).device.type == "meta"
        with pytest.raises(Failed):
            student.on_meta("slope", [X])
        assert same(student.shifted(2, 3), REF.shifted(2, 3))


def test_a_class_on_another_device(place: Sandbox) -> None:
    with with_stand_ins(place, "import torch\nfrom torch import nn\n" + STACK) as student:
        stack = student.Stack(3, 2)
        stack.load_state_dict({key: value.double() for key, value in stack.state_dict().items()})
        assert stack.on_meta((X,), {}).device.type == "meta"
        assert same(stack(X), stack(X))


@pytest.mark.parametrize("whole", [False, True])
def test_in_a_notebook(place: Sandbox, whole: bool) -> None:
    cells = {"cell 1": "def one(x):\n    return x[99]\nkept = one\n", "cell 2": "def two(x):\n    return kept(x) + 1\n"}
    homework = replace(HOMEWORK, whole_notebook=whole)
    handed = SubmittedFiles("hw.ipynb", {name: text.encode() for name, text in cells.items()}, cells=tuple(cells))
    assert_two_is_right(place, handed, homework)


def test_an_exception_of_the_reference_comes_through(place: Sandbox) -> None:
    source = "def two(x):\n    try:\n        one(x[0, 0])\n    except ValueError as error:\n        return str(error)\n"
    with with_stand_ins(place, source) as student:
        assert student.two(X) == "one cannot be called like this with tensors of the shapes ()"


HOSTILE = {
    "no_stand_in": "stand_ins.ask(Ask('two', [x], {}))",
    "an_attribute_of_the_reference": "stand_ins.ask(Ask('__builtins__', [x], {}))",
    "a_later_part": "stand_ins.ask(Ask('Stack', [3, 2], {}))",
    "too_often": "[one(x) for _ in range(5)]",
    "too_large": "one(torch.zeros(2, 3000))",
    "large_sizes": "table(10**6, 10**6)",
    "a_large_size_in_a_tensor": "table(torch.tensor(10**9), 1)",
    "a_large_class": "Layer(10**6)",
    "gradients_of_a_plain_call": "torch.autograd.grad(one(leaf).sum(), leaf)",
    "a_gradient": "stand_ins.ask(Ask('one', [x.clone().requires_grad_()], {}, '', None, [x]))",
    "cotangents_of_another_form": "stand_ins.ask(Ask('one', [x], {}, '', None, 7))",
    "another_number": "write({'id': 5, 'ask': {'name': 'one', 'args': [x], 'kwargs': {}}})",
    "a_list_for_arguments": "write({'id': number(), 'ask': {'name': 'one', 'args': x, 'kwargs': {}}})",
    "a_field_more": "write({'id': number(), 'ask': {'name': 'one', 'args': [x], 'kwargs': {}, 'part': 2}})",
    "an_object_of_no_class": "write({'id': number(), 'ask': {'name': 'Layer', 'args': [x], 'kwargs': {}, 'of': x}})",
}
DIRECT = """
import gc, torch, os
from softmark.sandbox import wire
from softmark.sandbox.worker.stand_ins import StandIns
from softmark.sandbox.wire.protocol import Ask, Object
def found():
    return next(thing for thing in gc.get_objects() if type(thing) is StandIns)
def number():
    return found()._exchange.__self__.present
def write(value):
    os.write(found()._exchange.__self__._wire[1], wire.pack(value))
def two(x):
    stand_ins, leaf = found(), x.clone().requires_grad_()
    try:
        return ACT
    except BaseException as error:
        return one(x) + 1
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_what_may_not_be_asked(place: Sandbox, name: str) -> None:
    """The call fails, the worker ends, and the next call is answered by a fresh one."""
    with with_stand_ins(place, DIRECT.replace("ACT", HOSTILE[name])) as student:
        with pytest.raises(Failed) as refused:
            student.two(X)
        assert refused.value.verdict.category is Category.CRASH


def test_a_gradient_is_answered_where_the_reference_needs_one(place: Sandbox) -> None:
    source = "import torch\ndef slope(x):\n    leaf = x.clone().requires_grad_()\n"
    source += "    return torch.autograd.grad(one(leaf).sum(), leaf)[0]\ntwo = slope\n"
    with with_stand_ins(place, source) as student:
        assert same(student.slope(X), REF.slope(X))
        with pytest.raises(Failed):
            student.two(X)  # the reference's `two` differentiates nothing


def test_objects_of_another_form_are_refused() -> None:
    answering = Answering(REF, EARLIER)
    stack = Call("Stack", None, [3, 2], id=1)
    answering.expect(stack, {}, packed(stack))
    layer = REF.Layer(3)
    state = {key: tensor.detach() for key, tensor in layer.state_dict().items()}
    for of, method in (
        (Object([3], {}, {**state, "gain": torch.ones(2)}, True), "forward"),
        (Object([3], {}, {}, True), "forward"),
        (Object([3], {}, state, True), "__class__"),
        (Object([3], {}, state, True), "load_state_dict"),
    ):
        assert answering.answer(Ask("Layer", [X.float()], {}, method, of), 1).raised == "TypeError"


def test_random_numbers_of_the_test_stay_as_they_are(place: Sandbox) -> None:
    with with_stand_ins(place, "import torch\nfrom torch import nn\n" + STACK) as student:
        torch.manual_seed(3)
        expected = torch.rand(2)
        torch.manual_seed(3)
        student.Stack(3, 2)
        assert torch.equal(torch.rand(2), expected)


def test_names_of_functions() -> None:
    answering = Answering(REF, ("one", "Layer", "absent"))
    one, layer = answering.stand_ins
    assert (one.name, one.takes, one.needs, one.methods) == ("one", ("x", "by"), 1, ())
    assert (layer.name, layer.takes, layer.needs, layer.methods) == ("Layer", ("d", "scale"), 1, ("forward", "norm"))


LENT = """import torch
def one(x):
    return x
def search(step, start, *, n=3):
    x = start
    for _ in range(n):
        x = step(x)
    return x
def caught(step, x):
    try:
        return step(x, 1, 2)
    except TypeError:
        return x
def kept(step, x):
    global again
    again = step
    return step(x)
def later(x):
    return again(x)
"""


class TestLend:
    """Functions that a test passes to the student's."""

    @pytest.mark.parametrize("kind", ["walled", "spawned", "bare", "own"])
    def test_are_called_from_every_kind_of_process(self, kind: str) -> None:
        """Values, gradients, keywords, and another device; what the test's function closes over stays there."""
        factor = torch.tensor(2.0, dtype=torch.float64)
        with sandbox(kind) as place, session(place, LENT) as begun:
            student = Student(begun)
            step = lend(lambda x: factor * x + 1, calls=3)
            assert same(student.search(step, X), 8 * X + 7)
            assert same(student.search(start=X, step=step, n=1), 2 * X + 1)
            got = student.vjp("search", [step, X], torch.ones_like(X))
            assert same(got.args[1], torch.full_like(X, 8.0))
            assert student.on_meta("search", [step, X]).device.type == "meta"
            assert student.count_ops("search", [step, X]).total == 3

    def test_are_called_so_often_at_most(self, place: Sandbox) -> None:
        """One call more is the student's failure, and the next call has all of its calls again."""
        with session(place, LENT) as begun:
            student, step = Student(begun), lend(lambda x: x + 1, calls=3)
            with pytest.raises(Failed, match="calls the function that it is given too often: 3 calls must be enough"):
                student.search(step, X, n=4)
            assert same(student.search(step, X), X + 3)

    def test_raise_what_is_built_in(self, place: Sandbox) -> None:
        """The student's code sees an exception, and none of its words."""
        with session(place, LENT) as begun:
            assert same(Student(begun).caught(lend(lambda x: x, calls=1), X), X)

    def test_are_lent_for_one_call(self, place: Sandbox) -> None:
        """A function that was kept cannot be called in another call."""
        with session(place, LENT) as begun:
            student = Student(begun)
            assert same(student.kept(lend(lambda x: x + 1, calls=9), X), X + 1)
            with pytest.raises(Failed):
                student.later(X)

    def test_beside_stand_ins(self, place: Sandbox) -> None:
        """The reference is given the same functions, to know what it asks of earlier parts."""
        with with_stand_ins(place, WRONG + "def applied(step, x):\n    return step(one(x))\n") as student:
            assert same(student.applied(lend(lambda x: x + 1, calls=1), X), REF.applied(lambda x: x + 1, X))
