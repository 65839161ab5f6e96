"""What each reader is told."""

from collections.abc import Iterable

import msgspec
import pytest

from softmark.feedback.documents import as_lines
from softmark.feedback.feedback import Audience, Feedback, Sentence, Tone, blocks_of_test, feedback_for, headline
from softmark.records.result import CaseResult, Excerpt, Lateness, Outcome, Result, Status, Submission
from softmark.records.verdict import Category, Cause, Code, CodeLine, Picture, Verdict
from tests.support.results import (
    HIDDEN_NUMBER,
    SPECS,
    STAFF_SECRET,
    TEST_HIDDEN_BY,
    WRONG_SCALE,
    WRONG_SHAPE,
    failed,
    graded,
    not_gradable,
    passed,
    second_zero,
    with_cases,
)


def text_of(told: Feedback) -> str:
    sections = (as_lines(section.blocks) for section in told.sections)
    return "\n".join([as_lines(told.headline), *sections, as_lines(told.notes), *remarks(told)])


def remarks(told: Feedback) -> list[str]:
    return [part.remark for part in told.parts]


def section(told: Feedback, number: str) -> str:
    (found,) = [section for section in told.sections if section.number == number]
    return as_lines(found.blocks)


class TestStudent:
    def test_reads_fact_place_cause_hint_and_line(self) -> None:
        """A failure is told as what happened, where, why, what to look at, and the student's own line."""
        assert section(feedback_for(graded(), Audience.STUDENT), "2.1").splitlines() == [
            "2 of 3 cases: all 35 numbers are wrong",
            f"worst at [2, 3]: got {HIDDEN_NUMBER}, expected 1.7",
            "Most likely: Your scores are √d_k times too large.",
            "Hint: Divide by the square root of the key's width.",
            "attention_scores.py:41: return Q @ K.mT",
            "The same in: 2.2 (0 of 2)",
        ]

    def test_sees_no_number_of_a_test_that_is_not_visible(self) -> None:
        """Shown after publication, a test tells fact and cause, but neither hidden numbers nor a picture."""
        visible, published = graded().tests[1:3]
        assert HIDDEN_NUMBER in as_lines(blocks_of_test(visible, Audience.STUDENT))
        told = blocks_of_test(published, Audience.STUDENT)
        assert HIDDEN_NUMBER not in as_lines(told)
        assert not any(isinstance(block, Picture) for block in told)
        assert "√d_k times too large" in as_lines(told)

    def test_does_not_read_of_hidden_tests(self) -> None:
        """A hidden test is not described; that there is one is said."""
        told = feedback_for(graded(), Audience.STUDENT)
        assert "3.1" not in {section.number for section in told.sections}
        assert "1 test is not shown here." in as_lines(told.notes)

    def test_reads_the_text_that_hides_errors(self) -> None:
        """A test that hides its errors says the instructor's sentence and nothing else."""
        assert section(feedback_for(graded(), Audience.STUDENT), "3.2") == TEST_HIDDEN_BY

    @pytest.mark.parametrize(
        "cases",
        [
            (failed("", WRONG_SHAPE),),
            (CaseResult(id="", outcome=Outcome.GRADER_ERROR, verdicts=(WRONG_SHAPE,)),),
        ],
        ids=["failed", "grader error"],
    )
    def test_is_told_nothing_else_by_a_test_that_hides_errors(self, cases: tuple[CaseResult, ...]) -> None:
        """However such a test ends, the fact stays hidden."""
        test = with_cases(second_zero(), 4, *cases).tests[4]
        assert "shape" not in as_lines(blocks_of_test(test, Audience.STUDENT))

    def test_reads_nothing_meant_for_staff(self) -> None:
        """Seeds, staff notes and captured output reach no student."""
        text = text_of(feedback_for(graded(), Audience.STUDENT))
        assert STAFF_SECRET not in text
        assert "left behind" not in text
        assert "printed by the student" not in text


