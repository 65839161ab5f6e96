"""A language model: from windows of a text to a transformer that writes.

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
    # BEGIN SOLUTION
    last = len(ids) - context - 1                            # the last start whose targets all exist
    if last < 0:
        raise ValueError(f"{len(ids)} ids are too few for a window of {context} and the token after it")
    if starts is None:
        starts = torch.arange(0, last + 1, context, device=ids.device)       # (N,)
    if bool(((starts < 0) | (starts > last)).any()):
        raise ValueError(f"a window starts outside of 0 … {last}")
    places = starts[:, None] + torch.arange(context, device=ids.device)      # (N, context)
    return ids[places], ids[places + 1]                                      # (N, context) each
    # END SOLUTION


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
    # BEGIN SOLUTION
    counts = targets != ignore                                             # (…, T)
    ids = torch.where(counts, targets, 0)                                  # (…, T)  ignore may be no id
    z_target = logits.gather(-1, ids[..., None])[..., 0]                   # (…, T)
    surprise = torch.logsumexp(logits, dim=-1) - z_target                  # (…, T)  -log p(target)
    return (surprise * counts).sum() / counts.sum().clamp(min=1)           # ()
    # END SOLUTION


def perplexity(logits: torch.Tensor, targets: torch.Tensor, ignore: int = -100) -> torch.Tensor:
    """Compute exp of the mean of -log p(target): among how many equally likely tokens the model hesitates.

    logits: (…, T, V), targets: (…, T), ignore    as for the loss
    returns a tensor without axes; 1 if no target counts
    """
    # BEGIN SOLUTION
    return next_token_loss(logits, targets, ignore).exp()                  # ()
    # END SOLUTION


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
        # BEGIN SOLUTION
        self.embed = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(context, d_model)
        for table in (self.embed, self.positions):
            nn.init.normal_(table.weight, std=0.02)
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            block = nn.TransformerEncoderLayer(
                d_model, n_heads, 4 * d_model, dropout, activation="relu", batch_first=True, norm_first=True
            )
            self.blocks.append(block)
        self.norm = nn.LayerNorm(d_model)
        # END SOLUTION

    def hidden(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the vector of every position after the last layer norm: what the head reads.

        ids: (…, T)          T ≤ context; a longer sequence raises ValueError
        returns (…, T, D)    position t has seen the tokens 0 … t and no later one
        """
        # BEGIN SOLUTION
        *batch, T = ids.shape
        context = self.positions.weight.shape[0]
        if context < T:
            raise ValueError(f"{T} tokens, but the model reads {context} at most")
        X = self.embed(ids) + self.positions.weight[:T]                                   # (…, T, D)
        X = X.reshape(-1, T, X.shape[-1])                                                 # (N, T, D)
        future = torch.ones(T, T, dtype=torch.bool, device=ids.device).triu(1)            # (T, T)  True = blocked
        for block in self.blocks:
            X = block(X, src_mask=future)                                                 # (N, T, D)
        return self.norm(X).reshape(*batch, T, -1)                                        # (…, T, D)
        # END SOLUTION

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the logits of the token that follows each position.

        ids: (…, T)          integers from 0 to V - 1; T ≤ context, a longer sequence raises ValueError
        returns (…, T, V)    logits, not probabilities: those at position t are of the token at t + 1
        """
        # BEGIN SOLUTION
        return self.hidden(ids) @ self.embed.weight.T                                     # (…, T, V)  the tied head
        # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 4: temperature
# ------------------------------------------------------------------------------------------------------------


def with_temperature(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """Divide the logits by a temperature; the largest of each row becomes 0 first, which changes no probability.

    logits: (…, V)       up to ±1000; some may be -inf, but not all of a row
    temperature          0, or from 0.001 to 1000; a negative one raises ValueError
    returns (…, V)       at 0: 0 for the likeliest token (the smallest id of several), -inf for the others
    """
    # BEGIN SOLUTION
    if temperature < 0:
        raise ValueError(f"a temperature is not negative, but this one is {temperature}")
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)                         # (…, 1)  of equal ones the first
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)  # (…, V)
    return (logits - logits.amax(dim=-1, keepdim=True)) / temperature      # (…, V)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 5: top-k and top-p
# ------------------------------------------------------------------------------------------------------------


def top_k(logits: torch.Tensor, k: int) -> torch.Tensor:
    """Keep the k largest logits of each row, and make the others -inf.

    logits: (…, V)       some may be -inf
    k                    1 or more, otherwise ValueError; k ≥ V keeps all
    returns (…, V)       of equal logits, those with the smaller ids are kept: exactly k stay
    """
    # BEGIN SOLUTION
    if k < 1:
        raise ValueError(f"k = {k} leaves no token")
    order = logits.argsort(dim=-1, descending=True, stable=True)           # (…, V)  the ids, the likeliest first
    return logits.scatter(-1, order[..., k:], -torch.inf)                  # (…, V)
    # END SOLUTION


def top_p(logits: torch.Tensor, p: float) -> torch.Tensor:
    """Keep the likeliest tokens of each row until their probabilities sum to p, and make the others -inf.

    logits: (…, V)       some may be -inf, but not all of a row
    p                    from 0 to 1, otherwise ValueError; 1 keeps all
    returns (…, V)       the token with which the sum reaches p is kept; of equal ones, the smaller id comes first
    """
    # BEGIN SOLUTION
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p} is not between 0 and 1")
    if p == 1:
        return logits.clone()                                              # (…, V)  whatever rounding says
    order = logits.argsort(dim=-1, descending=True, stable=True)           # (…, V)  the ids, the likeliest first
    probs = torch.softmax(logits, dim=-1).gather(-1, order)                # (…, V)
    before = probs.cumsum(dim=-1) - probs                                  # (…, V)  the sum without the token itself
    out = before >= p                                                      # (…, V)  in the order of the probabilities
    out[..., 0] = False                                                    # one always stays
    blocked = torch.zeros_like(out).scatter(-1, order, out)                # (…, V)  in the order of the ids
    return logits.masked_fill(blocked, -torch.inf)                         # (…, V)
    # END SOLUTION


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
    # BEGIN SOLUTION
    ends = probabilities.cumsum(dim=-1)                                    # (…, V)  where the piece of each token ends
    token = (ends <= uniforms[..., None]).sum(dim=-1)                      # (…)     how many pieces lie before u
    possible = (probabilities > 0).flip(-1).int()                          # (…, V)  backwards
    last = probabilities.shape[-1] - 1 - possible.argmax(dim=-1)           # (…)     the last token with a piece
    return torch.minimum(token, last)                                      # (…)     the ends may stop short of 1
    # END SOLUTION


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
    # BEGIN SOLUTION
    was_training = model.training
    model.eval()
    ended = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)     # (N,)
    with torch.no_grad():
        for u in uniforms.unbind(dim=1):                                   # (N,)
            logits = model(ids[:, -context:])[:, -1]                       # (N, V)  of the next token
            logits = with_temperature(logits, temperature)
            if k is not None:
                logits = top_k(logits, k)
            if p is not None:
                logits = top_p(logits, p)
            token = choose(torch.softmax(logits, dim=-1), u)               # (N,)
            if end is not None:
                token = token.masked_fill(ended, end)
                ended = token == end                                       # (N,)  one that had ended writes `end` again
            ids = torch.cat([ids, token[:, None]], dim=1)                  # (N, T + 1), (N, T + 2), …
    model.train(was_training)
    return ids
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 7: fine-tuning
# ------------------------------------------------------------------------------------------------------------


def freeze(model: nn.Module, trainable: Sequence[str]) -> list[str]:
    """Let only the named parts of a model learn, and return the names of the parameters that do, in the model's order.

    trainable    names of parameters ("norm.bias") or of modules ("blocks.1", with all that is in it); all other
                 parameters stop learning. A name that fits no parameter raises ValueError
    """
    # BEGIN SOLUTION
    parameters = dict(model.named_parameters())
    learning: set[str] = set()
    for wanted in trainable:
        found = [name for name in parameters if name == wanted or name.startswith(f"{wanted}.")]
        if not found:
            raise ValueError(f"the model has no {wanted}")
        learning.update(found)
    for name, parameter in parameters.items():
        parameter.requires_grad_(name in learning)
    return [name for name in parameters if name in learning]
    # END SOLUTION


def features(model: nn.Module, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return the vector of the last real token of each row, as `model.hidden` gives it.

    ids: (N, T)          rows with padding behind their tokens; any ids may stand there
    lengths: (N,)        how many tokens of each row are real, from 1 to T
    returns (N, D)       gradients reach the model's parameters, and its mode stays as it is
    """
    # BEGIN SOLUTION
    H = model.hidden(ids)                                                  # (N, T, D)
    rows = torch.arange(len(ids), device=ids.device)                       # (N,)
    return H[rows, lengths - 1]                                            # (N, D)
    # END SOLUTION
