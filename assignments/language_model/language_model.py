"""A language model: from windows of a text to a transformer that writes.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

    text ──► windows ──► inputs ──► LanguageModel ──► logits ──► next_token_loss ◄── targets
                                          │
    prompt ──► the last tokens ──► logits of the last position
                    ▲                     │
                    │               with_temperature ──► top_k ──► top_p ──► softmax ──► choose
                    └────────────────────── the new token ◄────────────────────────────────┘

Conventions: tokens are rows, so a sequence of ids is `(…, T)` and its logits are `(…, T, V)`; `…` stands for none,
one or two batch dimensions. Positions count from 0, and so do ids. Results keep the dtype and the device of the input
(of a module: of its weights), and no input is ever changed.

Sizes: T tokens, V tokens in the vocabulary, N rows of a batch, D = d_model features of a token.
"""

from collections.abc import Sequence

import torch
from torch import nn

# ------------------------------------------------------------------------------------------------------------
# Part 1: windows
# ------------------------------------------------------------------------------------------------------------


def windows(ids: torch.Tensor, context: int, starts: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Cut windows of `context` tokens out of a text; the target of each token is the token that follows it.

    ids: (L,)                    the text, L ≥ context + 1
    context                      how many tokens a window has, 1 or more
    starts                       (N,): where each window starts, from 0 to L - context - 1; None: one window after the
                                 other, from position 0, as long as there is a window with all of its targets
    returns the tuple (inputs, targets), both (N, context)

    A start whose window or targets would reach beyond the text raises ValueError, and so does a text that is too short.
    """
    raise NotImplementedError("part 1: windows")


# ------------------------------------------------------------------------------------------------------------
# Part 2: loss and perplexity
# ------------------------------------------------------------------------------------------------------------


def next_token_loss(logits: torch.Tensor, targets: torch.Tensor, ignore: int = -100) -> torch.Tensor:
    """Compute the mean of -log p(target) over all targets that are not `ignore`.

    logits: (…, T, V)    entries up to ±1000
    targets: (…, T)      ids, and `ignore`
    ignore               the number of the targets that do not count: an id, or a number that is none
    returns a tensor without axes; 0 if no target counts
    """
    raise NotImplementedError("part 2: next_token_loss")


def perplexity(logits: torch.Tensor, targets: torch.Tensor, ignore: int = -100) -> torch.Tensor:
    """Compute exp of the mean of -log p(target): among how many equally likely tokens the model hesitates.

    logits: (…, T, V), targets: (…, T), ignore    as for the loss
    returns a tensor without axes; 1 if no target counts
    """
    raise NotImplementedError("part 2: perplexity")


# ------------------------------------------------------------------------------------------------------------
# Part 3: the model
# ------------------------------------------------------------------------------------------------------------


class LanguageModel(nn.Module):
    """A transformer as a language model. Ids in, for every position the logits of the next token out.

    Its parameters, and it has no others:

        embed.weight        (V, D)          row v is the vector of token v, and also row v of the head
        positions.weight    (context, D)    row t is added to the token at position t
        blocks.0.…, …                       n_layers blocks; each has the names, shapes and layout of an
                                            `nn.TransformerEncoderLayer` with d_ff = 4 D
        norm.weight         (D,)            norm.bias  (D,)     gain and bias of the layer norm after the last block
    """

    def __init__(
        self, vocab_size: int, context: int, d_model: int, n_heads: int, n_layers: int, dropout: float = 0.0
    ) -> None:
        """Make the parameters. `embed` and `positions` start as normal numbers with a standard deviation of 0.02.

        context    the most tokens that the model can read
        dropout    the share of numbers that train() drops out of what a sublayer adds to its input
        """
        super().__init__()
        raise NotImplementedError("part 3: LanguageModel.__init__")

    def hidden(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the vector of every position after the last layer norm: what the head reads.

        ids: (…, T)          T ≤ context; a longer sequence raises ValueError
        returns (…, T, D)    position t has seen the tokens 0 … t and no later one
        """
        raise NotImplementedError("part 3: LanguageModel.hidden")

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the logits of the token that follows each position.

        ids: (…, T)          integers from 0 to V - 1; T ≤ context, a longer sequence raises ValueError
        returns (…, T, V)    logits, not probabilities: those at position t are of the token at t + 1
        """
        raise NotImplementedError("part 3: LanguageModel.forward")


# ------------------------------------------------------------------------------------------------------------
# Part 4: temperature
# ------------------------------------------------------------------------------------------------------------


def with_temperature(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """Divide the logits by a temperature; the largest of each row becomes 0 first, which changes no probability.

    logits: (…, V)       up to ±1000; some may be -inf, but not all of a row
    temperature          0, or from 0.001 to 1000; a negative one raises ValueError
    returns (…, V)       at 0: 0 for the likeliest token (the smallest id of several), -inf for the others
    """
    raise NotImplementedError("part 4: with_temperature")


# ------------------------------------------------------------------------------------------------------------
# Part 5: top-k and top-p
# ------------------------------------------------------------------------------------------------------------


def top_k(logits: torch.Tensor, k: int) -> torch.Tensor:
    """Keep the k largest logits of each row, and make the others -inf.

    logits: (…, V)       some may be -inf
    k                    1 or more, otherwise ValueError; k ≥ V keeps all
    returns (…, V)       of equal logits, those with the smaller ids are kept: exactly k stay
    """
    raise NotImplementedError("part 5: top_k")


def top_p(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Keep the likeliest tokens of each row until their probabilities sum to p, and make the others -inf.

    logits: (…, V)       some may be -inf, but not all of a row
    p                    from 0 to 1, otherwise ValueError; 1 keeps all
    returns (…, V)       the token with which the sum reaches p is kept; of equal ones, the smaller id comes first
    """
    raise NotImplementedError("part 5: top_p")


# ------------------------------------------------------------------------------------------------------------
# Part 6: generating
# ------------------------------------------------------------------------------------------------------------


def choose(probabilities: torch.Tensor, uniforms: torch.Tensor) -> torch.Tensor:
    """Choose a token of each row by a given number u from [0, 1).

    probabilities: (…, V)    each row sums to 1
    uniforms: (…)            one number for each row
    returns (…), int64       the token whose piece of [0, 1) holds u; the pieces lie side by side in the order of the
                             ids, and each is as long as its token is probable
    """
    raise NotImplementedError("part 6: choose")


def generate(
    model: nn.Module,
    ids: torch.Tensor,
    uniforms: torch.Tensor,
    context: int,
    temperature: float = 1.0,
    k: int | None = None,
    p: float | None = None,
    end: int | None = None,
) -> torch.Tensor:
    """Write on: draw one token after the other, and append each before the next is drawn.

    model                    model(ids) gives logits as `LanguageModel` does; it works in eval(), whatever its mode is
                             before, and has the same mode again afterwards
    ids: (N, T)              the beginning of each row, T ≥ 1
    uniforms: (N, n)         row by row the numbers that choose the n new tokens
    context                  the model reads the last `context` tokens at most
    temperature, k, p        applied in this order; None: no top-k, no top-p
    end                      a row that has written this id goes on with nothing but this id; None: there is none
    returns (N, T + n)       the beginnings and the new tokens
    """
    raise NotImplementedError("part 6: generate")


# ------------------------------------------------------------------------------------------------------------
# Part 7: fine-tuning
# ------------------------------------------------------------------------------------------------------------


def freeze(model: nn.Module, trainable: Sequence[str]) -> list[str]:
    """Let only the named parts of a model learn, and return the names of the parameters that do, in the model's order.

    trainable    names of parameters ("norm.bias") or of modules ("blocks.1", with all that is in it); all other
                 parameters stop learning. A name that fits no parameter raises ValueError
    """
    raise NotImplementedError("part 7: freeze")


def features(model: nn.Module, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return the vector of the last real token of each row, as `model.hidden` gives it.

    ids: (N, T)          rows with padding behind their tokens; any ids may stand there
    lengths: (N,)        how many tokens of each row are real, from 1 to T
    returns (N, D)       gradients reach the model's parameters, and its mode stays as it is
    """
    raise NotImplementedError("part 7: features")
