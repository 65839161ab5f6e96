"""Naming a mistake: all that fit are said, nothing that does not."""

import copy

import pytest
import torch

from softmark.verdict import (
    Category,
    Cause,
    Failed,
    Registry,
    TestContext,
    Verdict,
    activate,
    agree,
    collecting,
    combinations,
    common_causes,
    draw,
    expected,
    mistake,
    naming,
)  # fmt: skip
from softmark.verdict.expected import computed
from softmark.verdict.plant import planted
from tests.support import lecture as ref
from tests.support.catalogue import REGISTRY
from tests.support.students import InProcess, failure


def made(*names):
    """A student who made these mistakes: everything that builds on the spoilt functions is spoilt, too."""
    by_name = {mistake.name: mistake for mistake in REGISTRY.mistakes}
    plants = [(by_name[name].target, by_name[name].variant) for name in names]

    def student(function):
        def run(*args, **kwargs):
            with planted(plants):
                replaced = {id(target): variant for target, variant in plants}
                return replaced.get(id(function), function)(*args, **kwargs)

        return InProcess(run, getattr(function, "__name__", "module"))

    return student


def names(verdict):
    return [cause.mistakes for cause in verdict.causes]


def qkv(batch=(), n=5, m=7):
    return draw("batch n d", "batch m d", "batch m e", batch=batch, n=n, m=m, d=3, e=4)


def row_sums(Q, K, V):
    return ref.attention(Q, K, V)[0].sum(dim=-1)


def total(Q, K, V):
    return ref.attention(Q, K, V)[0].sum().item()


@pytest.fixture
def case(request):
    with activate(TestContext(id=request.node.nodeid, seed=3, mistakes=REGISTRY)) as case:
        yield case


@pytest.fixture
def runs(monkeypatch):
    """The mistakes that are run, by their names."""
    made, really_run = [], combinations.run

    def run(wanted, plants):
        made.append(tuple(variant.__name__ for _, variant in plants))
        return really_run(wanted, plants)

    monkeypatch.setattr(combinations, "run", run)
    return made


class TestSingleMistakes:
    """One registered mistake, wherever it shows."""

    def test_of_the_function_itself(self, case):
        """The variant that gives the student's numbers is named in its own words."""
        verdict = failure(agree, made("no_scale")(ref.scores), ref.scores, *qkv()[:2])
        assert verdict.diagnosed
        assert verdict.causes == (
            Cause("no_scale", "Your scores are not scaled.", "Look at the width of the keys.", ("no_scale",)),
        )

    def test_of_a_function_that_it_calls(self, case):
        """Seen from attention, a mistake in scores is still that mistake, and known to be one of a callee."""
        verdict = failure(agree, made("no_scale")(ref.attention), ref.attention, *qkv())
        assert names(verdict) == [("no_scale",)]
        assert not verdict.causes[0].direct

    def test_through_a_function_of_the_tests(self, case):
        """A reference wrapped in the test's own lambda is looked through."""
        q, k, _ = qkv()
        verdict = failure(
            agree, made("softmax_over_queries")(lambda x: ref.softmax_rows(x)), lambda x: ref.softmax_rows(x), q @ k.T
        )
        assert names(verdict) == [("softmax_over_queries",)]

    def test_by_its_shape(self, case):
        """An answer of another shape can be a named mistake, too."""
        verdict = failure(agree, made("keys_by_queries")(ref.scores), ref.scores, *qkv()[:2])
        assert verdict.category is Category.SHAPE
        assert names(verdict) == [("keys_by_queries",)]

    def test_by_its_order(self, case):
        """Two outputs in the other order."""
        assert names(failure(agree, made("weights_first")(ref.attention), ref.attention, *qkv())) == [
            ("weights_first",)
        ]

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
    def test_by_its_nan(self, case, dtype):
        """An overflow gives NaN at the same places, in the precision the student computed in."""
        S = draw("n m", n=4, m=5, dtype=dtype) * 60 + torch.tensor([0.0, 100.0, 0.0, 800.0], dtype=dtype).unsqueeze(-1)
        verdict = failure(agree, made("softmax_overflow")(ref.softmax_rows), ref.softmax_rows, S)
        assert verdict.category is Category.NAN
        assert names(verdict) == [("softmax_overflow",)]

    def test_in_float32_answers(self, case):
        """A student who computes in float32 is told the same."""
        wrong = InProcess(lambda Q, K: Q.float() @ K.float().T)
        assert names(failure(agree, wrong, ref.scores, *qkv()[:2])) == [("no_scale",)]

    def test_keyword_arguments(self, case):
        """Variants get keyword arguments as they were given."""
        q, k, v = qkv()
        mask = torch.ones(5, 7).tril(1).bool()
        verdict = failure(agree, made("inverted_mask")(ref.attention), ref.attention, q, k, V=v, mask=mask)
        assert names(verdict) == [("inverted_mask",)]


