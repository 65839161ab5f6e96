"""What a hidden test holds in its hands: the student's functions and objects, and their failures as verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from softmark import Failed, agree, raises, works_on_meta
from softmark.grading.session import StudentSession
from softmark.grading.student import Student
from softmark.intake.model import SubmittedFiles
from softmark.records.verdict import Code
from softmark.verdict import Category, TestContext, Verdict, activate
from tests.support.sandboxes import FILE, sandbox
from tests.support.sessions import session

SUBMISSION = """
import os
import torch
from torch import nn


def one(x, scale=1.0, *, shift=0.0):
    return x * scale + shift


def nested(data):
    return {"first": data["x"][0], "rest": [data["x"][1:], (data, None)]}


def fails(x):
    return helper(x)


def helper(x):
    raise ValueError(f"secret {x.tolist()}")


class Own(ValueError):
    pass


def fails_in_its_own_way(x):
    raise type(f"E{int(x.sum())}", (Own,), {})()


class TooWide(ValueError):
    pass


def fails_as_asked(x):
    raise TooWide(x)


def stub(x):
    raise NotImplementedError("part 1")


def spoils(x, y=None):
    x.zero_()
    if y is not None:
        y["list"].append(1)
    return x


def doubles_in_place(x):
    x *= 2
    return x


def looks(x, y):
    return x.sum() * 0 + (y if isinstance(y, float) else 0)


def pair(x, y):
    return x * y, x.sum(), {"mask": x > 0}


def same(x, others):
    if others["again"][0] is x:
        x.neg()
    return [other is x for other in others["again"]]


def detached(x):
    return x.detach() * 2


def loop(x):
    return sum(row.sum() for row in x)


def fixed(x):
    return x + torch.ones(3)


def in_many_ways(x):
    table = nn.Embedding.from_pretrained(nn.Parameter(x).detach())
    row = table(torch.tensor([0], device=x.device)) + torch.vmap(lambda row: row * 2)(x)[:1]
    kept = row.as_subclass(OwnTensor).as_subclass(torch.Tensor) + torch.tensor([1.0, 2.0, 3.0], device=x.device)
    layer = nn.Linear(3, 3, device=x.device)
    return layer(kept) + Layer(3).to(x.device)(x).sum()


class OwnTensor(torch.Tensor):
    pass


def by_numpy(x):
    return torch.from_numpy(x.numpy()).to(x.device)


def unfollowed(x):
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        return x @ x.T


def honest(x):
    return x + torch.ones(3, device=x.device)


def gelu(x):
    return nn.functional.gelu(x)


def ends(x):
    os._exit(0)


def Factory(width):
    return width


def total(layer, x):
    return layer(x).sum()


def forged():
    from softmark.sandbox.wire import Handle
    return Handle(1, "Layer", True)


class Layer(nn.Module):
    def __init__(self, width, deep=False):
        super().__init__()
        self.inner = nn.Linear(width, 2)
        self.scale = nn.Parameter(torch.ones(()))
        self.plain: torch.Tensor = torch.ones(3)
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def forward(self, x, twice=False):
        self.steps += 1
        y = self.scale * self.inner(x)
        return y + y if twice else y

    def mode(self):
        return self.training

    def foward(self, x):
        return x


class Named(nn.Module):
    def __init__(self, width):
        super().__init__()
        type(self).__name__ = f"Width{width}"
        self.register_parameter(f"p{width}", nn.Parameter(torch.ones(1)))

    def forward(self, x):
        raise KeyError


class Plain:
    def __init__(self, start):
        self.start = start

    def after(self, steps):
        return self.start + steps


class Unfinished(nn.Module):
    def __init__(self):
        self.inner = nn.Linear(1, 1)


class Empty(nn.Module):
    def forward(self, x):
        return x
