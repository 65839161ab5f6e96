"""The public tests of every homework: right code passes, an empty starter is "not done yet", mistakes have names."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from softmark.check.public_tests import read_handout
from softmark.course.homework import homework_names, load_homework
from softmark.records.result import Outcome, Result, Status
from softmark.student import find_work
from tests.conftest import ROOT

HOMEWORKS = homework_names(ROOT)

# Ordinary slips: part, a line of the reference, what a student would write, and what the student is told.
PLANTED = {
    "attention_scores": [
        ("1", "p = torch.softmax(s", "p = torch.softmax(s / len(h) ** 0.5", "You divide the dot products by √d"),
        ("3", "S / math.sqrt(d_k)", "S", "they are not scaled"),
        ("3", "S / math.sqrt(d_k)", "S / d_k", "You divide by d_k itself"),
        ("4", "torch.exp(S - S_max)", "torch.exp(S)", "Large scores overflow"),
        ("5", "blocked = ~mask", "blocked = mask", "you block what is allowed"),
        ("7", "return j <= i", "return j < i", "itself"),
    ],
    "building_blocks": [
        ("1", "X @ W.T + b", "X @ W.reshape(W.shape[1], W.shape[0]) + b", "reshaping does not transpose"),
        ("2", "    return H @ W + b", "    return g(H @ W + b)", "You put g behind the last layer"),
        ("3", "(error**2).sum() / len(y)", "(error**2).mean()", "You divide by N·C"),
        ("3", "torch.logaddexp(z, torch.zeros_like(z))", "torch.log(1 + torch.exp(z))", "Large logits overflow"),
        ("3", "(log_total - of_class).mean()", "(log_total - of_class).sum()", "You return the sum over the batch"),
        ("4", "b - lr * db", "b - lr * (db + decay * b)", "You let the bias decay"),
        ("5", "@ K[i, j]", "@ K[k - 1 - i, k - 1 - j]", "You flip the kernel"),
        ("5", "padding : padding + h, padding : padding + w", ":h, :w", "All your zeros are below"),
        ("6", ".amax(dim=(-4, -2))", ".mean(dim=(-4, -2))", "You take the mean of each patch"),
        ("7", "@ K[j]", "@ K[k - 1 - j]", "You read the kernel backwards"),
        ("7", "(k - 1) * dilation      ", "k * dilation", "You add k · dilation for each layer"),
    ],
    "byte_pair_encoding": [
        ("1", r'letters = r" ?[^\W\d_]+"', r'letters = r" ?\w+"', "Digits and underscores belong to your words."),
        ("1", "sorted(specials, key=len, reverse=True)", "specials", "the one that stands first in the list"),
        ("2", "words.append((word, count))", "words.append((list(piece), count))", "are made of characters, as texts"),
        ("2", "counts.get(pair, 0) + count", "counts.get(pair, 0) + 1", "You count each word once"),
        ("3", "i += 2", "i += 1", "After a merge you go on with its second symbol"),
        ("4", "key=lambda pair: (counts[pair], pair)", "key=counts.get", "the one that comes first in the text"),
        ("5", "min(known, key=lambda pair: rank[pair])", "known[0]", "the pair that stands first in the word"),
        ("6", 'errors="replace"', 'errors="ignore"', "Bytes that are no UTF-8 are missing in your text."),
        ("7", "max(with_count[most])", "min(with_count[most])", "you merge the smallest"),
    ],
    "cost_model": [
        ("1", "(of_inputs + of_states)", "of_inputs", "The n·d² of the states are missing"),
        ("1", "n + n_layers - 1", "n * n_layers", "You let each layer wait"),
        ("1", "-(-(n - 1) // (k - 1))", "(n - 1) // (k - 1)", "You round the longest path down"),
        ("1", "weights = n_heads * n * n", "weights = n * n", "You keep the weights of one head only."),
        ("2", "biases = 2 * h", "biases = h", "One of the two biases"),
        ("2", "words + positions + blocks + last_norm", "words + positions + blocks", "The norm behind the last block"),
        ("3", "max(f - 2 * d + 1, 1)", "max(f - 2 * d, 1)", "At your first length both sides cost the same"),
        ("4", "torch.softmax(S.gather(-1, chosen), dim=-1)", "torch.softmax(S, dim=-1).gather(-1, chosen)",
         "Your softmax is over all experts"),
        ("5", "share * made", "made", "without their weights"),
        ("6", "(shared + k * expert)", "(shared - router + k * expert)", "A token meets the router, too"),
    ],
    "language_model": [
        ("1", "ids[places + 1]", "ids[places]", "Your targets are the inputs themselves"),
        ("1", "torch.arange(0, last + 1, context", "torch.arange(0, last + 1, 1", "your windows overlap"),
        ("2", "counts.sum().clamp(min=1) ", "counts.numel()", "those that are ignored included"),
        ("2", "ignore).exp()", "ignore).exp2()", "Your perplexity is a power of 2"),
        ("3", "src_mask=future", "src_mask=None", "Your model sees the future"),
        ("3", "norm_first=True", "norm_first=False", "Your blocks are post-norm"),
        ("4", "keepdim=True)) / temperature", "keepdim=True)) * temperature", "You multiply by the temperature"),
        ("5", "before = probs.cumsum(dim=-1) - probs", "before = probs.cumsum(dim=-1)", "crosses p is missing"),
        ("5", "order[..., k:]", "order[..., k + 1 :]", "You keep one token too many."),
        ("6", "ends <= uniforms", "ends < uniforms", "A number on the edge of two pieces"),
        ("6", "ids[:, -context:]", "ids[:, :context]", "You keep the oldest tokens"),
        ("6", "    model.train(was_training)\n", "", "Your model stays in eval() after writing"),
        ("7", "H[rows, lengths - 1]", "H[:, -1]", "You take the vector of the last column"),
    ],
    "lstm_gates": [
        ("1", "h @ W_hh.T + b_hh", "h @ W_hh.T", "You left out the bias b_hh."),
        ("2", "g = torch.tanh(z_g)", "g = torch.sigmoid(z_g)", "You sent g through the sigmoid"),
        ("3", "h_t = o * torch.tanh(c_t)", "h_t = o * c_t", "You left out the tanh around the cell state"),
        ("6", "y = y.flip(0)", "pass", "backward"),
    ],
    "multi_head": [
        ("1", "blocks.transpose(-3, -2)", "X.reshape(*X.shape[:-2], n_heads, -1, d_head)", "pieces of different"),
        ("2", "blocks = H.transpose(-3, -2)", "blocks = H", "features of different tokens"),
        ("3", "math.sqrt(d_k)", "math.sqrt(d_k * n_heads)", "the width of all heads together"),
        ("4", "return self.out_proj(H)", "return H", "output projection"),
    ],
    "positional_encoding": [
        ("1", "10000 ** (2 * i / d)", "1000 ** (2 * i / d)", "Your base is 1000 instead of 10000."),
        ("2", "P[:, 0::2] = torch.sin(A)", "P[:, 0::2] = torch.cos(A)", "the cosine"),
        ("4", "M[1::2, 1::2] = -s, c", "M[1::2, 1::2] = s, c", "A minus sign is missing"),
        ("6", "offset = j - i[:, None]", "offset = i[:, None] - j", "Your offset is query minus key"),
    ],
    "recurrent": [
        ("1", "torch.tanh(z)", "torch.sigmoid(z)", "You used the sigmoid"),
        ("1", "[W_h, W_x]", "[W_x, W_h]", "the columns for x before those for h"),
        ("2", "rnn_step(x[t], h, W_x", "rnn_step(x[t], x.new_zeros(N, H), W_x", "nothing is remembered"),
        ("3", "(1 - z) * n + z * h", "z * n + (1 - z) * h", "You exchanged z and 1 - z"),
    ],
    "seq2seq": [
        ("1", "return (states @ q).squeeze(2)", "return (states @ q).squeeze(2) / query.shape[1] ** 0.5", "by √d"),
        ("2", "position < lengths[:, None]", "position <= lengths[:, None]", "one token of the padding as real"),
        ("3", "torch.cat([h_n[0], h_n[1]], dim=1)", "h_n.reshape(len(tokens), -1)", "mixes the sentences"),
        ("4", "torch.cat([self.embedding(tokens), c]", "torch.cat([c, self.embedding(tokens)]", "the context first"),
        ("5", "real.sum().clamp(min=1)", "targets.numel()", "padding included"),
        ("6", "not ended.all()", "not ended.any()", "You stop all sentences as soon as one has ended."),
        ("7", "return tokens, scores", "return tokens, torch.exp(scores)", "You return probabilities"),
        ("7", "rest[:, end] = 0", "rest[:, end] = log_p[:, end]", "You pay for the END"),
    ],
    "text_features": [
        ("1", "text.lower())", "text)", "You keep capital letters."),
        ("1", "len(tokens) - n + 1", "len(tokens) - n", "Your last n-gram is missing."),
        ("2", "{word: RESERVED + rank", "{word: rank", "Your ids begin at 0"),
        ("2", "update(tokens(document))", "update(dict.fromkeys(tokens(document)).keys())", "You count documents"),
        ("3", "vocabulary.get(word, UNK)", "vocabulary.get(word, PAD)", "Unknown words become PAD"),
        ("3", "ids + [PAD] * (length - len(ids))", "[PAD] * (length - len(ids)) + ids", "You pad on the left."),
        ("4", "counts.clamp(max=1) ", "counts ", "You count, although `binary` asks"),
        ("5", "(counts > 0).sum(dim=0).to(counts.dtype)", "counts.sum(dim=0)", "You count how often a word occurs"),
        ("5", "torch.where(length > 0, length, torch.ones_like(length))", "length", "A row of zeros becomes NaN"),
        ("6", "return u + w - 2", "return 2 - 2", "A row of zeros is at distance 2"),
        ("7", "total / count ", "total ", "You sum the word vectors"),
        ("7", "(E * real).sum(dim=-2)", "E.sum(dim=-2)", "You add up the vectors of the padding"),
    ],
    "transformer_block": [
        ("1", "(centred**2).mean(dim=-1, keepdim=True)", "X.var(dim=-1, keepdim=True)", "divided by d - 1"),
        ("2", "torch.relu(X @ W1 + b1)", "X @ W1 + b1", "There is no ReLU"),
        ("3", "layer_norm(X + O_1", "layer_norm(O_1", "The residual connection around your attention is missing."),
        ("4", "self_attention(Z_1, p", "self_attention(X, p", "Your attention reads X without a layer norm."),
        ("6", "X = block(X, causal)", "X = block(X)", "Your blocks get no mask"),
    ],
    "vision_transformer": [
        ("1", "permute(0, 2, 4, 1, 3, 5)", "permute(0, 2, 4, 3, 5, 1)", "The channel comes last in your patches"),
        ("1", "by_patch.reshape", "cut.reshape", "You reshape without a permute"),
        ("1", "permute(0, 3, 1, 4, 2, 5)", "permute(0, 3, 1, 5, 2, 4)", "exchanged inside your patches"),
        ("2", "torch.cat([first, tokens], dim=1)", "torch.cat([tokens, first], dim=1)", "token stands at the end"),
        ("2", "weight.flatten(1)", "weight.permute(0, 2, 3, 1).flatten(1)", "(row, column, channel)"),
        ("3", "torch.softmax(z @ v, dim=1)", "torch.softmax(z @ v, dim=0)", "over the pictures of the batch"),
        ("3", "features.flatten(2).transpose(1, 2)", "features.reshape(N, h * w, -1)", "channels and places are mixed"),
        ("4", "self.norm(X)[:, 0]", "self.norm(X).mean(dim=1)", "You average all tokens"),
        ("4", 'activation="gelu"', 'activation="relu"', "Your blocks have a ReLU"),
        ("5", "((i + 0.5) * n / m - 0.5)", "(i * (n - 1) / max(m - 1, 1))", "that is align_corners=True"),
        ("5", "torch.cat([table[:1], grid", "torch.cat([table[:1] * 0, grid", "Your class token's row is 0"),
        ("6", "X @ X.transpose(-1, -2)", "X.transpose(-1, -2) @ X", "You compare the features"),
    ],
    "word_vectors": [
        ("1", "if j != i:", "if ids[j] != centre:", "neighbours that are the same word as the centre"),
        ("1", "ids[max(0, i - window) : i]", "ids[i - window : i]", "your left context is wrong"),
        ("2", "h = total / words", "h = total / contexts.shape[1]", "by the length of the padded context"),
        ("2", "logits = E[centres] @ U.T", "logits = E[centres] @ U[targets].T", "over the targets of the batch"),
        ("3", "F.logsigmoid(-far)", "F.logsigmoid(far)", "The drawn words have the wrong sign"),
        ("3", "F.logsigmoid(near)", "torch.log(torch.sigmoid(near))", "a sigmoid that is 0 far out"),
        ("4", "            X[earlier, later] += 1 / r", "", "the neighbours on the left only"),
        ("5", "(f * error**2).sum()", "(f * error**2).mean()", "You return a mean"),
        ("6", "(h ^ byte) * 16777619 % 2**32", "(h * 16777619 % 2**32) ^ byte", "that is FNV-1, not FNV-1a"),
        ("6", "range(shortest, longest + 1)", "range(shortest, longest)", "The longest pieces are missing."),
        ("7", "E[b] - E[a] + E[c]", "E[a] - E[b] + E[c]", "You exchanged a and b"),
        ("7", "if i not in (a, b, c)", "", "are among your answers"),
    ],
}  # fmt: skip
KNOWN = {"pytest", "torch", "math", "gradescope_utils", "softmark"}


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What a student gets of a homework, and nothing else of the course near it."""
    return Path(shutil.copytree(ROOT / "assignments" / request.getfixturevalue("name"), tmp_path / "homework"))