class TestModules:
    """Mistakes in methods, in helpers and in whole classes, with the module's own weights."""

    @pytest.mark.parametrize("name", ["module_without_mask", "module_with_exchanged_weights", "BiasTwice"])
    @pytest.mark.parametrize("bound", [False, True], ids=["module", "method"])
    def test_are_named(self, case, name, bound):
        """The state is copied, so that what a variant does to it has no consequence."""
        torch.manual_seed(1)
        ours = ref.SelfAttention(4).double()
        theirs = ref.SelfAttention(4).double()
        theirs.load_state_dict(ours.state_dict())
        by_name = {mistake.name: mistake for mistake in REGISTRY.mistakes}
        if name == "BiasTwice":
            theirs.__class__ = by_name[name].variant
            student = InProcess(theirs)
        else:
            student = made(name)(theirs)
        mask = torch.ones(5, 5).tril().bool()
        want = ours.forward if bound else ours
        verdict = failure(agree, student, want, draw("n d", n=5, d=4), mask)
        assert names(verdict) == [(name,)]
        assert type(ours) is ref.SelfAttention

    def test_may_change_after_a_check(self, case):
        """A check asks nothing of a later state of its module, also if the module holds a function."""
        ours, x = ref.SelfAttention(4).double(), draw("n d", n=5, d=4)
        ours.activation = torch.tanh
        agree(made("module_without_mask")(ours), ours, x)
        student = made("module_without_mask")(copy.deepcopy(ours))
        verdict = failure(agree, student, copy.deepcopy(ours), x, torch.ones(5, 5).tril().bool())
        ours.float()
        causes = common_causes([verdict], case.checks, REGISTRY)
        assert [cause.mistakes for cause in causes] == [("module_without_mask",)]


