"""The sample class: every submission is graded, and what its docstring says about it is what it loses marks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from softmark.batch.one import grade_file
from softmark.course.homework import homework_names, load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.records.result import Result, Status
from tests.conftest import ROOT, STRONGEST

# Which parts keep full marks, and words that the feedback has.
EXPECTED = {
    "attention_scores/good": ("1234567", ""),
    "attention_scores/library": ("123457", "scaled_dot_product_attention, which is not allowed"),
    "attention_scores/mixed": ("1237", "Large scores overflow"),
    "attention_scores/no_root": ("246", "You divide by d_k itself"),
    "attention_scores/reads_files": ("", "there is no such file while grading"),
    "attention_scores/syntax_error": ("", "was never closed"),
    "building_blocks/flipped": ("2346", "You flip the kernel"),
    "building_blocks/good": ("1234567", ""),
    "building_blocks/library": ("1246", "torch.nn.functional.cross_entropy, which is not allowed"),
    "building_blocks/probabilities": ("1256", "You let the bias decay"),
    "building_blocks/searches": ("", "imports something that is not available here"),
    "building_blocks/syntax_error": ("", "is not indented"),
    "byte_pair_encoding/borrowed_time": ("", "needed more memory than it is allowed"),
    "byte_pair_encoding/characters": ("6", "changes its input in place: `word`"),
    "byte_pair_encoding/first_of_equals": ("123", "the work grows faster with the number of merges than it has to"),
    "byte_pair_encoding/good": ("1234567", ""),
    "byte_pair_encoding/in_a_notebook": ("36", "Digits and underscores belong to your words."),
    "byte_pair_encoding/syntax_error": ("", "expected ':'"),
    "cost_model/all_experts": ("", "A token meets the router, too"),
    "cost_model/equal_to_all": ("", "an instance of a subclass of another type"),
    "cost_model/flops": ("356", "Your multiply-adds are doubled"),
    "cost_model/good": ("123456", ""),
    "cost_model/in_a_notebook": ("4", "You keep the weights of one head only."),
    "cost_model/syntax_error": ("", "was never closed"),
    "language_model/good": ("1234567", ""),
    "language_model/in_a_notebook": ("12457", "Your blocks are post-norm: PyTorch's default."),
    "language_model/leaky": ("1247", "Your model sees the future: its blocks get no mask."),
    "language_model/remembers": ("", "LanguageModel"),
    "language_model/shifted_twice": ("1567", "You multiply by the temperature"),
    "language_model/syntax_error": ("", "was never closed"),
    "lstm_gates/always_equal": ("", "a subclass of torch.Tensor"),
    "lstm_gates/forgetful": ("2", "You left out the forget gate"),
    "lstm_gates/gate_order": ("1345", "You read the blocks in the order i, f, o, g"),
    "lstm_gates/good": ("1234567", ""),
    "lstm_gates/other_machine": ("2", "my_course_helpers"),
    "lstm_gates/wrapped": ("123", "torch.nn.LSTM, which is not allowed"),
    "multi_head/full_width": ("125", "You scale with the width of all heads together"),
    "multi_head/good": ("12345", ""),
    "multi_head/leaves": ("", "ended the process"),
    "multi_head/loops": ("123", "grows with the number of heads"),
    "multi_head/renamed": ("2", "is your `splitHeads` meant to be it?"),
    "multi_head/straight_view": ("3", "your heads hold pieces of different tokens"),
    "positional_encoding/empty": ("", "the file is empty"),
    "positional_encoding/good": ("123456", ""),
    "positional_encoding/halves": ("1", "they must alternate"),
    "positional_encoding/hungry": ("", "more memory than it is allowed"),
    "positional_encoding/integer_division": ("2", "an integer division made every exponent 0"),
    "recurrent/good": ("1234567", ""),
    "recurrent/half_a_file": ("", "was never closed"),
    "recurrent/in_a_notebook": ("125", "`gru_step` is not defined in the file"),
    "recurrent/library": ("15", "torch.nn.GRUCell, which is not allowed"),
    "recurrent/looks_around": ("", "RNN is not a class"),
    "recurrent/wrong_way_back": ("12", "You dropped what comes back from later steps."),
    "seq2seq/asks_for_the_answer": ("", "calls `step` too often"),
    "seq2seq/eager_search": ("12345", "A hypothesis of yours goes on after its END."),
    "seq2seq/good": ("1234567", ""),
    "seq2seq/in_a_notebook": ("125", "is your `greedy_search` meant to be it?"),
    "seq2seq/no_lengths": ("1467", "You ignore the lengths"),
    "seq2seq/scaled": ("23567", "Your dot products are divided by √d"),
    "seq2seq/syntax_error": ("", "expected ':'"),
    "text_features/always_equal": ("", "an instance of a subclass of another type"),
    "text_features/as_in_scikit_learn": ("4", "You take the smoothed weights of scikit-learn."),
    "text_features/as_in_the_lecture": ("25", "A sigmoid follows your last layer"),
    "text_features/good": ("1234567", ""),
    "text_features/half_a_file": ("", "was never closed"),
    "text_features/in_a_notebook": ("1234", "You sum the word vectors; it is their mean."),
    "transformer_block/good": ("123456", ""),
    "transformer_block/library": ("2", "torch.nn.functional.layer_norm, which is not allowed"),
    "transformer_block/norms_exchanged": ("2", "You wrote the pre-norm block"),
    "transformer_block/one_residual": ("1", "You have one residual connection around both sublayers"),
    "transformer_block/phones_home": ("", "uses the network, which is not there while grading"),
    "transformer_block/training_on_import": ("", "my_weights.pt"),
    "vision_transformer/channel_last": ("256", "You average all tokens; the head reads the class token."),
    "vision_transformer/equal_to_anything": ("", "an instance of a subclass of torch.Tensor"),
    "vision_transformer/good": ("123456", ""),
    "vision_transformer/in_a_notebook": ("126", "is your `images_attention` meant to be it?"),
    "vision_transformer/library": ("26", "torch.nn.functional.unfold, which is not allowed"),
    "vision_transformer/syntax_error": ("", "was never closed"),
    "word_vectors/good": ("1234567", ""),
    "word_vectors/in_a_notebook": ("145", "that is FNV-1, not FNV-1a"),
    "word_vectors/log_of_zero": ("4", "are pairs with a count of 0 left out before their logarithm is taken?"),
    "word_vectors/syntax_error": ("", "unterminated string literal"),
    "word_vectors/word2vec_only": ("", "You divide by the length of the padded context."),
    "word_vectors/words_of_its_own": ("", "returned an empty list"),
}
BROKEN = {"half_a_file", "syntax_error", "empty", "training_on_import"}


@pytest.fixture(scope="module", params=homework_names(ROOT))
def graded(request: pytest.FixtureRequest) -> Iterator[tuple[str, Callable[[Path], Result]]]:
    """The name of a homework, and what grades a file as it; one engine for the whole class."""
    name = request.param
    homework = load_homework(name, ROOT)
    with LocalEngine(GradingSpec.of(homework, STRONGEST)) as engine:
        yield name, lambda path: grade_file(path, homework, engine)


def said(result: Result) -> str:
    """All that a student is told."""
    verdicts = [verdict for test in result.tests for verdict in test.verdicts]
    causes = [cause.says for verdict in verdicts for cause in verdict.causes]
    frames = [frame.text for frame in result.reason_frames]
    return "\n".join([result.reason, *frames, *(verdict.fact for verdict in verdicts), *causes])


def test_is_what_it_says(graded: tuple[str, Callable[[Path], Result]]) -> None:
    """Right parts keep full marks, mistakes are named, broken files say why, and hostile ones earn nothing."""
    name, grade = graded
    for path in sorted((ROOT / "samples" / name).iterdir()):
        full, words = EXPECTED[f"{name}/{path.stem}"]
        result = grade(path)
        assert result.status is (Status.NOT_GRADABLE if path.stem in BROKEN else Status.GRADED), path
        assert "".join(part.number for part in result.parts if part.earned == part.points) == full, path
        assert words in said(result), path
        assert (result.total == 20) == (path.stem == "good"), path
        assert result.total == 0 or "A hostile" not in path.read_text(), path


def test_every_kind_is_there() -> None:
    """Each homework has a right, a broken and a hostile submission among its samples, and no file is forgotten."""
    files = [path for folder in (ROOT / "samples").iterdir() for path in folder.glob("*.*")]
    assert {f"{path.parent.name}/{path.stem}" for path in files} == set(EXPECTED)
    for name in homework_names(ROOT):
        own = [path for path in files if path.parent.name == name]
        assert any(path.stem == "good" for path in own)
        assert any("A hostile" in path.read_text() for path in own)