class TestStaff:
    def test_reads_everything(self) -> None:
        """Staff see hidden tests, numbers, seeds, notes and what was printed."""
        told = feedback_for(graded(), Audience.STAFF)
        text = text_of(told)
        assert {section.number for section in told.sections} == {"2.1", "3.1"}
        assert "The same in: 2.2 (0 of 2)" in section(told, "2.1")
        assert HIDDEN_NUMBER in section(told, "2.1")
        assert "shape (3, 5), expected (5, 3)" in section(told, "3.1")
        for expected in ("one process was left behind", "printed by the student"):
            assert expected in text

    def test_reads_seeds_where_the_grader_may_be_at_fault_only(self) -> None:
        """What a verdict says to staff is shown for crashes and faults of the grader; elsewhere it is noise."""
        assert STAFF_SECRET not in text_of(feedback_for(graded(), Audience.STAFF))
        fault = msgspec.structs.replace(WRONG_SHAPE, category=Category.GRADER, staff=STAFF_SECRET)
        case = CaseResult(id="", outcome=Outcome.GRADER_ERROR, verdicts=(fault,))
        test = with_cases(second_zero(), 3, case).tests[3]
        assert STAFF_SECRET in as_lines(blocks_of_test(test, Audience.STAFF))
        assert STAFF_SECRET not in as_lines(blocks_of_test(test, Audience.STUDENT))


class TestLate:
    def test_note_on_its_times_is_for_staff(self) -> None:
        """What was assumed about times is for staff; the line is for both."""
        lateness = Lateness(line="Handed in late.", staff_note="no time zone")
        result = msgspec.structs.replace(graded(), lateness=lateness)
        for audience in Audience:
            told = feedback_for(result, audience)
            assert told.changes == ("Handed in late.",)
            assert ("no time zone" in as_lines(told.notes)) == (audience is Audience.STAFF)


class TestParts:
    def test_remark_is_the_cause(self) -> None:
        """The table of parts says the one thing most worth knowing about each."""
        assert remarks(feedback_for(graded(), Audience.STUDENT)) == [
            "",
            "Your scores are √d_k times too large.",
            TEST_HIDDEN_BY,
        ]

    def test_not_run_yet(self) -> None:
        """Before anything ran, each part says so, and no test is described."""
        told = feedback_for(second_zero(), Audience.STUDENT)
        assert remarks(told) == ["not run yet"] * 3
        assert told.sections == ()


FRAMES = tuple(CodeLine(file="hw.py", line=line, function="", text=f"call({line})") for line in (40, 30, 20, 10))
INNERMOST = ["hw.py:20: call(20)", "hw.py:10: call(10)"]


class TestHeadline:
    def test_one_reason_for_a_file_that_cannot_be_loaded(self) -> None:
        """The reason stands once at the top with the student's line; no test repeats it."""
        told = feedback_for(not_gradable(), Audience.STUDENT)
        assert as_lines(told.headline).splitlines() == [
            "attention_scores.py could not be loaded: '(' was never closed",
            "attention_scores.py:12: softmax(Q @ K.T",
        ]
        assert told.sections == ()
        assert remarks(told) == ["", "", ""]

    def test_of_many_lines_the_innermost_are_quoted(self) -> None:
        """The last two of the student's own lines are nearest to what is wrong."""
        told = feedback_for(msgspec.structs.replace(not_gradable(), reason_frames=FRAMES), Audience.STUDENT)
        assert as_lines(told.headline).splitlines()[1:] == INNERMOST

    def test_a_grader_error_is_not_the_students(self) -> None:
        """When the grader failed, the first sentence says whose fault it is."""
        result = msgspec.structs.replace(graded(), status=Status.GRADER_ERROR)
        assert "not your fault" in as_lines(feedback_for(result, Audience.STUDENT).headline)

    @pytest.mark.parametrize("status", Status)
    @pytest.mark.parametrize("kept", [0.0, 2.5])
    def test_says_what_became_of_the_submission(self, status: Status, kept: float) -> None:
        """A failure of the grader, the reason and an earlier mark are told in this order."""
        result = msgspec.structs.replace(graded(), status=status, kept=kept, reason="No file.")
        failed = "The grader itself failed. This is not your fault and not your mark; the staff can see why."
        assert [block.text for block in headline(result)] == [
            *([failed] if status is Status.GRADER_ERROR else []),
            "No file.",
            *(["The mark of your earlier attempt stands."] if kept else []),
        ]

    def test_all_well_says_nothing(self) -> None:
        """A graded submission has no headline."""
        assert feedback_for(graded(), Audience.STUDENT).headline == ()