class TestPairs:
    """Two mistakes made together are found when none alone fits."""

    def test_in_two_functions(self, case):
        """Both are said, in one cause."""
        q, k, v = qkv()
        mask = torch.ones(5, 7).tril(1).bool()
        verdict = failure(agree, made("no_scale", "inverted_mask")(ref.attention), ref.attention, q, k, v, mask)
        assert names(verdict) == [("no_scale", "inverted_mask")]
        assert verdict.causes[0].says == "Your scores are not scaled. Your mask is inverted."

    def test_of_the_function_and_its_callee(self, case):
        """A mistake in attention itself with one in what it calls."""
        verdict = failure(agree, made("keys_as_values", "scale_without_root")(ref.attention), ref.attention, *qkv())
        assert sorted(names(verdict)[0]) == ["keys_as_values", "scale_without_root"]

    def test_a_pairs_worth_is_that_of_both(self, case):
        """Partial marks multiply: one mistake worth nothing makes the pair worth nothing."""
        verdict = failure(agree, made("keys_as_values", "scale_without_root")(ref.attention), ref.attention, *qkv())
        assert verdict.causes[0].worth == 0

    def test_a_few_numbers_are_explained_by_no_pair(self, case):
        """Among thousands of pairs one fits a single number by chance, so only a mistake alone is told there."""
        inputs = qkv()
        of_both = made("keys_as_values", "scale_without_root")
        assert names(failure(agree, of_both(row_sums), row_sums, *inputs)) != []
        assert names(failure(agree, of_both(total), total, *inputs)) == []
        assert names(failure(agree, made("keys_as_values")(total), total, *inputs)) != []

    def test_a_known_pair_is_tried_first(self, case, runs):
        """The next wrong answer of the part is explained by the pair that explained the last one. No other is run."""
        student = made("no_scale", "inverted_mask")(ref.attention)
        first, second = (
            failure(agree, student, ref.attention, *qkv(n=n, m=7), torch.ones(n, 7).tril(1).bool()) for n in (5, 6)
        )
        assert names(first) == names(second) == [("no_scale", "inverted_mask")]
        pairs_of_first, pairs_of_second = self.pairs_run(runs)
        assert len(pairs_of_first) > 1
        assert len(pairs_of_second) == 1

    def test_after_an_unexplained_answer_no_pair_is_tried(self, case, runs):
        """No pair explains the part then. A mistake alone may still explain another test of it."""
        unknown = InProcess(lambda *inputs: tuple(1.01 * output for output in ref.attention(*inputs)))
        failure(agree, unknown, ref.attention, *qkv())
        assert any(len(variants) > 1 for variants in runs)
        runs.clear()
        assert names(failure(agree, unknown, ref.attention, *qkv(n=6))) == []
        assert names(failure(agree, made("keys_as_values")(ref.attention), ref.attention, *qkv(n=4))) != []
        assert not any(len(variants) > 1 for variants in runs)

    def pairs_run(self, runs):
        """Return the pairs that were run for the first and for the second answer: each begins with single mistakes."""
        answers, before = [], 2
        for variants in runs:
            if len(variants) == 1 and before > 1:
                answers.append([])
            if len(variants) > 1:
                answers[-1].append(variants)
            before = len(variants)
        return answers