"""
X = torch.tensor([1.0, 2.0, 3.0])


@pytest.fixture(scope="module")
def begun() -> Iterator[StudentSession]:
    with sandbox() as place, session(place, SUBMISSION) as one:
        yield one


@pytest.fixture
def student(begun: StudentSession, request: pytest.FixtureRequest) -> Student:
    begun.begin("1", request.node.nodeid)
    return Student(begun)


def verdict(action: Callable[[], Any]) -> Verdict:
    """The verdict with which an action fails."""
    with pytest.raises(Failed) as caught:
        action()
    return caught.value.verdict


class TestFunctions:
    """A function of the student's."""

    def test_is_called_by_position_and_by_name(self, student: Student) -> None:
        """Arguments arrive where the test put them."""
        torch.testing.assert_close(student.one(X), X)
        torch.testing.assert_close(student.one(X, 2.0, shift=1.0), X * 2 + 1)

    def test_takes_and_gives_nested_containers(self, student: Student) -> None:
        """Dicts of lists of tensors go there and come back."""
        got = student.nested({"x": [X, X + 1], "n": 3})
        torch.testing.assert_close(got["first"], X)
        torch.testing.assert_close(got["rest"][0], [X + 1])
        assert got["rest"][1][0]["n"] == 3
        assert got["rest"][1][1] is None

    def test_gets_one_tensor_where_one_is_passed_twice(self, student: Student) -> None:
        """Whatever the way of calling is; another tensor with the same numbers is another one."""
        assert student.same(X, {"again": [X, X]}) == [True, True]
        assert student.same(X, {"again": [X.clone(), X]}) == [False, True]
        assert student.same.call((X,), {"others": {"again": [X]}}).value == [True]
        assert student.same.count_ops((X, {"again": [X]}), {}).total == 1
        assert student.same.on_meta((X, {"again": [X]}), {}) == [True]

    def test_has_a_name(self, student: Student) -> None:
        """It is named as the handout names it."""
        assert (student.one.name, student.Layer(3).forward.name) == ("one", "Layer.forward")

    @pytest.mark.parametrize("name", ["_private", "__wrapped__", "__len__"])
    def test_is_no_private_name(self, name: str, student: Student) -> None:
        """Python's own questions to an object are not sent to the student."""
        with pytest.raises(AttributeError):
            getattr(student, name)

    def test_a_capitalised_one_must_make_an_object(self, student: Student) -> None:
        """A class that is a function, and gives something else, says so."""
        found = verdict(lambda: student.Factory(3))
        assert (found.category, found.fact) == (
            Category.TYPE, "Factory is not a class: calling it does not make an object",
        )  # fmt: skip