def told_about(*verdicts: Verdict, **changes: object) -> list[str]:
    result = with_cases(second_zero(), 1, *(failed(case, v) for case, v in zip("abc", verdicts, strict=False)))
    test = msgspec.structs.replace(result.tests[1], **changes)
    return as_lines(blocks_of_test(test, Audience.STUDENT)).splitlines()


class TestSections:
    def test_the_same_in_several_tests_is_said_once(self) -> None:
        """Tests of one part that say the same again are named with their points; those of another part are not."""
        result = second_zero()
        for index, spec in enumerate(SPECS):
            result = with_cases(result, index, *(failed(case, WRONG_SHAPE) for case in spec.cases))
        result = msgspec.structs.replace(
            result, tests=tuple(msgspec.structs.replace(t, part="2", hide_errors=None) for t in result.tests)
        )
        (only,) = feedback_for(result, Audience.STAFF).sections
        assert only.number == "1.1"
        assert only.blocks[-1] == Sentence(
            Tone.NOTE, "2.1 (0 of 3), 2.2 (0 of 2), 3.1 (0 of 1), 3.2 (0 of 2)", "The same in"
        )
        apart = msgspec.structs.replace(result, tests=(result.tests[0], *graded().tests[1:]))
        assert "1.1" in [section.number for section in feedback_for(apart, Audience.STAFF).sections]

    def test_other_lines_are_another_thing(self) -> None:
        """The same fact in another line of the student's has a section of its own."""
        elsewhere = msgspec.structs.replace(WRONG_SHAPE, frames=FRAMES[:1])
        result = with_cases(second_zero(), 1, failed("a", WRONG_SHAPE))
        result = with_cases(result, 2, failed("", elsewhere))
        assert [section.number for section in feedback_for(result, Audience.STAFF).sections] == ["2.1", "2.2"]

    def test_one_line_each(self) -> None:
        """Titles, numbers and names are on one line, whatever an author wrote."""
        odd = "one\n\ttwo \x1b"
        result = graded()
        parts = tuple(msgspec.structs.replace(part, title=odd, number=f"{part.number}\n") for part in result.parts)
        tests = tuple(
            msgspec.structs.replace(test, title=odd, number=f"{test.number}\n", part=f"{test.part}\n")
            for test in result.tests
        )
        submission = msgspec.structs.replace(result.submission, name=odd)
        result = msgspec.structs.replace(result, title=odd, parts=parts, tests=tests, submission=submission)
        told = feedback_for(result, Audience.STAFF)
        assert {told.title, told.submission, *(one.title for one in (*told.parts, *told.sections))} == {"one two \\x1b"}
        assert [part.number for part in told.parts] == ["1", "2", "3"]
        assert [part.remark for part in told.parts] == [
            "",
            "Your scores are √d_k times too large.",
            "shape (3, 5), expected (5, 3)",
        ]
        assert [section.number for section in told.sections] == ["2.1", "3.1"]

    def test_name_of_the_submission(self) -> None:
        """It is the student's name, else that of the file, else the id."""
        names = {"name": "Ada", "file": "hw.py", "id": "s17"}
        for left in names:
            told = msgspec.structs.replace(graded(), submission=Submission(**{"id": "", **names}))
            assert feedback_for(told, Audience.STUDENT).submission == names[left]
            names = {**names, left: ""}

    def test_one_picture_of_a_test(self) -> None:
        """Of several wrong matrices, the first is drawn."""
        second = msgspec.structs.replace(WRONG_SCALE, fact="other numbers are wrong", causes=())
        result = with_cases(second_zero(), 1, failed("a", WRONG_SHAPE), failed("b", WRONG_SCALE), failed("c", second))
        blocks = blocks_of_test(result.tests[1], Audience.STUDENT)
        assert [block for block in blocks if isinstance(block, Picture)] == [WRONG_SCALE.picture]

    def test_place_of_the_first_failure(self) -> None:
        """Where failures say the same, the place is that of the first."""
        verdicts = [msgspec.structs.replace(WRONG_SHAPE, where=f"at [{n}]") for n in range(3)]
        assert told_about(*verdicts) == ["3 of 3 cases: shape (3, 5), expected (5, 3)", "at [0]"]

    def test_tests_not_shown(self) -> None:
        """Students are told how many there are."""
        tests = graded().tests
        for number, says in ((1, "1 test is not shown here."), (2, "2 tests are not shown here.")):
            hidden = (msgspec.structs.replace(test, visibility="hidden") for test in tests[:number])
            shown = (msgspec.structs.replace(test, visibility="visible") for test in tests[number:])
            result = msgspec.structs.replace(graded(), tests=(*hidden, *shown))
            assert feedback_for(result, Audience.STUDENT).notes[-1].text == says
            assert not any("not shown here" in note.text for note in feedback_for(result, Audience.STAFF).notes)

    def test_what_was_printed(self) -> None:
        """Staff read both streams, each by its name; white space alone is nothing."""
        result = msgspec.structs.replace(graded(), printed=Excerpt("out", "err"), staff_notes=(), notes=())
        notes = feedback_for(result, Audience.STAFF).notes
        assert [(note.lead, note.text) for note in notes] == [
            ("Printed to stdout", "out"),
            ("Printed to stderr", "err"),
        ]
        blank = msgspec.structs.replace(result, printed=Excerpt(" \n", "\n"))
        assert feedback_for(blank, Audience.STAFF).notes == ()