class TestCost:
    """Mistakes are run once for all submissions, and disturb nothing."""

    def test_not_asked_for(self):
        """Where no names are wanted nothing is tried, and the verdict does not claim that nothing fits."""
        with activate(TestContext(mistakes=REGISTRY, naming=False)):
            verdict = failure(agree, made("no_scale")(ref.scores), ref.scores, *qkv()[:2])
        assert verdict.causes == ()
        assert not verdict.diagnosed

    def test_the_second_wrong_answer_runs_no_variant_that_does_not_fit(self, case, runs):
        """What the mistakes make of a test's inputs is found out once, and the names are the same."""
        inputs = qkv()[:2]
        first = failure(agree, made("no_scale")(ref.scores), ref.scores, *inputs)
        assert len(runs) > 2
        runs.clear()
        again = failure(agree, made("no_scale")(ref.scores), ref.scores, *inputs)
        other = failure(agree, made("scale_without_root")(ref.scores), ref.scores, *inputs)
        assert names(again) == names(first) == [("no_scale",)]
        assert names(other) == [("scale_without_root",)]
        assert runs == [("no_scale",), ("scale_without_root",)]

    def test_pairs_are_kept_as_well(self, case, runs):
        """An answer that nothing explains runs each pair once; the next such answer runs nothing."""
        inputs = qkv()
        for factor in (1.01, 1.02):
            runs.clear()
            unknown = InProcess(lambda *args, factor=factor: tuple(part * factor for part in ref.attention(*args)))
            verdict = failure(agree, unknown, ref.attention, *inputs)
            assert verdict.diagnosed
            assert names(verdict) == []
            if factor == 1.01:
                assert sum(len(run) == 2 for run in runs) > 10
        assert runs == []

    def test_the_mistakes_of_a_function_are_looked_up_once(self, case, monkeypatch):
        """Which mistakes could matter to a check depends on the reference alone."""
        looked, really_look = [], naming._suspects
        monkeypatch.setattr(naming, "_suspects", lambda *which: looked.append(which) or really_look(*which))
        naming._suspects_of_function.cache_clear()
        for size in (3, 4, 5):
            verdict = failure(agree, made("no_scale")(ref.scores), ref.scores, *qkv((size,))[:2])
            assert names(verdict) == [("no_scale",)]
        assert len(looked) == 1

    def test_without_slips_no_answer_is_looked_at_for_them(self, case, monkeypatch):
        """An answer is compared with the mistakes of a check once, and not once more for earlier parts without any."""
        looked, really_look = [], combinations._near
        monkeypatch.setattr(combinations, "_near", lambda *which: looked.append(which) or really_look(*which))
        failure(agree, made("no_scale")(ref.scores), ref.scores, *qkv()[:2])
        assert len(looked) == 1
        case.slips = tuple(REGISTRY.mistakes)
        agree(made("no_scale")(ref.scores), ref.scores, *qkv()[:2])
        assert len(looked) == 2

    def test_modules_with_the_same_weights_share_what_is_kept(self, case, runs):
        """The reference is another object for every submission: its class and its weights tell that it is the same."""
        x = draw("n d", n=5, d=4)
        for factor in (1.01, 1.02):
            runs.clear()
            torch.manual_seed(1)
            ours = ref.SelfAttention(4).double()
            unknown = InProcess(lambda x, ours=ours, factor=factor: ours(x) * factor)
            assert names(failure(agree, unknown, ours, x)) == []
        assert runs == []
        with torch.no_grad():
            ours.W_Q.mul_(2)
        failure(agree, unknown, ours, x)
        assert runs

    @pytest.mark.parametrize("share", [0.0, 1e-5])
    def test_without_memory_names_are_found_again(self, case, runs, monkeypatch, share):
        """Where there is no room for answers, mistakes are run again for each wrong answer, and no name is lost."""
        monkeypatch.setattr(expected, "FOR_ANSWERS", share)
        inputs = draw("batch n d", "batch m d", "batch m e", batch=(2,), n=4, m=6, d=3, e=4)
        for _ in range(2):
            runs.clear()
            pair = failure(agree, made("keys_as_values", "scale_without_root")(ref.attention), ref.attention, *inputs)
            assert sorted(names(pair)[0]) == ["keys_as_values", "scale_without_root"]
            one = failure(agree, made("weights_first")(ref.attention), ref.attention, *inputs)
            assert names(one) == [("weights_first",)]
        assert len(runs) > 20

    def test_what_is_kept_is_bounded(self, case, monkeypatch):
        """However many checks there are, what is kept of them and of their mistakes takes no more than the bound."""
        monkeypatch.setattr(expected, "MOST_BYTES", 400_000)
        for size in range(2, 30):
            failure(agree, made("no_scale")(ref.scores), ref.scores, *qkv((size,))[:2])
        assert 100_000 < expected.bytes_kept() <= 400_000

    def test_each_mistake_has_time_of_its_own(self, case):
        """A mistake may loop for ever, so what ends it is told before each of them."""
        begun = []
        case.before_mistake = lambda: begun.append(True)
        failure(agree, made("no_scale")(ref.scores), ref.scores, *qkv((3, 1))[:2])
        assert len(begun) > 2

    def test_right_answers_pay_nothing(self, case, runs):
        """No variant runs for a right answer."""
        agree(InProcess(ref.scores), ref.scores, *qkv()[:2])
        assert runs == []

    def test_reference_and_randomness_are_as_before(self, case):
        """The reference's own functions are back in place, and the global generator has not moved."""
        before, state = ref.scores, torch.get_rng_state()
        failure(agree, made("no_scale")(ref.attention), ref.attention, *qkv())
        assert ref.scores is before
        assert torch.equal(torch.get_rng_state(), state)

    def test_a_mistake_that_changes_its_inputs_spoils_no_other(self):
        """Variants that write into their inputs are tried on copies: the mistakes after them are named as ever."""
        registry = Registry()
        with collecting(registry):

            @mistake(ref.scores, says="In place.")
            def in_place(Q, K):
                Q.zero_()
                return Q @ K.mul_(3.0).transpose(-1, -2) + 1

            @mistake(ref.scores, says="Not scaled.")
            def unscaled(Q, K):
                return Q @ K.transpose(-1, -2)

        inputs = qkv()[:2]
        with activate(TestContext(id="in place", seed=3, mistakes=registry)):
            for _ in range(2):
                verdict = failure(agree, InProcess(lambda Q, K: Q @ K.T), ref.scores, *inputs)
                assert names(verdict) == [("unscaled",)]
            agree(InProcess(ref.scores), ref.scores, *inputs)

    def test_a_random_mistake_is_named_whatever_was_drawn_before(self):
        """A variant draws the same numbers in each run. So the same answer has the same name today and tomorrow."""
        registry = Registry()
        with collecting(registry):

            @mistake(ref.scores, says="Noisy.")
            def noisy(Q, K):
                return Q @ K.mT + torch.rand(Q.shape[-2], K.shape[-2]).round()

        inputs = qkv(n=9, m=9)[:2]
        answer = combinations.run(computed(ref.scores, inputs, {}), [(ref.scores, noisy)])
        for drawn_before in range(3):
            torch.rand(drawn_before)
            with activate(TestContext(id="random", seed=3, mistakes=registry)):
                verdict = failure(agree, InProcess(lambda Q, K: answer), ref.scores, *inputs)
            assert names(verdict) == [("noisy",)]

    def test_categories_without_a_value_are_not_diagnosed(self, case):
        """An exception or a wrong dtype is no evidence for or against a mistake."""
        verdict = failure(agree, InProcess(lambda Q, K: (Q @ K.T).half()), ref.scores, *qkv()[:2])
        assert verdict.category is Category.DTYPE
        assert not verdict.diagnosed


