"""Makes a homework's worked examples: small inputs from `graders/<hw>/examples.py`, answers from the reference.

An `examples.py` names calls. Their inputs are small numbers, and never those of a hidden test:

    from reference import attention_scores as ref
    from softmark import example, numbers

    EXAMPLES = {"scores": example(ref.scores, numbers("Q", 2, 3), numbers("K", 4, 3))}

An example holds the right answer, and the answer and the words of each named mistake. So `softmark check` can name a
mistake on a student's own machine, where there is neither the reference nor the code of a mistake.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
import torch
from torch import nn

from softmark.check.public_tests import ExampleData, Handout, WordsData
from softmark.check.worked_examples import to_data
from softmark.course.homework import Homework
from softmark.grading.author_files import imported, load_mistakes
from softmark.records.errors import ConfigError
from softmark.verdict.compare import agrees
from softmark.verdict.expected import Expected, computed, stated
from softmark.verdict.mistakes import Mistake, Registry
from softmark.verdict.naming import Suspect, relevant
from softmark.verdict.plant import Planting, instead, planted
from softmark.verdict.values import map_tensors

MOST_ALIKE = 2
"""The number of mistakes with the same answer that are named side by side. If more have it, none is named."""


@dataclass(frozen=True)
class ExampleCall:
    """A call of the reference; for a class, `make` are the constructor's arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    make: Mapping[str, Any] | None = None


def example(function: Callable[..., Any], *args: Any, **kwargs: Any) -> ExampleCall:
    """Return a worked example: a call of a reference function with small inputs.

    An argument may be a function of torch, such as `torch.tanh`; it is lent to the student's function. Another function
    is lent by name: `example(ref.search, lend(step, calls=4), numbers("state", 2, 9))`. Because `examples.json` cannot
    hold it, the public test names it once more: `example(student.search, "search", step)`.
    """
    return ExampleCall(function, args, kwargs)


def module_example(cls: type[nn.Module], make: Mapping[str, Any], *args: Any, **kwargs: Any) -> ExampleCall:
    """Return a worked example of a module: `make` are its constructor's arguments, its weights are small numbers."""
    return ExampleCall(cls, args, kwargs, make)


def numbers(label: str, *shape: int, most: int = 2) -> torch.Tensor:
    """Return numbers from -2 to 2, or from `-most` to `most`, which depend on the label and the shape only.

    They have one decimal, or two if `most` is 1.
    """
    dice = random.Random(f"{label} {shape}")
    count = torch.Size(shape).numel()
    drawn = [dice.choice([n for n in range(-20, 21) if n]) / 10 for _ in range(count)]
    return torch.tensor(drawn, dtype=torch.float64).reshape(shape) * (most / 2)