class TestBlocksOfTest:
    def test_fault_of_the_grader(self) -> None:
        """A test that the grader could not judge says that it is not the student's fault, also if errors are hidden."""
        fault = "The grader itself failed here. This is not your fault, and it does not count against you."
        case = CaseResult(id="", outcome=Outcome.GRADER_ERROR)
        for index in (2, 4):
            (block,) = blocks_of_test(with_cases(second_zero(), index, case).tests[index], Audience.STUDENT)
            assert block == Sentence(Tone.NOTE, fault)
        staff = msgspec.structs.replace(WRONG_SHAPE, category=Category.GRADER, staff="it broke")
        told = with_cases(second_zero(), 2, msgspec.structs.replace(case, verdicts=(staff,))).tests[2]
        assert as_lines(blocks_of_test(told, Audience.STAFF)).splitlines() == [WRONG_SHAPE.fact, "For staff: it broke"]

    def test_a_passed_test_that_hides_errors_says_nothing(self) -> None:
        """Its text is for failures."""
        test = with_cases(second_zero(), 4, passed()).tests[4]
        assert blocks_of_test(test, Audience.STUDENT) == ()

    def test_two_causes_that_fit_are_both_said(self) -> None:
        """If two mistakes explain the answer equally well, neither is asserted alone."""
        causes = (Cause(name="a", says="A."), Cause(name="b", says="B.", hint="H."))
        verdict = Verdict(category=Category.VALUE, fact="wrong", causes=causes)
        assert told_about(verdict)[1:] == ["Either: A.", "Or: B.", "Hint: H."]

    def test_causes_of_the_same_name_are_said_once(self) -> None:
        """The same words for a mistake in two functions leave nothing to choose from."""
        causes = (Cause(name="a", says="A.", hint="H."), Cause(name="b", says="A."))
        verdict = Verdict(category=Category.VALUE, fact="wrong", causes=causes)
        assert told_about(verdict)[1:] == ["Most likely: A.", "Hint: H."]

    def test_different_failures_are_told_apart(self) -> None:
        """Failures of different kinds are listed; the same one is said once, with the number of its cases."""
        lines = told_about(WRONG_SHAPE, WRONG_SCALE, WRONG_SHAPE)
        assert lines[0] == "2 of 3 cases: shape (3, 5), expected (5, 3)"
        assert lines[1].endswith("all 35 numbers are wrong")

    def test_the_same_fact_in_two_lines_is_told_twice(self) -> None:
        """Each of the student's lines has to be mended, so each is quoted."""
        first, second = (msgspec.structs.replace(WRONG_SHAPE, frames=(frame,)) for frame in FRAMES[:2])
        fact = "of 3 cases: shape (3, 5), expected (5, 3)"
        lines = told_about(first, second, first)
        assert lines == [f"2 {fact}", "hw.py:40: call(40)", f"1 {fact}", "hw.py:30: call(30)"]

    def test_the_same_failure_at_other_sizes_is_told_once(self) -> None:
        """How many values an answer has, and what sizes an exception speaks of, differ from case to case."""
        facts = "all 35 values are wrong", "104 of 105 values are wrong", "1 of 9 values is wrong"
        wrong = [Verdict(category=Category.VALUE, fact=fact) for fact in facts]
        assert told_about(*wrong) == ["3 of 3 cases: all 35 values are wrong"]
        raised = [
            Verdict(Category.ERROR, f"raised IndexError: of {n}", exception="IndexError", frames=FRAMES[:1])
            for n in range(2)
        ]
        assert told_about(*raised)[0] == "2 of 3 cases: raised IndexError: of 0"

    def test_several_subtests_that_say_the_same_are_a_number(self) -> None:
        """One of the subtests is not named in the place of all."""
        verdicts = [msgspec.structs.replace(WRONG_SHAPE, subtest=f"[{n}]") for n in range(3)]
        assert told_about(*verdicts) == ["3 times: shape (3, 5), expected (5, 3)"]

    @pytest.mark.parametrize(
        ("different", "rest"), [(3, []), (4, ["And 1 more failure."]), (5, ["And 2 more failures."])]
    )
    def test_many_failures_are_counted(self, different: int, rest: list[str]) -> None:
        """The first three different ones are told in their order, and the rest is a number."""
        verdicts = tuple(Verdict(category=Category.VALUE, fact=f"fact {i}") for i in range(different))
        result = with_cases(second_zero(), 1, failed("a", *verdicts), passed("b"), passed("c"))
        lines = as_lines(blocks_of_test(result.tests[1], Audience.STUDENT)).splitlines()
        assert lines == [*(f"1 of 3 cases: fact {i}" for i in range(3)), *rest]

    @pytest.mark.parametrize("audience", Audience)
    def test_of_many_lines_the_innermost_are_quoted(self, audience: Audience) -> None:
        """An exception that came through many functions is told with the line that raised it and the one before."""
        result = with_cases(second_zero(), 1, failed("a", msgspec.structs.replace(WRONG_SHAPE, frames=FRAMES)))
        assert as_lines(blocks_of_test(result.tests[1], audience)).splitlines()[1:] == INNERMOST

    def test_a_line_of_a_recursion_is_quoted_once(self) -> None:
        """An exception that came through one line again and again shows it once, with the other line before it."""
        frames = (FRAMES[2], *FRAMES[3:] * 6)
        result = with_cases(second_zero(), 1, failed("a", msgspec.structs.replace(WRONG_SHAPE, frames=frames)))
        assert as_lines(blocks_of_test(result.tests[1], Audience.STUDENT)).splitlines()[1:] == INNERMOST

    def test_names_the_subtest(self) -> None:
        """A failing subtest is named, so that it can be found."""
        verdict = msgspec.structs.replace(WRONG_SHAPE, subtest="[one token]")
        assert told_about(verdict)[0] == "[one token]: shape (3, 5), expected (5, 3)"

    def test_what_was_not_judged(self) -> None:
        """A test that passed without a judgement on devices says so, once for each function."""
        case = CaseResult(id="", outcome=Outcome.PASSED, share="1", unfollowed=("scores", "scores"))
        test = with_cases(second_zero(), 2, case).tests[2]
        assert (
            as_lines(blocks_of_test(test, Audience.STUDENT))
            == "Not judged: whether scores works on any device. This costs no marks."
        )

    def test_carried_error(self) -> None:
        """In an older result, right by the student's own earlier part is said, and by which."""
        case = CaseResult(id="", outcome=Outcome.PASSED, share="1", carried=("scores", "mask"))
        test = with_cases(second_zero(), 2, case).tests[2]
        (said,) = blocks_of_test(test, Audience.STUDENT)
        assert said == Sentence(
            Tone.NOTE, "Right, given your own scores and mask: the earlier mistake is not paid for twice."
        )

    @pytest.mark.parametrize(
        ("outcome", "excused", "said"),
        [
            ("passed", {"given": ("1",)}, "Right, given a correct part 1: the earlier mistake"),
            ("failed", {"given": ("1", "3")}, "Cases are right, given correct parts 1 and 3: the earlier"),
            (
                "passed",
                {"same_slip_as": ("1",)},
                "Right but for the same slip as in part 1, which has cost its marks there.",
            ),
        ],
    )
    def test_excused(self, outcome: str, excused: dict[str, tuple[str, ...]], said: str) -> None:
        """The feedback says which earlier part has paid for a slip already."""
        case = CaseResult(id="", outcome=Outcome(outcome), share="1", **excused)
        test = with_cases(second_zero(), 2, case).tests[2]
        texts = [block.text for block in blocks_of_test(test, Audience.STUDENT) if isinstance(block, Sentence)]
        assert any(text.startswith(said) for text in texts)

    def test_partial_credit(self) -> None:
        """A test that set a score of its own says how much, since nothing failed that could be told."""
        for share, credit in (("1/2", "1 of 2"), ("1/3", "0.67 of 2")):
            case = CaseResult(id="", outcome=Outcome.FAILED, share=share)
            test = with_cases(second_zero(), 0, case).tests[0]
            (said,) = blocks_of_test(test, Audience.STUDENT)
            assert isinstance(said, Sentence)
            assert said.text == f"This test gives partial credit: {credit}."

    def test_no_credit_at_all(self) -> None:
        """No credit is told for a test that gave nothing."""
        test = with_cases(second_zero(), 0, CaseResult(id="", outcome=Outcome.FAILED)).tests[0]
        assert blocks_of_test(test, Audience.STUDENT) == ()

    @pytest.mark.parametrize(("cases", "said"), [(1, False), (2, True)])
    def test_all_or_nothing(self, cases: int, said: bool) -> None:
        """The feedback says when one of several cases costs all points, and nothing for a single case."""
        graded_cases = (failed("a", WRONG_SHAPE), passed("b"))[:cases]
        test = with_cases(second_zero(), 1, *graded_cases, *map(passed, "bc"[cases - 1 :])).tests[1]
        test = msgspec.structs.replace(test, cases=test.cases[:cases], all_or_nothing=True)
        told = as_lines(blocks_of_test(test, Audience.STUDENT))
        assert ("All of its cases must be right to earn its points." in told) == said

    @pytest.mark.parametrize(
        ("category", "code", "read"),
        [
            (Category.TYPE, Code.NOT_PLAIN, True),
            (Category.FORBIDDEN, "", True),
            (Category.CRASH, "", True),
            (Category.GRADER, "", True),
            (Category.VALUE, "", False),
        ],
    )
    def test_words_for_staff(self, category: Category, code: str, read: bool) -> None:
        """Staff read what the worker said of a value that cannot be sent; students never do."""
        verdict = Verdict(category=category, fact="wrong", staff="a set cannot be sent", code=code)
        test = with_cases(second_zero(), 1, failed("a", verdict)).tests[1]
        assert ("For staff: a set cannot be sent" in as_lines(blocks_of_test(test, Audience.STAFF))) == read
        assert "a set" not in as_lines(blocks_of_test(test, Audience.STUDENT))

    def test_a_long_fact_leaves_room_for_the_cause(self) -> None:
        """A fact of any length is cut before it can push out the cause and the student's line."""
        lines = told_about(msgspec.structs.replace(WRONG_SCALE, fact="x" * 5000, where="y" * 5000))
        assert len("\n".join(lines)) < 2000
        assert "Most likely: Your scores are √d_k times too large." in lines
        assert lines[-1] == "attention_scores.py:41: return Q @ K.mT"


def every_text(results: Iterable[Result]) -> Iterable[str]:
    for result in results:
        for audience in Audience:
            yield text_of(feedback_for(result, audience))


def test_no_sentence_is_empty() -> None:
    """No renderer has to deal with an empty line of feedback."""
    for text in every_text([graded(), not_gradable(), second_zero()]):
        assert all(line.strip() for line in text.split("\n") if line)