class TestCommonCauses:
    """A test names a mistake only if it explains every failing case."""

    def verdicts(self, function, want, *inputs):
        found = []
        with activate(TestContext(mistakes=REGISTRY)) as case:
            for args in inputs:
                try:
                    agree(function, want, *args)
                except Failed as failed:
                    found.append(failed.verdict)
        return found, case.checks

    def test_one_for_all(self):
        """The same mistake in each case is the cause of the test."""
        verdicts, _ = self.verdicts(made("no_scale")(ref.scores), ref.scores, qkv()[:2], qkv((2,))[:2])
        assert [cause.mistakes for cause in common_causes(verdicts)] == [("no_scale",)]

    def test_none_for_all(self):
        """Two cases that fail for two reasons have no common cause."""
        one, _ = self.verdicts(made("no_scale")(ref.scores), ref.scores, qkv()[:2])
        other, _ = self.verdicts(made("scale_without_root")(ref.scores), ref.scores, qkv()[:2])
        assert common_causes([*one, *other]) == ()

    def test_of_nothing(self):
        """Without a diagnosed verdict there is no cause; an exception in one case does not spoil the others."""
        error = Verdict(Category.ERROR, "raised ValueError")
        assert common_causes([]) == common_causes([error]) == ()
        verdicts, _ = self.verdicts(made("no_scale")(ref.scores), ref.scores, qkv()[:2])
        assert len(common_causes([error, *verdicts])) == 1

    def test_a_pair_holds_where_its_half_does(self):
        """Where one of two mistakes has no effect, the other is named alone; over all cases it is the pair."""
        q, k, v = qkv()
        mask = torch.ones(5, 7).tril(1).bool()
        spoilt = made("no_scale", "inverted_mask")(ref.attention)
        verdicts, _ = self.verdicts(spoilt, ref.attention, (q, k, v), (q, k, v, mask))
        assert [names(verdict) for verdict in verdicts] == [[("no_scale",)], [("no_scale", "inverted_mask")]]
        assert [cause.mistakes for cause in common_causes(verdicts)] == [("no_scale", "inverted_mask")]

    def test_two_that_fit_equally_are_both_said(self):
        """Where scores are spread, small fill values cannot be told apart."""
        S, mask = torch.where(torch.eye(4).bool(), -300.0, 0.0) + draw("n n", n=4), torch.eye(4).bool()
        verdicts, _ = self.verdicts(made("fill_hundred")(ref.masked_softmax), ref.masked_softmax, (S, mask))
        assert [cause.mistakes for cause in common_causes(verdicts)] == [("fill_ten",), ("fill_hundred",)]

    def test_what_the_student_passed_is_evidence(self):
        """A fill value of -10 would have failed the ordinary case, which was passed: only -100 is left."""
        spread, mask = torch.where(torch.eye(4).bool(), -300.0, 0.0) + draw("n n", n=4), torch.eye(4).bool()
        ordinary = draw("n n", n=4)
        verdicts, checks = self.verdicts(
            made("fill_hundred")(ref.masked_softmax), ref.masked_softmax, (spread, mask), (ordinary, mask)
        )
        assert [check.category for check in checks] == [Category.VALUE, None]
        assert [c.mistakes for c in common_causes(verdicts, checks, REGISTRY)] == [("fill_hundred",)]

    def test_an_excused_check_is_no_evidence_against_an_earlier_slip(self):
        """What passed with an earlier part right contradicts the mistakes of this part alone."""
        q, k, v = qkv()
        mask = torch.ones(5, 7).tril(1).bool()
        both, right = made("no_scale", "inverted_mask")(ref.attention), InProcess(ref.attention, "attention")
        verdicts, checks = self.verdicts(both, ref.attention, (q, k, v, mask))
        slips = [slip for slip in REGISTRY.mistakes if slip.name == "no_scale"]
        for inputs, expected_names in ((q, k, v), [("no_scale", "inverted_mask")]), ((q, k, v, mask), []):
            _, excused = self.verdicts(right, ref.attention, inputs)
            found = common_causes(verdicts, checks, REGISTRY, (), excused, slips)
            assert [cause.mistakes for cause in found] == expected_names

    def common(self, function, want, *inputs):
        """The names over all of these questions, with all that is known of them."""
        found, raised = [], []
        with activate(TestContext(mistakes=REGISTRY)) as case:
            for args in inputs:
                try:
                    agree(function, want, *args)
                except Failed as failed:
                    found.append(failed.verdict)
            raised = case.raised
        return [
            [cause.mistakes for cause in common_causes([verdict], case.checks, REGISTRY, raised)] for verdict in found
        ]

    def test_a_failed_check_that_it_does_not_explain_is_evidence(self):
        """What is not scaled at one size only, and wrong otherwise at the others, is not a missing scale."""

        def wrong(Q, K):
            return ref.scores(Q, K) * (K.shape[-1] ** 0.5 if K.shape[-2] == 6 else 1.01)

        sizes = draw("n d", "m d", n=4, m=6, d=3), draw("n d", "m d", n=4, m=5, d=3)
        assert self.common(InProcess(wrong), ref.scores, sizes[0]) == [[("no_scale",)]]
        assert self.common(InProcess(wrong), ref.scores, *sizes) == [[], []]

    def test_a_failed_check_in_which_it_does_nothing_is_no_evidence(self):
        """Keys of zeros need no scale, so what is wrong there says nothing against a missing scale."""
        spoilt = made("no_scale")(ref.scores)

        def wrong(Q, K):
            return spoilt(Q, K) if bool(K.any()) else torch.ones(4, 6).double()

        q, k = draw("n d", "m d", n=4, m=6, d=3)
        assert self.common(InProcess(wrong), ref.scores, (q, k), (q, k * 0)) == [[("no_scale",)], []]

    def test_a_crash_at_one_size_silences_no_name_at_the_others(self):
        """Code that raises at one size for a reason of its own is told its mistake at all other sizes."""

        def wrong(Q, K):
            if K.shape[-1] % 2:
                raise ValueError("odd")
            return Q @ K.transpose(-1, -2)

        def sizes(*widths):
            return [draw("n d", "m d", n=4, m=6, d=d) for d in widths]

        crash = []
        assert self.common(InProcess(wrong), ref.scores, *sizes(2, 3, 8)) == [[("no_scale",)], crash, [("no_scale",)]]
        assert self.common(InProcess(wrong), ref.scores, *sizes(2, 3)) == [[], crash]  # one question is too little

    def test_own_mistakes_go_first(self):
        """A mistake of the function itself stands before one of a function it calls."""
        near, far = Cause("near", "Near.", mistakes=("near",)), Cause("far", "Far.", mistakes=("far",), direct=False)
        verdict = Verdict(Category.VALUE, "wrong", causes=(far, near), diagnosed=True)
        assert common_causes([verdict]) == (near, far)