def reference(name: str) -> str:
    return (ROOT / f"reference/{name}.py").read_text()


def checked(folder: Path, name: str, source: str) -> Result:
    """The result of the public tests on a solution."""
    (folder / f"{name}.py").write_text(source)
    return find_work(folder, None).check()


def said(result: Result, part: str) -> str:
    """What a student is told about a part."""
    verdicts = [verdict for test in result.tests if test.part == part for verdict in test.verdicts]
    return "\n".join(cause.says for verdict in verdicts for cause in verdict.causes)


@pytest.mark.parametrize("name", HOMEWORKS)
class TestOfEveryHomework:
    """In the folder that a student gets."""

    def test_right_code_passes(self, name: str, folder: Path) -> None:
        """The reference passes every public test, and there is at least one for each part that has a function."""
        result = checked(folder, name, reference(name))
        assert (result.status, result.total) == (Status.GRADED, result.max_score)
        assert all(part.points > 0 for part in result.parts)

    def test_the_starter_is_not_done_yet(self, name: str, folder: Path) -> None:
        """Nothing passes, nothing fails: every test was not run and says what it waits for."""
        result = find_work(folder / f"{name}.py", None).check()
        assert result.total == 0
        assert {test.outcome for test in result.tests} == {Outcome.NOT_RUN}
        assert all("not done yet" in test.verdicts[0].fact for test in result.tests)

    def test_one_part_is_enough(self, name: str, folder: Path) -> None:
        """Who has written part 1 only passes its tests; everything else still is "not done yet"."""
        tree = ast.parse((folder / f"{name}.py").read_text())
        solved = {n.name: n for n in ast.parse(reference(name)).body if isinstance(n, ast.FunctionDef)}
        first = load_homework(name, ROOT).parts[0].roots
        tree.body = [solved[n.name] if getattr(n, "name", "") in first else n for n in tree.body]
        result = checked(folder, name, ast.unparse(tree))
        assert {t.outcome for t in result.tests if t.part == "1"} == {Outcome.PASSED}
        assert Outcome.FAILED not in {test.outcome for test in result.tests}

    def test_know_nothing_secret(self, name: str, folder: Path) -> None:
        """They import what a student has, and none of their files says where the solution or a hidden test is."""
        tree = ast.parse((folder / "test_public.py").read_text())
        imports = [n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom)]
        modules = {
            m for n in imports for m in ([n.module] if isinstance(n, ast.ImportFrom) else [a.name for a in n.names])
        }
        assert {str(module).partition(".")[0] for module in modules} <= KNOWN
        for file in folder.iterdir():
            text = file.read_text()
            assert not [place for place in ("reference/", "graders/", "test_hidden", "mistakes.py") if place in text]

    def test_pass_by_keyword_what_the_hidden_tests_do(self, name: str, folder: Path) -> None:
        """A parameter with a name of the student's own shows on the student's machine."""
        hidden = {given for file in (ROOT / "graders" / name).glob("test_*.py") for given in keywords(file, name)}
        public = keywords(folder / "test_public.py", name)
        handout = read_handout(folder)
        for example in handout.examples:
            options = [value for value in example.args if isinstance(value, dict) and "dict" in value]
            words = {*example.kwargs, *(example.make or ()), *(word for one in options for word in one["dict"])}
            public |= {(called, word) for called in (example.call, example.name.partition(",")[0]) for word in words}
        assert hidden <= public


def keywords(file: Path, homework: str) -> set[tuple[str, str]]:
    """Return each function of the student's that a file of tests calls, with the arguments that it passes by name."""
    takes = load_homework(homework, ROOT).takes
    found = set()
    for call in [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]:
        for asked in (call.func, *call.args):
            name = asked.attr if isinstance(asked, ast.Attribute) else ""
            found |= {(name, word.arg) for word in call.keywords if word.arg in takes.get(name, ())}
    return {(name, str(word)) for name, word in found}


@pytest.mark.parametrize(
    ("name", "part", "right", "wrong", "words"),
    [(name, *slip) for name, slips in PLANTED.items() for slip in slips],
    ids=[f"{name}-{slip[3]}" for name, slips in PLANTED.items() for slip in slips],
)
def test_ordinary_mistakes_are_named(name: str, folder: Path, part: str, right: str, wrong: str, words: str) -> None:
    """A slip costs public tests of its part, and the part says which slip it is."""
    source = reference(name)
    assert right in source
    result = checked(folder, name, source.replace(right, wrong, 1))
    assert any(test.outcome is Outcome.FAILED for test in result.tests if test.part == part)
    assert words in said(result, part)
