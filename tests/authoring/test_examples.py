"""Worked examples: what is written down about a call, and what is read from it again."""

from __future__ import annotations

import json
import math
import runpy
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from reference import attention_scores as attention
from reference import multi_head
from softmark.authoring import examples
from softmark.authoring.build import buildable
from softmark.authoring.examples import ExampleCall, encode, example, handout_of, module_example, numbers
from softmark.check.public_tests import EXAMPLES, Handout, read_handout
from softmark.check.worked_examples import LentLater, NoData, Slip, WorkedExample, from_data, to_data, worked_example
from softmark.course.homework import Homework, load_homework
from softmark.records.errors import ConfigError
from softmark.verdict import Failed, Registry, agree, collecting, lend, mistake

ROOT = Path(__file__).parents[2]
S, K, ANSWER = numbers("Q", 3, 5), numbers("K", 4, 5), torch.tensor([1.0, 2.0], dtype=torch.float64)


@pytest.fixture
def homework() -> Homework:
    return load_homework("attention_scores", ROOT)


@pytest.fixture
def written(homework: Homework, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes one call with these mistakes down, and reads it again."""

    def write(made: ExampleCall, registry: Registry | None = None) -> dict[str, Any]:
        monkeypatch.setattr(examples, "load_mistakes", lambda homework, files: registry or Registry())
        monkeypatch.setattr(examples, "_calls", lambda homework: {"it": made})
        data: dict[str, Any] = json.loads(encode(handout_of(homework)))
        return data

    return write


class TestNumbers:
    """`numbers`."""

    def test_are_the_same_for_ever(self) -> None:
        """The same label and shape give the same numbers, on every machine."""
        assert numbers("Q", 2, 2).tolist() == [[-1.8, -2.0], [-0.9, -1.3]]

    def test_are_small_and_none_is_zero(self) -> None:
        """One decimal, from -2 to 2, never 0, which would hide what it is multiplied with."""
        drawn = numbers("x", 500)
        assert set(drawn.mul(10).round().int().tolist()) == set(range(-20, 21)) - {0}


class TestData:
    """Values as a file has them."""

    @pytest.mark.parametrize(
        "value",
        [
            torch.tensor([[1.5, -2.0]], dtype=torch.float64),
            torch.tensor([1, 2]),
            torch.tensor([[True], [False]]),
            (torch.tensor([1.0], dtype=torch.float64), None),
            [torch.tensor([1.0], dtype=torch.float64), None, "none"],
            {"W": torch.tensor([0.5], dtype=torch.float64)},
            {256: b"th", 257: b"\xf0\x9f\x00"},
            {("a", b"b"): [b""], 3: {}},
            "mean",
            None,
            3,
            0.25,
            True,
        ],
        ids=str,
    )
    def test_comes_back(self, value: Any) -> None:
        """What is written down is read again with type, dtype and nesting."""
        back = from_data(json.loads(json.dumps(to_data(value))))
        agree(back, value)
        assert type(back) is type(value)

    def test_lends_a_function_of_torch(self) -> None:
        """A function of torch is written by its name; any other one has no form in the file."""
        data = json.loads(json.dumps(to_data(torch.tanh)))
        assert data == {"function": "tanh"}
        agree(from_data(data)(S), torch.tanh(S))
        with pytest.raises(NoData):
            to_data(lambda x: x)

    def test_holds_what_json_cannot(self) -> None:
        """NaN and infinity in a wrong answer are written as texts."""
        data = to_data(torch.tensor([math.nan, math.inf, -math.inf, 1.0]))
        assert data == ["nan", "inf", "-inf", 1.0]
        assert from_data(data)[1:3].tolist() == [math.inf, -math.inf]

    def test_is_rounded(self) -> None:
        """Seven digits: the last bits differ from machine to machine. A zero has no sign."""
        assert to_data(torch.tensor([1 / 3, -0.0], dtype=torch.float64)) == [0.3333333, 0.0]
        assert str(to_data(torch.tensor([-0.0]))[0]) == "0.0"

    @pytest.mark.parametrize(
        "value", [torch.zeros(0), torch.zeros(1, dtype=torch.complex64), object()], ids=["empty", "complex", "object"]
    )
    def test_refuses(self, value: Any) -> None:
        """What has no form in the file is refused."""
        with pytest.raises(NoData):
            to_data(value)


class TestWorkedExample:
    """Holding an answer against an example."""

    def test_accepts_the_right_answer(self) -> None:
        """Rounding to seven digits costs nobody a test, in float32 either."""
        example = WorkedExample("it", (), from_data(to_data(ANSWER / 3)), {})
        example.check((ANSWER / 3).float())

    def test_names_a_known_mistake(self) -> None:
        """An answer that a mistake gives is called by its words."""
        example = WorkedExample("it", (), ANSWER, {}, [Slip(ANSWER * 2, "twice", "Twice too large.", "Halve it.")])
        with pytest.raises(Failed) as failed:
            example.check(ANSWER * 2)
        assert [(c.mistakes, c.says, c.hint) for c in failed.value.verdict.causes] == [
            (("twice",), "Twice too large.", "Halve it.")
        ]

    def test_names_every_mistake_that_fits(self) -> None:
        """Two mistakes that give the same answer are named side by side, in their order; a third one is not."""
        slips = [Slip(ANSWER * n, f"times {n}", f"{n} times too large.") for n in (2, 3)]
        also = Slip(ANSWER + ANSWER, "twice", "Added to itself.")
        with pytest.raises(Failed) as failed:
            WorkedExample("it", (), ANSWER, {}, [*slips, also]).check(ANSWER * 2)
        assert [cause.says for cause in failed.value.verdict.causes] == ["2 times too large.", "Added to itself."]

    def test_names_nothing_else(self) -> None:
        """Another wrong answer has no name."""
        example = WorkedExample("it", (), ANSWER, {}, [Slip(ANSWER * 2, "twice", "Twice too large.")])
        with pytest.raises(Failed) as failed:
            example.check(ANSWER * 3)
        assert failed.value.verdict.causes == ()

    def test_lends_a_function(self) -> None:
        """A function cannot be written down, so the test names it, and it may be called as often as the author said."""
        assert to_data(lend(torch.neg, calls=3)) == {"lent": 3}
        lent = []

        def searched(step: Any, x: torch.Tensor) -> torch.Tensor:
            lent.append(step.calls)
            answer: torch.Tensor = step(x)
            return answer

        example = WorkedExample("it", (from_data({"lent": 3}), ANSWER), -ANSWER, {})
        example.check(searched, torch.neg)
        with pytest.raises(Failed):
            example.check(searched, torch.abs)
        assert lent == [3, 3]


class TestHandout:
    """What `handout_of` writes about a call."""

    def test_has_inputs_and_answer(self, written: Any) -> None:
        """A call is written with its inputs and the reference's answer to them."""
        (entry,) = written(example(attention.scores, S, K))["examples"]
        assert (entry["name"], entry["call"]) == ("it", "scores")
        assert entry["args"] == [to_data(S), to_data(K)]
        assert entry["answer"] == to_data(attention.scores(S, K))

    def test_has_the_weights_of_a_module(self, written: Any) -> None:
        """For a class there are the constructor's arguments and small weights, with which the answer was made."""
        made = {"d_model": 4, "n_heads": 2}
        (entry,) = written(module_example(multi_head.MultiHeadAttention, made, numbers("X", 3, 4)))["examples"]
        own = multi_head.MultiHeadAttention(**made).double()
        own.load_state_dict({name: from_data(value) for name, value in entry["weights"].items()})
        assert entry["make"] == made
        agree(own(numbers("X", 3, 4)), from_data(entry["answer"]))

    def test_has_what_mistakes_answer(self, written: Any) -> None:
        """A mistake that shows is there by a number, with its answer and its words; one that does not is not there."""
        with collecting(Registry()) as registry:

            @mistake(attention.scores, says="Not scaled.", hint="Scale.")
            def unscaled(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
                return Q @ K.T

            @mistake(attention.scores, says="Invisible.")
            def invisible(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
                return Q @ K.T / math.sqrt(5)

            @mistake(attention.scores, says="Fails.")
            def fails(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
                return Q @ K

            @mistake(attention.scores, says="By chance.")
            def by_chance(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
                return torch.rand(3, 4)

        data = written(example(attention.scores, S, K), registry)
        assert data["mistakes"] == {"1": {"says": "Not scaled.", "hint": "Scale."}}
        assert data["examples"][0]["mistakes"] == {"1": to_data(S @ K.T)}

    @staticmethod
    def same_answer(*says: str) -> Registry:
        """Return mistakes with these words that all give one and the same answer."""
        with collecting(Registry()) as registry:
            for number, words in enumerate(says):

                def wrong(Q: torch.Tensor, K: torch.Tensor) -> torch.Tensor:
                    return Q @ K.T

                wrong.__name__ = f"wrong_{number}"
                mistake(attention.scores, says=words)(wrong)
        return registry

    def test_names_one_mistake_that_is_written_in_several_ways(self, written: Any) -> None:
        """A student reads its words once, however many entries have them."""
        registry = self.same_answer("First.", "Second.", "First.", "First.")
        found = written(example(attention.scores, S, K), registry)["examples"][0]["mistakes"]
        assert set(found) == {"1", "2", "3", "4"}

    def test_leaves_out_what_tells_nothing(self, written: Any) -> None:
        """Three mistakes with one and the same answer are not told from each other, so none of them is named."""
        registry = self.same_answer("First.", "Second.", "Third.")
        assert "mistakes" not in written(example(attention.scores, S, K), registry)["examples"][0]
        registry.mistakes.pop()
        assert set(written(example(attention.scores, S, K), registry)["examples"][0]["mistakes"]) == {"1", "2"}

    @pytest.mark.parametrize(("repairs", "told"), [("line and kind", None), ("line", "line"), ("off", "off")])
    def test_says_what_is_told_of_a_mistake_without_a_name(
        self, homework: Homework, monkeypatch: pytest.MonkeyPatch, repairs: str, told: str | None
    ) -> None:
        """Only a homework that does not want all of it writes that down."""
        monkeypatch.setattr(examples, "_calls", lambda homework: {})
        changed = Homework(**{**vars(homework), "repairs": repairs})
        assert json.loads(encode(handout_of(changed))).get("repairs") == told

    def test_refuses_other_files(self, homework: Homework, tmp_path: Path) -> None:
        """An examples.py without EXAMPLES is named."""
        folder = tmp_path / "graders/attention_scores"
        folder.mkdir(parents=True)
        (folder / "examples.py").write_text("EXAMPLE = {}\n")
        elsewhere = Homework(**{**vars(homework), "root": tmp_path})
        with pytest.raises(ConfigError, match="EXAMPLES must be a dictionary of calls"):
            handout_of(elsewhere)


class TestReadHandout:
    """A student's machine reads `examples.json`."""

    def test_says_what_is_missing(self, tmp_path: Path) -> None:
        """Without the file the next step is named."""
        with pytest.raises(ConfigError, match="anew"):
            read_handout(tmp_path)

    def test_refuses_another_content(self, tmp_path: Path) -> None:
        """A file that was changed into something else is refused with the place."""
        (tmp_path / EXAMPLES).write_text('{"homework": 3}')
        with pytest.raises(ConfigError, match=r"examples\.json:1: it is not as it was handed out"):
            read_handout(tmp_path)

    def test_names_an_unknown_example(self) -> None:
        """A public test that asks for an example which is not there is told so."""
        with pytest.raises(ConfigError, match="no worked example “it”"):
            worked_example(Handout("hw", "Title", "hw.py", (), (), {}, ()), "it")


@pytest.mark.parametrize("name", buildable(ROOT))
def test_examples_of_the_course_are_right(name: str) -> None:
    """What lies in the course agrees with the reference, whatever the mistakes are called today."""
    own = import_module(f"graders.{name}.examples")  # it may compose functions of the reference
    reference = {**vars(own), **vars(import_module(f"reference.{name}"))}
    handout = read_handout(ROOT / "assignments" / name)
    assert {part.number for part in handout.parts} == {part.number for part in load_homework(name, ROOT).parts}
    for worked in handout.examples:
        got = reference[worked.call]
        if worked.make is not None:
            got = _Doubled(got)
        known = worked_example(handout, worked.name)
        named = zip(handout.takes.get(worked.call, ()), known.args, strict=False)
        lent = [argument for argument, value in named if isinstance(value, LentLater)]
        known.check(got, *map(_of_public_tests(name).__getitem__, lent))


@cache
def _of_public_tests(name: str) -> dict[str, Any]:
    """Return what the public tests of a homework define, such as functions that they lend."""
    return runpy.run_path(str(ROOT / "assignments" / name / "test_public.py"))


class _Doubled:
    """A module class of the reference in float64."""

    def __init__(self, cls: type[torch.nn.Module]) -> None:
        self.cls = cls

    def __call__(self, **make: Any) -> torch.nn.Module:
        return self.cls(**make).double()