def handout_of(homework: Homework) -> Handout:
    """Return all that a student's machine has to know of the homework."""
    registry = load_mistakes(homework, ("mistakes",))
    with one_thread():
        examples = tuple(_worked(name, made, registry) for name, made in _calls(homework).items())
    named = {name for example in examples for name in example.mistakes}
    shown = [mistake for mistake in registry.mistakes if mistake.name in named]
    numbered = {mistake.name: str(number) for number, mistake in enumerate(shown, start=1)}
    return Handout(
        homework=homework.name,
        title=homework.title,
        file=homework.file,
        parts=homework.parts,
        forbidden=homework.forbidden,
        mistakes={numbered[mistake.name]: WordsData(mistake.says, mistake.hint) for mistake in shown},
        examples=tuple(_without_names(example, numbered) for example in examples),
        takes={name: homework.takes[name] for name in homework.takes if name.partition(".")[0] in homework.wanted},
        packages=homework.packages,
        limits={name: value for name, value in homework.limits.items() if name.endswith("_seconds")},
        points={part.number: float(part.points) for part in homework.parts},
        repairs=homework.repairs,
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread inside this block: with small tensors, several threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def encode(handout: Handout) -> bytes:
    """Return a handout as JSON that a person can read: a line for each field of an example and for each mistake."""
    data = msgspec.to_builtins(handout, enc_hook=str)
    for part in data["parts"]:
        del part["points"], part["in_place"]  # of the whole homework, and not needed here
    if handout.repairs == "line and kind":
        data.pop("repairs", None)  # as where nothing is said
    words, examples = data.pop("mistakes"), data.pop("examples")
    fields = [f"{json.dumps(key)}: {_json(value)}" for key, value in data.items()]
    fields.append(f'"mistakes": {{{_rows(words)}\n}}')
    fields.append('"examples": [\n' + ",\n".join(map(_lines, examples)) + "\n]")
    return ("{\n" + ",\n".join(fields) + "\n}\n").encode()


def _lines(example: dict[str, Any]) -> str:
    mistakes = example.pop("mistakes", {})
    fields = [f" {json.dumps(key)}: {_json(value)}" for key, value in example.items()]
    if mistakes:
        fields.append(f' "mistakes": {{{_rows(mistakes)}\n }}')
    return "{\n" + ",\n".join(fields) + "\n}"


def _rows(named: dict[str, Any]) -> str:
    return ",".join(f"\n  {json.dumps(name)}: {_json(value)}" for name, value in named.items())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _calls(homework: Homework) -> dict[str, ExampleCall]:
    """Return the EXAMPLES of the homework's examples.py; none if it has no such file."""
    file = homework.folder / "examples.py"
    if not file.exists():
        return {}
    calls = getattr(imported(file, homework), "EXAMPLES", None)
    if not isinstance(calls, dict) or not all(isinstance(made, ExampleCall) for made in calls.values()):
        raise ConfigError(str(file), 1, "EXAMPLES must be a dictionary of calls by their names")
    return calls


def _worked(name: str, made: ExampleCall, registry: Registry) -> ExampleData:
    weights = _weights(made)
    truth = computed(_callee(made, weights), made.args, dict(made.kwargs))
    return ExampleData(
        name=name,
        call=made.function.__name__,
        args=[to_data(value) for value in made.args],
        answer=to_data(truth.value),
        kwargs={key: to_data(value) for key, value in made.kwargs.items()},
        make=None if made.make is None else dict(made.make),
        weights=None if made.make is None else {key: to_data(value) for key, value in weights.items()},
        mistakes=_slips(made, weights, truth, registry),
    )


def _without_names(example: ExampleData, numbered: Mapping[str, str]) -> ExampleData:
    """Return an example whose mistakes have numbers, because the name of an edit shows the reference's code."""
    mistakes = {numbered[name]: answer for name, answer in example.mistakes.items()}
    return msgspec.structs.replace(example, mistakes=mistakes)


def _weights(made: ExampleCall) -> dict[str, torch.Tensor]:
    if made.make is None:
        return {}
    shapes = {name: tensor.shape for name, tensor in made.function(**made.make).state_dict().items()}
    return {name: numbers(name, *shape) / 2 for name, shape in shapes.items()}


def _callee(made: ExampleCall, weights: Mapping[str, torch.Tensor], plants: Planting = ()) -> Callable[..., Any]:
    """Return the function to call, or an object of the class that has the weights."""
    thing = instead(made.function, plants)
    if made.make is None:
        return thing
    own: nn.Module = thing(**made.make).double()
    own.load_state_dict(weights)
    return own


def _slips(
    made: ExampleCall, weights: Mapping[str, torch.Tensor], truth: Expected, registry: Registry
) -> dict[str, Any]:
    """Return the answers of the mistakes that show in this example and that no more than MOST_ALIKE have in common."""
    found: list[tuple[Suspect, Any]] = []
    for suspect in relevant(made.function, registry):
        answer = _answer(made, weights, truth, suspect.mistake)
        if answer is not None:
            found.append((suspect, answer))
    others = [(suspect, stated(answer)) for suspect, answer in found]
    return {suspect.mistake.name: to_data(answer) for suspect, answer in found if _telling(suspect, answer, others)}


def _telling(suspect: Suspect, answer: Any, found: list[tuple[Suspect, Expected]]) -> bool:
    """Return whether this answer points to this mistake. A mistake of the function itself goes before one of a
    callee's."""
    alike = [other for other, theirs in found if agrees(answer, theirs)]
    direct = [other for other in alike if other.direct]
    said = {other.mistake.says for other in direct or alike}  # the same mistake may be written in several ways
    return suspect in (direct or alike) and len(said) <= MOST_ALIKE


def _answer(made: ExampleCall, weights: Mapping[str, torch.Tensor], truth: Expected, mistake: Mistake) -> Any:
    """Return the answer of the mistake; None if it is right, if there is none, or if it changes from run to run."""
    try:
        first = _run(made, weights, mistake, seed=0)
        if agrees(first, truth) or not agrees(first, stated(_run(made, weights, mistake, seed=1))):
            return None
        to_data(first)
    except Exception:  # a variant may fail on these inputs in any way, and so would a student's code
        return None
    return first


def _run(made: ExampleCall, weights: Mapping[str, torch.Tensor], mistake: Mistake, seed: int) -> Any:
    plants = mistake.plants
    args, kwargs = map_tensors((made.args, dict(made.kwargs)), torch.Tensor.clone)
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings(), planted(plants):
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(seed)  # torch.manual_seed takes 1 ms
        return _callee(made, weights, plants)(*args, **kwargs)