class TestFailures:
    """A student's exception is data."""

    def test_comes_with_the_students_own_lines(self, student: Student) -> None:
        """File, line and text of each of the student's frames, outermost first, and none of ours."""
        found = verdict(lambda: student.fails(X))
        assert [(line.file, line.text) for line in found.frames] == [
            (FILE, "return helper(x)"),
            (FILE, 'raise ValueError(f"secret {x.tolist()}")'),
        ]
        lines = SUBMISSION.splitlines()
        assert all(lines[line.line - 1].strip() == line.text for line in found.frames)

    def test_the_message_is_no_fact(self, student: Student) -> None:
        """What the student's code says, hidden inputs perhaps, is kept where the test's visibility decides."""
        found = verdict(lambda: student.fails(X))
        assert (found.category, found.fact) == (Category.ERROR, "fails: raised ValueError")
        assert found.where == "secret [1.0, 2.0, 3.0]"

    def test_a_class_name_is_no_fact(self, student: Student) -> None:
        """An exception class that is made of hidden inputs is not named, not even where an exception is expected."""
        found = verdict(lambda: student.fails_in_its_own_way(X))
        assert found.fact == "fails_in_its_own_way: raised an exception class of its own"
        found = verdict(lambda: raises(KeyError, student.fails_in_its_own_way, X))
        assert found.fact == (
            "fails_in_its_own_way: raised an exception class of its own; "
            "it must raise KeyError for argument 1 of shape (3,)"
        )

    def test_what_is_not_written_raises_no_wrong_exception(self, student: Student) -> None:
        """A test that asks for an exception says of a stub, and of a missing function, what every other test says."""
        assert verdict(lambda: raises(KeyError, student.stub, X)).fact == "stub: not implemented yet"
        assert verdict(lambda: raises(KeyError, student.nothing_like_it, X)).code == Code.NOT_DEFINED

    def test_an_expected_exception_is_right(self, student: Student) -> None:
        """A test may ask for an exception."""
        raises(ValueError, student.fails, X)
        raises(ValueError, student.fails_as_asked, X)
        assert verdict(lambda: student.fails_as_asked(X)).fact == "fails_as_asked: raised an exception class of its own"

    def test_a_stub(self, student: Student) -> None:
        """Not implemented is no error."""
        assert verdict(lambda: student.stub(X)).fact == "stub: not implemented yet"

    @pytest.mark.parametrize(
        ("name", "fact", "line"),
        [
            ("onee", "onee: `onee` is not defined in the file; is your `one` meant to be it?", 7),
            ("completely_different", "completely_different: `completely_different` is not defined in the file", None),
        ],
    )
    def test_a_missing_name(self, name: str, fact: str, line: int | None, student: Student) -> None:
        """A name that is not defined, and the one in the file that is most like it, with its line."""
        found = verdict(lambda: getattr(student, name)(X))
        assert found.fact == fact
        assert [frame.line for frame in found.frames] == ([line] if line else [])

    def test_a_missing_method(self, student: Student) -> None:
        """A method is looked for by its own name."""
        found = verdict(lambda: student.Plain(1).aftr(2))
        assert found.fact == "Plain.aftr: `aftr` is not defined in the file; is your `after` meant to be it?"

    def test_wrong_arguments(self, student: Student) -> None:
        """A function that takes other arguments says which, and where."""
        found = verdict(lambda: student.one())
        assert found.fact == (
            "one: it does not take the arguments that the handout names: "
            "the tests call it with no arguments; yours takes (x, scale=1.0, *, shift=0.0)"
        )
        assert found.where.startswith("it is defined as (x, scale=1.0, *, shift=0.0)")
        assert [line.text for line in found.frames] == ["def one(x, scale=1.0, *, shift=0.0):"]

    def test_a_library_shortcut(self, student: Student) -> None:
        """A forbidden function is named, and what to write instead."""
        found = verdict(lambda: student.gelu(X))
        assert found.category is Category.FORBIDDEN
        assert found.fact == ("gelu uses torch.nn.functional.gelu, which is not allowed here: write it with torch.erf")

    def test_a_process_that_ended(self, student: Student) -> None:
        """A function that ends the process has failed, and the next call works."""
        found = verdict(lambda: student.ends(X))
        assert (found.category, "exit status 0" in found.fact) == (Category.CRASH, True)
        torch.testing.assert_close(student.one(X), X)

    def test_an_object_that_ended_with_its_process(self, student: Student) -> None:
        """An object does not outlive its process, and no other takes its place."""
        plain = student.Plain(1)
        verdict(lambda: student.ends(X))
        student.Plain(2)
        fact = "Plain.after: the process that held this object has ended, and the object with it"
        assert verdict(lambda: plain.after(1)).fact == fact

    def test_a_forged_handle_is_no_answer(self, student: Student) -> None:
        """A function that pretends to give an object is wrong, and breaks nothing."""
        assert verdict(lambda: agree(student.forged, lambda: X)).category is Category.TYPE


class TestChangedInputs:
    """A call that also watches its inputs."""

    def test_names_what_was_changed(self, student: Student) -> None:
        """By position or by name, containers included."""
        assert student.spoils.call((X,), {"y": {"list": []}}).changed == ["argument 1", "y"]
        assert student.one.call((X,), {"scale": 2.0}).changed == []

    @pytest.mark.parametrize(
        "value",
        [
            torch.tensor([float("nan"), 1.0]), torch.tensor([1 + 2j]), torch.tensor([True]), torch.tensor([1, 2]),
            torch.tensor([1.0], dtype=torch.bfloat16), torch.empty(0), X.numpy(), [1.0, X], float("nan"),
        ],
        ids=str,
    )  # fmt: skip
    def test_an_untouched_input_is_not_named(self, value: Any, student: Student) -> None:
        """Whatever kind of value it is, NaN included."""
        assert student.looks.call((X, value), {}).changed == []

    def test_a_tensor_is_what_it_was_or_not(self, student: Student) -> None:
        """A NaN that became 0 was changed."""
        assert student.spoils.call((torch.full((2,), float("nan")),), {}).changed == ["argument 1"]

    def test_an_object_is_no_input_to_watch(self, student: Student) -> None:
        """A module that a function is given may count its calls."""
        layer = student.Layer(3)
        assert student.total.call((layer, X), {}).changed == []

    def test_the_tests_own_values_stay(self, student: Student) -> None:
        """The test's tensor is another one than the student's."""
        mine = X.clone()
        student.spoils(mine)
        torch.testing.assert_close(mine, X)


