"""Registering mistakes: what does not fit is refused, with the file and the line it stands on."""

import math
import re

import pytest

from softmark.verdict import MistakeError, Registry, collecting, equivalent, mistake
from tests.support import lecture as ref


@pytest.fixture
def registry():
    with collecting(Registry()) as registry:
        yield registry


class TestRegistering:
    """Decorated variants are kept in order, and stay what they are."""

    def test_keeps_what_was_said(self, registry):
        """The entry has the words, the target, the file and the line of the decorator."""

        @mistake(ref.scores, says="Not scaled.", hint="Width?", id="S01", worth=0.25)
        def no_scale(Q, K):
            return Q @ K.mT

        entry = registry.mistakes[0]
        assert (entry.name, entry.says, entry.hint, entry.id, entry.worth) == (
            "no_scale", "Not scaled.", "Width?", "S01", 0.25,
        )  # fmt: skip
        assert entry.variant is no_scale
        assert entry.target_name == "scores"
        assert entry.file == __file__
        assert entry.line == no_scale.__code__.co_firstlineno
        assert registry.for_target(ref.scores) == [entry]

    def test_equivalents_have_their_own_list(self, registry):
        """An equivalent is no mistake."""

        @equivalent(ref.scores)
        def by_matmul(Q, K):
            return Q.matmul(K.mT) / K.shape[-1] ** 0.5

        assert registry.mistakes == []
        assert registry.equivalents[0].name == "by_matmul"

    def test_methods_and_classes(self, registry):
        """A method and a whole class may be replaced; annotations need not agree."""

        @mistake(ref.SelfAttention.forward, says="No mask.")
        def forward(self, X, mask=None):
            return X

        @mistake(ref.SelfAttention, says="Another class.")
        class Another(ref.SelfAttention):
            def project(self, X: object) -> object:
                return X

        assert [entry.target_name for entry in registry.mistakes] == ["SelfAttention.forward", "SelfAttention"]
        assert registry.mistakes[1].line > registry.mistakes[0].line > 1

    def test_registries_do_not_mix(self, registry):
        """What one homework registers is not seen by another."""
        with collecting(Registry()) as other:

            @mistake(ref.scores, says="Here.")
            def here(Q, K):
                return Q

        assert registry.mistakes == []
        assert len(other.mistakes) == 1


class TestRefusals:
    """Every refusal names the file, the line, the entry and the reason."""

    def refused(self, register, reason):
        with pytest.raises(MistakeError) as caught:
            register()
        text = str(caught.value)
        assert re.match(rf"{re.escape(__file__)}:\d+: \w+: ", text)
        assert reason in text

    @pytest.mark.parametrize(
        ("variant", "shown"),
        [
            (lambda Q: Q, "(Q)"),
            (lambda K, Q: Q, "(K, Q)"),
            (lambda Q, K, scale=1: Q, "(Q, K, scale=1)"),
            (lambda *args: args, "(*args)"),
            (lambda Q, K=None: Q, "(Q, K=None)"),
        ],
    )
    def test_another_signature(self, registry, variant, shown):
        """Names, order, defaults: the variant is called exactly as the function is."""
        variant.__name__ = "variant"
        self.refused(lambda: mistake(ref.scores, says="x")(variant), f"its signature {shown} does not fit scores(Q, K)")

    def test_another_signature_of_a_method_in_a_class(self, registry):
        """The methods of a class's variant fit one by one."""

        class Variant(ref.SelfAttention):
            def project(self, X, Y):
                return X

        self.refused(lambda: mistake(ref.SelfAttention, says="x")(Variant), "its signature (self, X, Y) does not fit")

    def test_a_duplicate_name(self, registry):
        """Two variants of one name cannot be told apart in a report; the message says where the other one is."""

        def twice(Q, K):
            return Q

        mistake(ref.scores, says="x")(twice)
        self.refused(lambda: mistake(ref.scores, says="y")(twice), f"the name is taken by {__file__}:")
        self.refused(lambda: equivalent(ref.scores)(twice), "the name is taken by")

    @pytest.mark.parametrize("worth", [math.nan, -0.1, 1, 1.5, math.inf, "half", None, True])
    def test_an_impossible_worth(self, registry, worth):
        """A mistake is worth at least nothing and less than everything."""

        def variant(Q, K):
            return Q

        self.refused(lambda: mistake(ref.scores, says="x", worth=worth)(variant), "worth is")

    @pytest.mark.parametrize("says", ["", "  ", None])
    def test_no_words(self, registry, says):
        """A mistake without a name in words helps nobody."""

        def variant(Q, K):
            return Q

        self.refused(lambda: mistake(ref.scores, says=says)(variant), "says is empty")

    def test_what_cannot_be_replaced(self, registry):
        """Builtins, local functions and instances are no targets."""

        def local(Q, K):
            return Q

        self.refused(lambda: mistake(local, says="x")(local), "is local to a function")
        self.refused(lambda: mistake(math.sqrt, says="x")(local), "not a reference function, method or class")
        self.refused(lambda: mistake(ref.SelfAttention, says="x")(local), "must both be classes or both be functions")
