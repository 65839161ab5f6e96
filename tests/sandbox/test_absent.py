"""A thing that a failed import did not bring raises the error of the import, however it is used."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from softmark.sandbox.worker.absent import Absent, absence_of, is_absence, stand_in

ARITHMETIC = ("add", "sub", "mul", "matmul", "truediv", "pow")
USES: dict[str, Callable[[Any], object]] = {
    "call": lambda a: a(1, b=2),
    "attribute": lambda a: a.name,
    "item": lambda a: a[0],
    "iteration": lambda a: list(a),
    "unpacking": lambda a: [*a],
    "with": lambda a: a.__enter__(),
    "truth": lambda a: bool(a),
    "not": lambda a: not a,
    "length": lambda a: len(a),
    "in": lambda a: 1 in a,
    "isinstance": lambda a: isinstance(1, a),
    "issubclass": lambda a: issubclass(int, a),
    "base class": lambda a: type("B", (), {}) and _derived(a),
    "set attribute": lambda a: setattr(a, "x", 1),
    "set item": lambda a: operator.setitem(a, 0, 1),
    "delete item": lambda a: operator.delitem(a, 0),
    "less": lambda a: a < 1,
    "greater": lambda a: a > 1,
    "or": lambda a: a | 1,
    "or, on the right": lambda a: 1 | a,
    "negative": lambda a: -a,
    "index": lambda a: [1][a],
    "int": lambda a: int(a),
    "float": lambda a: float(a),
    "array": lambda a: np.asarray(a),
    **{name: partial(lambda f, a: f(a, 2), getattr(operator, name)) for name in ARITHMETIC},
    **{f"{name}, on the right": partial(lambda f, a: f(2, a), getattr(operator, name)) for name in ARITHMETIC},
}


def _derived(base: Any) -> object:
    class Derived(base):  # type: ignore[misc]
        pass

    return Derived


@pytest.fixture(autouse=True)
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has been loaded, and its functions are called."""
    monkeypatch.setattr(Absent, "loading", False)


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'plots'", name="plots"),
        ImportError("cannot import name 'x'", name="torch"),
        NameError("name 'display' is not defined", name="display"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_use_raises_what_the_import_raised(use: Callable[[Any], object], error: Exception) -> None:
    """Class, message and name are those of the import."""
    with pytest.raises(type(error)) as raised:
        use(Absent(error))
    assert type(raised.value) is type(error)
    assert (str(raised.value), raised.value.name) == (str(error), error.name)  # type: ignore[attr-defined]


@pytest.mark.parametrize("use", ["attribute", "item", "or", "or, on the right"])
def test_type_hints_can_be_made_of_it(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the file is loaded, an absent thing has attributes and items, and can stand in a union."""
    monkeypatch.setattr(Absent, "loading", True)
    thing = Absent(ImportError("no"))
    assert USES[use](thing) is thing
    with pytest.raises(ImportError):
        thing()  # type: ignore[operator]
    assert not hasattr(thing, "__fspath__")


def test_takes_no_name_that_is_set() -> None:
    """A name that the file has set otherwise keeps its value."""
    namespace: dict[str, Any] = {"a": 1}
    stand_in(("a", "b"), ImportError("no"), namespace)
    assert namespace["a"] == 1
    assert str(absence_of(namespace["b"])) == "no"


@pytest.mark.parametrize(
    ("error", "is_so"),
    [
        (ImportError("no"), True),
        (ModuleNotFoundError("no"), True),
        (NameError("no", name="get_ipython"), True),
        (NameError("no", name="display"), True),
        (NameError("no", name="x"), False),
        (ValueError("no"), False),
    ],
)
def test_what_only_this_machine_lacks(error: Exception, is_so: bool) -> None:
    """A library, or what Jupyter sets; any other name is missing everywhere."""
    assert is_absence(error) == is_so