class TestGradients:
    """vjp: the gradient of <cotangent, value>."""

    def test_of_positional_and_named_arguments(self, student: Student) -> None:
        """Every floating argument has one; what is no tensor has none."""
        got = student.one.vjp((X,), {"scale": torch.tensor(3.0), "shift": 1.0}, torch.ones(3))
        torch.testing.assert_close(got.value.detach(), X * 3 + 1)
        torch.testing.assert_close(got.args, (torch.full((3,), 3.0),))
        torch.testing.assert_close(got.kwargs["scale"], X.sum())
        assert got.kwargs["shift"] is None

    def test_of_values_inside_an_argument(self, student: Student) -> None:
        """Each value of a dictionary or a list has one, in order, and what is no tensor has none."""
        Y = torch.tensor([1.0, 4.0])
        got = student.nested.vjp(({"x": [X, Y], "n": 2},), {}, {"first": 2 * torch.ones(3), "rest": [None] * 5})
        assert len(got.args) == 3
        torch.testing.assert_close(got.args[0], 2 * torch.ones(3))
        assert got.args[1:] == (None, None)

    def test_of_several_outputs(self, student: Student) -> None:
        """None in a cotangent leaves an output out; an output that is no float has none."""
        Y = X.clone()
        got = student.vjp("pair", (X, Y), (torch.ones(3), None, {"mask": None}))
        torch.testing.assert_close(got.args, (Y, X))
        got = student.vjp("pair", (X, Y), (None, torch.tensor(5.0), {"mask": None}))
        torch.testing.assert_close(got.args, (torch.full((3,), 5.0), None))

    def test_of_a_tensor_that_is_passed_twice(self, student: Student) -> None:
        """It has one gradient, the sum for both places."""
        got = student.vjp("pair", (X, X), (torch.ones(3), None, {"mask": None}))
        torch.testing.assert_close(got.args, (2 * X, 2 * X))

    def test_of_parameters(self, student: Student) -> None:
        """A module's parameters have theirs by name, in a call and in a method."""
        layer = student.Layer(3)
        got = layer.vjp((X,), {"twice": True}, torch.ones(2))
        assert set(got.parameters) == {"inner.weight", "inner.bias", "scale"}
        torch.testing.assert_close(got.parameters["inner.bias"], torch.full((2,), 2.0))
        got = layer.forward.vjp((X,), {}, torch.ones(2))
        torch.testing.assert_close(got.parameters["inner.bias"], torch.ones(2))

    def test_of_an_input_that_is_changed_in_place(self, student: Student) -> None:
        """Whether inputs stay as they are is another question: the gradients are those of the answer."""
        torch.testing.assert_close(student.vjp("doubles_in_place", (X,), torch.ones(3)).args, (torch.full((3,), 2.0),))

    def test_that_do_not_arrive(self, student: Student) -> None:
        """A value that was detached, or does not fit the cotangent, gives no gradient."""
        assert student.vjp("detached", (X,), torch.ones(3)).args == (None,)
        assert student.vjp("one", (X,), torch.ones(2)).args == (None,)
        assert student.vjp("one", (X,), (torch.ones(3), None)).args == (None,)


class TestOperations:
    """count_ops."""

    def test_counts_by_name(self, student: Student) -> None:
        """Each operation that is dispatched, with the total."""
        counted = student.one.count_ops((X,), {"scale": 2.0})
        assert counted.by_name == {"aten.mul.Tensor": 1, "aten.add.Tensor": 1}
        assert counted.total == 2

    def test_a_loop_shows(self, student: Student) -> None:
        """A Python loop over rows makes more operations the more rows there are."""
        few, many = (student.count_ops("loop", (torch.ones(rows, 2),)).total for rows in (2, 20))
        assert many > few + 15


