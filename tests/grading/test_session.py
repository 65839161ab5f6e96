"""One submission and its processes: when one is started, kept, replaced, and not tried again."""

from __future__ import annotations

import time
from types import ModuleType
from typing import Any

import pytest

from softmark.grading.answering import Answering
from softmark.grading.session import NotLoadable, StudentSession, seed_of
from softmark.grading.submission_time import OUT_OF_TIME
from softmark.records.limits import Limits
from softmark.sandbox.failures import Disturbed, GraderFault, StudentFailure
from softmark.sandbox.wire.protocol import Call, DoneReply, Loaded, Request
from tests.support.sandboxes import SHORT, sandbox
from tests.support.sessions import Stage, answers, fails, loads, session


def call(begun: StudentSession, **request: Any) -> Any:
    return begun.call(Call("one", **request)).value


def category_of(begun: StudentSession) -> str:
    """What a call comes to."""
    try:
        call(begun)
    except StudentFailure as failure:
        return failure.category
    except NotLoadable:
        return "not loadable"
    return "answer"


def disturbed(request: dict[str, Any]) -> Any:
    """An act: another program came between."""
    raise Disturbed("another program filled the disk")


class TestLoad:
    """Starting a process and loading the submission in it."""

    def test_one_process_for_many_tests(self) -> None:
        """A submission that does not fail is loaded once."""
        stage = Stage(loads(), *[answers(number) for number in range(5)])
        with session(stage) as begun:
            for number in range(5):
                begun.begin(str(number), str(number))
                assert call(begun) == number
        assert len(stage.actors) == 1

    @pytest.mark.parametrize("crashes", [2, 7])
    def test_a_crash_is_tried_twice_and_not_more(self, crashes: int) -> None:
        """A file that crashes whenever it is imported costs two processes, however many tests there are."""
        stage = Stage(*[fails("crash")] * crashes)
        with session(stage) as begun:
            for test in range(5):
                begun.begin("1", str(test))
                assert category_of(begun) == "not loadable"
        assert len(stage.actors) == 2

    def test_one_crash_is_forgiven(self) -> None:
        """A file that crashes once and then loads is graded."""
        stage = Stage(fails("crash"), loads(), answers(42))
        with session(stage) as begun:
            assert call(begun) == 42

    @pytest.mark.parametrize("category", ["error", "timeout", "memory"])
    def test_an_error_is_final_at_once(self, category: str) -> None:
        """A file that raises, loops or eats all memory while it is imported is not tried again."""
        stage = Stage(fails(category), loads(), answers())
        with session(stage) as begun:
            assert [category_of(begun) for _ in range(3)] == ["not loadable"] * 3
        assert len(stage.actors) == 1

    @pytest.mark.parametrize("category", ["error", "timeout", "memory"])
    def test_what_does_not_load_with_stand_ins_is_asked_without_them(self, category: str) -> None:
        """Without stand-ins it was loaded, so the parts that come later are judged."""
        stage = Stage(loads(), answers(1), fails(category), fails(category), loads(), answers(2))
        with session(stage) as begun:
            assert call(begun) == 1
            for _ in range(2):
                with begun.stand_ins(Answering(ModuleType("reference"), ())):
                    assert category_of(begun) == "not loadable"
            assert call(begun) == 2

    def test_a_file_that_will_not_load_again_is_given_up(self) -> None:
        """A file that loads once and never again is not tried for every test that is left."""
        stage = Stage(loads(), fails("crash"), fails("crash"), fails("crash"), loads(), answers())
        with session(stage) as begun:
            assert category_of(begun) == "crash"
            for test in range(4):
                begun.begin("1", str(test))
                assert category_of(begun) == "not loadable"
        assert len(stage.actors) == 3

    @pytest.mark.parametrize(("refusals", "works"), [(2, True), (3, False)])
    def test_starting_is_tried_three_times(self, refusals: int, works: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        """A process that cannot be started is tried again; after the third time it is the grader's fault."""
        stage, problems = Stage(loads(), answers(42)), [OSError("no more processes")] * refusals
        really_open = stage.open

        def open_later(*args: Any) -> Any:
            if problems:
                raise problems.pop()
            return really_open(*args)

        monkeypatch.setattr(stage, "open", open_later)
        with session(stage) as begun:
            if works:
                assert call(begun) == 42
            else:
                with pytest.raises(GraderFault, match="could not be started: no more processes"):
                    call(begun)


class TestNames:
    """A file that defines nothing of what is asked for."""

    def test_one_reason_for_all(self) -> None:
        """It is told at once, with the name and line that is most like one that is asked for."""
        with session(Stage(loads(onne="function")), "import os\n\ndef onne(): pass\n") as begun:
            with pytest.raises(NotLoadable) as caught:
                begun.load()
            failure = caught.value.failure
            assert failure.fact == (
                "it defines none of the names that are asked for (`one`, `Layer`, `two`); "
                "is your `onne` meant to be `one`?"
            )
            assert failure.raised is not None
            assert [(frame.file, frame.line) for frame in failure.raised.frames] == [("hw.py", 3)]

    @pytest.mark.parametrize("names", [{"two": "function"}, {"Layer": "class"}])
    def test_one_of_them_is_enough(self, names: dict[str, str]) -> None:
        """A file with any of the names, a class as well as a function, is graded."""
        with session(Stage(loads(**names), answers(42))) as begun:
            assert call(begun) == 42

    @pytest.mark.parametrize("names", [{}, {"other": "x" * 1000}])
    def test_what_the_worker_says_is_not_repeated(self, names: dict[str, Any]) -> None:
        """Names that do not stand in the file are no part of the reason."""
        with session(Stage(lambda request: Loaded(names)), "x = 1\n") as begun:
            with pytest.raises(NotLoadable) as caught:
                begun.load()
            assert caught.value.failure.fact.endswith("(`one`, `Layer`, `two`)")

    @pytest.mark.parametrize("mention", [("torch.nn.functional.gelu", 7, 1), ("a secret", 0, 1)])
    def test_mentions_that_cannot_be_are_dropped(self, mention: tuple[str, int, int]) -> None:
        """Only names that the homework forbids are kept, and only with a file that was handed in."""
        stage = Stage(lambda request: Loaded({"one": "function"}, [mention]))
        with session(stage) as begun:
            begun.load()
            assert begun.mentions == ()


class TestPurity:
    """Whether a failure may count."""

    def test_a_worker_of_one_part_is_pure(self) -> None:
        """Tests of one part leave it pure; a call of another part makes it impure, until it is renewed."""
        stage = Stage(loads(), answers(), answers(), answers(), loads(), answers())
        with session(stage) as begun:
            for test, part, pure in ((1, "1", True), (2, "1", True), (3, "2", False)):
                begun.begin(part, str(test))
                call(begun)
                assert begun.pure is pure
            begun.renew()
            begun.begin("2", "3")
            call(begun)
            assert begun.pure
        assert len(stage.actors) == 2

    def test_an_impure_call_is_remembered_for_the_whole_test(self) -> None:
        """A crash in an impure worker, and a pure worker after it, do not make a pure test."""
        stage = Stage(loads(), answers(), fails("crash"), loads(), answers())
        with session(stage) as begun:
            call(begun)
            begun.begin("2", "another test")
            assert category_of(begun) == "crash"
            assert category_of(begun) == "answer"
            assert not begun.pure

    def test_a_crash_costs_no_more_than_its_call(self) -> None:
        """The next call of the same test, and the next test, find a process that has loaded the file."""
        stage = Stage(loads(), fails("crash"), loads(), answers(1), answers(2))
        with session(stage) as begun:
            assert category_of(begun) == "crash"
            assert call(begun) == 1
            begun.begin("1", "another test")
            assert call(begun) == 2
        assert len(stage.actors) == 2


class TestDisturbance:
    """What another program of the machine has spoilt."""

    def test_loading_is_tried_once_more(self) -> None:
        """A submission is loaded again in a fresh process; what goes wrong twice is the grader's fault."""
        with session(Stage(disturbed, loads(), answers(1))) as begun:
            assert call(begun) == 1
        with session(Stage(disturbed, disturbed)) as begun, pytest.raises(GraderFault, match="disk"):
            call(begun)

    def test_a_test_is_judged_again(self) -> None:
        """A call that was disturbed does not count, and the test is to be judged in a fresh process."""
        with session(Stage(loads(), disturbed)) as begun:
            with pytest.raises(GraderFault, match="disk"):
                call(begun)
            assert not begun.pure


class TestTime:
    """Limits of a call, a part, and the whole."""

    def test_two_timeouts_end_a_part(self) -> None:
        """After two time-outs the rest of the part is not run, and the other parts are."""
        stage = Stage(loads(), fails("timeout"), loads(), fails("timeout"), loads(), answers(42))
        with session(stage) as begun:
            for test in range(5):
                begun.begin("1", str(test))
                assert category_of(begun) == "timeout"
            assert len(stage.actors) == 2
            with pytest.raises(StudentFailure, match="not run: other tests of this part already ran out of time"):
                call(begun)
            begun.begin("2", "another part")
            assert call(begun) == 42

    def test_a_timeout_in_an_impure_worker_does_not_count(self) -> None:
        """What may be another part's doing is no evidence against this one."""
        impure = (loads(), answers(), fails("timeout"))
        stage = Stage(*impure, *impure, *impure, loads(), answers(42))
        with session(stage) as begun:
            for _ in range(3):
                begun.begin("1", "part 1")
                call(begun)
                begun.begin("2", "part 2")
                assert category_of(begun) == "timeout"
            begun.begin("2", "part 2")
            assert call(begun) == 42

    def test_calls_of_a_test_share_its_time(self) -> None:
        """What one call has computed is missing for the next, and there again for the next test."""

        def computes(request: dict[str, Any]) -> dict[str, Any]:
            stage.actors[0].cpu += 0.3
            return answers()(request)

        stage = Stage(loads(), computes, answers(), answers())
        with session(stage) as begun:
            call(begun)
            call(begun)
            begun.begin("1", "another test")
            call(begun)
        allowed = [cpu for _, cpu, _ in stage.actors[0].requests]
        assert allowed == pytest.approx([SHORT.import_seconds, 0.5, 0.2, 0.5])

    def test_a_process_is_not_kept_until_the_kernel_ends_it(self) -> None:
        """The kernel's limit is for all tests of a process: one that comes near it is replaced between two tests."""
        stage = Stage(loads(), answers(1), loads(), answers(2))
        with session(stage) as begun:
            call(begun)
            stage.actors[0].cpu = SHORT.of_a_worker() - 1.5 * SHORT.cpu_seconds
            begun.begin("1", "another test")
            assert call(begun) == 2
        assert len(stage.actors) == 2

    def test_the_whole_has_its_time(self) -> None:
        """No call waits longer than until the end of the time for the whole submission."""
        stage = Stage(loads(), answers())
        with session(stage, deadline=time.monotonic() + 1000) as begun:
            call(begun)
            assert not begun.time.is_up
        assert all(900 < wall <= 1000 for _, _, wall in stage.actors[0].requests)

    def test_waiting_twice_is_not_waited_for_again(self) -> None:
        """After two time-outs without computing, a submission may still compute as long as ever, but not wait."""
        stage = Stage(loads(), fails("timeout"), loads(), fails("timeout"), loads(), answers())
        with session(stage) as begun:
            for part in "123":
                begun.begin(part, part)
                category_of(begun)
        waits = [allowed.clock_seconds for actor in stage.actors for allowed in actor.allowed[1:]]
        assert waits == pytest.approx([2.5, 2.5, 2.0])
        assert [actor.allowed[1].cpu_seconds for actor in stage.actors] == [0.5] * 3

    def test_sleeping_uses_up_the_whole_time(self) -> None:
        """The time for the whole is counted on the clock, whichever tests it goes to; none is left for the rest."""
        asleep = "import time\ndef one(seconds):\n    time.sleep(seconds)\n    return 1\n"
        with sandbox() as place, session(place, asleep, limits=Limits(), whole_seconds=3.0) as begun:
            assert begun.call(Call("one", args=[0.6])).value == 1
            begun.begin("2", "another test")
            with pytest.raises(StudentFailure) as caught:
                begun.call(Call("one", args=[2.6]))
            assert caught.value.fact == OUT_OF_TIME
            assert begun.time.is_up

    def test_the_end_of_a_process_gives_no_time_back(self) -> None:
        """A process that is ended computes a little for that, which does not excuse the time that it has waited."""

        def ends(request: Request) -> DoneReply:
            stage.actors[0].cpu += 0.02
            return fails("timeout", "no answer within 0 s")(request)

        stage = Stage(loads(), ends)
        with session(stage, whole_seconds=0.3) as begun:
            with pytest.raises(StudentFailure) as caught:
                call(begun)
            assert caught.value.fact == OUT_OF_TIME
            assert begun.time.is_up

    def test_the_end_of_the_whole_time_is_told_as_such(self) -> None:
        """A call that is cut off by it is not said to have been too slow."""
        stage = Stage(loads(), fails("timeout", "no answer within 0 s"))
        with session(stage, deadline=time.monotonic() - 1) as begun:
            assert begun.time.is_up
            with pytest.raises(StudentFailure) as caught:
                call(begun)
        assert caught.value.fact == OUT_OF_TIME


class TestSeed:
    """Random numbers of a test."""

    def test_the_first_call_of_a_test_brings_the_seed(self) -> None:
        """State is reset once for each test, before its first call, by a seed that is made of the test's id."""
        stage = Stage(loads(), *[answers()] * 4)
        with session(stage) as begun:
            call(begun)
            call(begun)
            begun.begin("1", "another test")
            call(begun)
            call(begun)
        seeds = [request.seed for request, _, _ in stage.actors[0].requests[1:]]
        assert seeds == [seed_of("a test"), None, seed_of("another test"), None]

    def test_a_new_process_is_seeded_wherever_it_starts(self) -> None:
        """A process that is started in the middle of a test begins with the test's seed, too."""
        stage = Stage(loads(), fails("crash"), loads(), answers())
        with session(stage) as begun:
            category_of(begun)
            call(begun)
        assert stage.actors[1].requests[1][0].seed == seed_of("a test")

    def test_is_the_same_for_ever(self) -> None:
        """The seed is made of the id and of nothing else, so that a regrade draws the same numbers."""
        assert seed_of("graders/x/test_hidden.py::test_scores[one]") == 146930488520435
        assert len({seed_of(str(number)) for number in range(1000)}) == 1000


class TestClose:
    """What is known at the end."""

    def test_adds_up_all_processes(self) -> None:
        """Time, leftovers and output of every process are counted."""
        with session(Stage(loads(), fails("crash"), loads(), answers())) as begun:
            category_of(begun)
            call(begun)
        assert (begun.cpu_seconds, begun.left_behind, begun.printed()) == (0.5, 2, ("out.out.", "err.err."))
