"""The reference of `language_model` agrees with PyTorch's loss and with GPT-2: values and gradients."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from reference import language_model
from tests.homeworks.test_agreement import assert_agree, both_precisions, observed, random, with_random_weights

N, T, V, CONTEXT, D, HEADS, LAYERS = 3, 5, 11, 7, 8, 2, 2
IN_GPT2 = {
    "self_attn.in_proj": "attn.c_attn",
    "self_attn.out_proj": "attn.c_proj",
    "linear1": "mlp.c_fc",
    "linear2": "mlp.c_proj",
    "norm1": "ln_1",
    "norm2": "ln_2",
}
"""The names of a block's layers in GPT-2."""


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(20)


def gpt2(dtype: torch.dtype) -> GPT2LMHeadModel:
    """A small GPT-2 with random weights and ReLU. Nothing is downloaded."""
    sizes = {"n_layer": LAYERS, "n_head": HEADS, "n_embd": D, "n_positions": CONTEXT, "vocab_size": V}
    none = dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), 0.0)
    ends = dict.fromkeys(("bos_token_id", "eos_token_id"), 0)
    config = GPT2Config(**sizes, **none, **ends, activation_function="relu", attn_implementation="eager")
    return with_random_weights(GPT2LMHeadModel(config), dtype).eval()


def pairs(ours: language_model.LanguageModel, theirs: GPT2LMHeadModel) -> list[tuple[Tensor, Tensor, bool]]:
    """Each of our parameters with GPT-2's, and whether that is transposed: its layers keep weights as (in, out)."""
    body = dict(theirs.transformer.named_parameters())
    found = [
        (ours.embed.weight, body["wte.weight"], False),
        (ours.positions.weight, body["wpe.weight"], False),
        (ours.norm.weight, body["ln_f.weight"], False),
        (ours.norm.bias, body["ln_f.bias"], False),
    ]
    for i, block in enumerate(ours.blocks):
        for name, parameter in block.named_parameters():
            layer, _, kind = name.replace("in_proj_", "in_proj.").rpartition(".")
            found.append((parameter, body[f"h.{i}.{IN_GPT2[layer]}.{kind}"], parameter.dim() == 2))
    return found


def loaded_from(theirs: GPT2LMHeadModel, dtype: torch.dtype) -> language_model.LanguageModel:
    """Our model with GPT-2's weights."""
    ours = language_model.LanguageModel(V, CONTEXT, D, HEADS, LAYERS).to(dtype).eval()
    with torch.no_grad():
        for own, parameter, transposed in pairs(ours, theirs):
            own.copy_(parameter.T if transposed else parameter)
    return ours


@both_precisions
class TestAgreement:
    @pytest.mark.parametrize("ignore", [-100, 2])
    def test_loss(self, ignore: int, dtype: torch.dtype) -> None:
        """It is F.cross_entropy with ignore_index, and the perplexity is its exponential."""
        logits, targets = random(2, N, T, V, dtype=dtype), torch.randint(V, (2, N, T))
        targets[0, 1, 2:] = ignore

        def theirs() -> Tensor:
            return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=ignore)

        got = observed(lambda: language_model.next_token_loss(logits, targets, ignore), logits)
        assert_agree(got, observed(theirs, logits))
        perplexity = observed(lambda: language_model.perplexity(logits, targets, ignore), logits)
        assert_agree(perplexity, observed(lambda: theirs().exp(), logits))

    def test_logits_of_gpt2(self, dtype: torch.dtype) -> None:
        """With GPT-2's weights it has GPT-2's logits, and its gradients for every weight."""
        theirs = gpt2(dtype)
        ours = loaded_from(theirs, dtype)
        ids = torch.randint(V, (N, CONTEXT))
        own, others, transposed = zip(*pairs(ours, theirs), strict=True)
        got = observed(lambda: ours(ids), *own)
        want = observed(lambda: theirs(ids).logits, *others)
        turned = [gradient.T if turn else gradient for gradient, turn in zip(want[1:], transposed, strict=True)]
        assert_agree(got, [want[0], *turned])

    def test_features_of_gpt2(self, dtype: torch.dtype) -> None:
        """The features are GPT-2's last hidden states at the last real tokens."""
        theirs = gpt2(dtype)
        ids, lengths = torch.randint(V, (N, T)), torch.tensor([2, T, 1])
        states = theirs.transformer(ids).last_hidden_state
        want = torch.stack([states[n, length - 1] for n, length in enumerate(lengths.tolist())])
        assert_agree([language_model.features(loaded_from(theirs, dtype), ids, lengths)], [want])

    def test_sampling(self, dtype: torch.dtype) -> None:
        """Temperature, top-k and top-p leave the probabilities that transformers' own steps leave."""
        logits = 3 * torch.randn(40, V, dtype=dtype)
        none = torch.zeros(40, 0, dtype=torch.int64)
        for temperature, k, p in (0.7, 4, 0.8), (2.0, 9, 0.5), (1.0, 50, 0.95):
            steps = TemperatureLogitsWarper(temperature), TopKLogitsWarper(k), TopPLogitsWarper(p)
            want, got = logits, language_model.with_temperature(logits, temperature)
            for step in steps:
                want = step(none, want)
            got = language_model.top_p(language_model.top_k(got, k), p)
            assert_agree([got.softmax(-1)], [want.softmax(-1)])

    def test_greedy_text(self, dtype: torch.dtype) -> None:
        """At temperature 0 it writes what GPT-2 writes without sampling."""
        theirs = gpt2(dtype)
        ids, n = torch.randint(1, V, (N, 2)), CONTEXT - 2
        want = theirs.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=n,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
        got = language_model.generate(loaded_from(theirs, dtype), ids, torch.rand(N, n), CONTEXT, temperature=0)
        assert got.tolist() == want.tolist()


class TestFrequencies:
    def test_choose_is_as_frequent_as_probable(self) -> None:
        """Numbers that are spread evenly choose each token as often as it is probable, but for one."""
        probabilities = torch.softmax(torch.randn(5, V, dtype=torch.float64), dim=-1)
        spread = (torch.arange(10_000, dtype=torch.float64) + 0.5) / 10_000
        for row in probabilities:
            chosen = language_model.choose(row.expand(len(spread), V), spread)
            counts = torch.bincount(chosen, minlength=V)
            assert (counts - row * len(spread)).abs().max() <= 1


def test_head_is_tied() -> None:
    """The head's gradient reaches the embedding, and the model has no other parameter for it."""
    model = language_model.LanguageModel(V, CONTEXT, D, HEADS, LAYERS)
    names = {name for name, _ in model.named_parameters() if not name.startswith("blocks.")}
    assert names == {"embed.weight", "positions.weight", "norm.weight", "norm.bias"}
    assert isinstance(model.embed, nn.Embedding)
    model(torch.tensor([[1, 2]])).sum().backward()
    assert bool((model.embed.weight.grad[5:] != 0).any()), "tokens that are not read learn through the head"