class TestOnMeta:
    """on_meta: another device without a GPU."""

    def test_honest_code_passes(self, student: Student) -> None:
        """The result is on the other device, described and not computed."""
        got = student.on_meta("honest", (X,))
        assert (got.device.type, got.shape, got.dtype) == ("meta", (3,), torch.float32)
        works_on_meta(student.honest, X)

    def test_a_fixed_device_is_found(self, student: Student) -> None:
        """A tensor that is created on the CPU does not mix, and its line is named."""
        found = verdict(lambda: works_on_meta(student.fixed, X))
        assert found.category is Category.DEVICE
        assert [line.text for line in found.frames] == ["return x + torch.ones(3)"]

    def test_a_module_moves_with_its_parameters(self, student: Student) -> None:
        """A module's parameters and buffers are where its input is."""
        works_on_meta(student.Layer(3), X)

    def test_forms_that_make_tensors_in_cpp_pass(self, student: Student) -> None:
        """Parameters, tables, subclasses, vmap and layers that take their device from the input."""
        works_on_meta(student.in_many_ways, torch.rand(4, 3))

    def test_refusals_of_a_real_device_are_found(self, student: Student) -> None:
        """Torch refuses more there than mixing; the sentence has the next step."""
        found = verdict(lambda: works_on_meta(student.by_numpy, X))
        assert found.category is Category.DEVICE
        assert "use torch's functions instead" in found.fact

    def test_what_cannot_be_followed_is_not_judged(self, student: Student) -> None:
        """Code that works on the CPU, and fails on the pretended device alone, loses nothing."""
        with activate(TestContext()) as case:
            works_on_meta(student.unfollowed, torch.rand(4, 3))
        assert case.unfollowed == ["unfollowed"]

    def test_a_module_is_as_before(self, student: Student) -> None:
        """After its call on the other device it works on the CPU, with the same weights and buffers."""
        layer = student.Layer(3)
        before = layer.state_dict()
        works_on_meta(layer, torch.rand(4, 3))
        after = layer.state_dict()
        assert all(torch.equal(before[name], after[name]) for name in before)
        assert layer(torch.rand(4, 3)).device.type == "cpu"

    def test_names_nested_results(self, student: Student) -> None:
        """Tensors anywhere in a result are described in their places."""
        got = student.on_meta("pair", (X, X))
        assert got[0].device.type == got[2]["mask"].device.type == "meta"


class TestObjects:
    """Objects of the student's classes."""

    def test_keep_their_state(self, student: Student) -> None:
        """An object stays the same from call to call."""
        plain = student.Plain(10)
        assert plain.after(1) == 11
        assert student.Plain(20).after(1) == 21
        assert plain.after(steps=2) == 12

    def test_can_be_arguments(self, student: Student) -> None:
        """An object goes back to where it lives."""
        layer = student.Layer(3)
        torch.testing.assert_close(student.total(layer, X), layer(X).sum())

    def test_train_and_eval(self, student: Student) -> None:
        """The mode of a module can be set, and stays."""
        layer = student.Layer(3)
        modes = [layer.mode(), layer.eval().mode(), layer.train().mode(), layer.train(False).mode()]
        assert modes == [True, False, True, False]

    def test_parameters_are_tensors_by_name(self, student: Student) -> None:
        """Parameters are there by name, buffers are not among them; the state dict has both."""
        layer = student.Layer(3)
        assert {name: tuple(tensor.shape) for name, tensor in layer.parameters().items()} == {
            "scale": (), "inner.weight": (2, 3), "inner.bias": (2,),
        }  # fmt: skip
        assert set(layer.state_dict()) == {*layer.parameters(), "steps"}

    def test_take_weights_and_their_dtype(self, student: Student) -> None:
        """Weights are loaded as they are, in float64 as in float32, whole numbers among them."""
        layer = student.Layer(3)
        weights = {name: torch.ones_like(tensor).double() for name, tensor in layer.state_dict().items()}
        weights["steps"] = torch.tensor(7)
        layer.load_state_dict(dict(reversed(weights.items())))
        torch.testing.assert_close(layer(X.double()), torch.full((2,), 7.0, dtype=torch.float64))
        assert layer.state_dict()["steps"] == 8

    def test_without_weights_load_none(self, student: Student) -> None:
        """A module without parameters takes a state dict without entries."""
        empty = student.Empty()
        empty.load_state_dict({})
        torch.testing.assert_close(empty(X), X)

    def test_that_are_no_modules_say_so(self, student: Student) -> None:
        """A class that is not derived from nn.Module has no weights to load."""
        found = verdict(lambda: student.Plain(1).state_dict())
        assert "derive the class from nn.Module" in found.where

    def test_that_cannot_be_made(self, student: Student) -> None:
        """A class whose construction fails shows the line in which it does."""
        found = verdict(lambda: student.Unfinished())
        assert found.frames[-1].text == "self.inner = nn.Linear(1, 1)"

    def test_are_named_by_the_handout(self, student: Student) -> None:
        """A class that calls itself after a hidden number is named as the test names it."""
        named = student.Named(1234567)
        assert verdict(lambda: named(X)).fact == "Named: raised KeyError"


class TestWrongWeights:
    """load_state_dict of weights that do not fit."""

    @pytest.mark.parametrize(
        ("change", "fact"),
        [
            ({"inner.weigth": torch.ones(2, 3), "inner.weight": None},
             "Layer: it has no parameter named `inner.weigth`; is your `inner.weight` meant to be it?"),
            ({"out.weight": torch.ones(1)}, "Layer: it has no parameter named `out.weight`"),
            ({"a": X, "b": X}, "Layer: it has no parameter named `a` (and 1 more)"),
            ({"inner": X}, "Layer: it has no parameter named `inner`; your `inner` is a module, not an nn.Parameter"),
            ({"plain": X}, "Layer: it has no parameter named `plain`; your `plain` is no nn.Parameter"),
            ({"inner.weight": torch.ones(3, 2)}, "Layer: parameter `inner.weight` has shape (2, 3), expected (3, 2)"),
        ],
        ids=["misspelt", "missing", "two missing", "a module", "plain", "misshapen"],
    )  # fmt: skip
    def test_say_what_is_wrong(self, change: dict[str, torch.Tensor | None], fact: str, student: Student) -> None:
        """A misspelt, missing or misshapen parameter has a message of its own."""
        layer = student.Layer(3)
        weights = {**layer.state_dict(), **change}
        given = {name: tensor for name, tensor in weights.items() if tensor is not None}
        assert verdict(lambda: layer.load_state_dict(given)).fact == fact

    def test_do_not_repeat_a_made_up_name(self, student: Student) -> None:
        """A parameter that is named after a hidden number is not named in the fact."""
        named = student.Named(1234567)
        fact = "Named: it has a parameter that the handout does not name"
        assert verdict(lambda: named.has_entries({})).fact == fact

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("blocks.11.attention.heads.3.weight", True),
            ("attention.0.bias", True),
            ("other.weight", False),
            ("31.41.59.26", False),
            ("blocks.314159.weight", False),
            (".".join(["heads"] * 7), False),
        ],
    )
    def test_are_named_if_a_homework_could_have_such_a_name(self, name: str, said: bool) -> None:
        """Words of the file and of torch, with no more numbers than blocks in blocks have."""
        handed = SubmittedFiles("tiny.py", {"tiny.py": b"self.blocks, self.attention, self.heads = 314159, 0, 0"})
        assert handed.writes(name) is said

    @pytest.mark.parametrize(
        ("without", "fact"),
        [
            (["scale"], "Layer: it has a parameter `scale` that the handout does not name"),
            (["scale", "steps"], "Layer: it has a parameter `scale` that the handout does not name (and 1 more)"),
            (["steps"], "Layer: its state_dict has an entry `steps` that the handout does not name: "
             "a buffer is registered with persistent=False"),
        ],
        ids=["parameter", "two", "buffer"],
    )  # fmt: skip
    def test_are_not_too_many(self, without: list[str], fact: str, student: Student) -> None:
        """What the handout does not name keeps its value when weights are loaded; a test of the names tells of it."""
        layer = student.Layer(3)
        given = {name: tensor + 1 for name, tensor in layer.state_dict().items() if name not in without}
        own = {name: layer.state_dict()[name] for name in without}
        layer.load_state_dict(given)
        loaded = layer.state_dict()
        torch.testing.assert_close(loaded, given | own)
        assert verdict(lambda: layer.has_entries(given)).fact == fact
        layer.has_entries(loaded)
