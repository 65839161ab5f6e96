"""From one sequence to another: attention over an encoder's states, a decoder, and the search for its best answer.

    tokens of the source ──► Encoder ──► states x_1 … x_S, and a last state
                                            │                   │
                     query q ──► scores ──► context c           ▼
                        ▲                      │          h_0 of the decoder
                        │                      ▼
                     h_{t-1}         [E[y_{t-1}]; c] ──► GRU cell ──► h_t ──► logits of y_t
                        └─────────────────────────────────────▲

Conventions: the batch comes first, so the source is `(N, S)` and the encoder's states are `(N, S, C)`. A weight
is `(out, in)`, as in PyTorch. `lengths` says how many tokens of each sentence are real; the others are padding
and stand behind them. Results keep the dtype and the device of the input, and no input is ever changed.

Sizes: N sentences, S tokens of the source, T tokens of the target, V tokens in the vocabulary, D features of an
embedded token, d, C and H features of a query, of an encoder's state and of a decoder's state.
"""

from collections.abc import Callable

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Step = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

# ------------------------------------------------------------------------------------------------------------
# Part 1: scores
# ------------------------------------------------------------------------------------------------------------


def dot_scores(query: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """Compute how well each state fits the query, as a dot product: s_t = qᵀ x_t, not scaled.

    query: (N, d)      one query for each sentence
    states: (N, S, d)  the encoder's states
    returns (N, S)     the scores
    """
    # BEGIN SOLUTION
    q = query[:, :, None]           # (N, d, 1)
    return (states @ q).squeeze(2)  # (N, S)
    # END SOLUTION


def bilinear_scores(query: torch.Tensor, states: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    """Compute the scores with a matrix between query and state: s_t = qᵀ W x_t.

    query: (N, d)
    states: (N, S, C)
    W: (d, C)
    returns (N, S)
    """
    # BEGIN SOLUTION
    return dot_scores(query @ W, states)  # (N, S)
    # END SOLUTION


def additive_scores(
    query: torch.Tensor, states: torch.Tensor, W_q: torch.Tensor, W_x: torch.Tensor, v: torch.Tensor
) -> torch.Tensor:
    """Compute the scores with a small network: s_t = vᵀ tanh(W_q q + W_x x_t).

    query: (N, d)
    states: (N, S, C)
    W_q: (A, d)
    W_x: (A, C)
    v: (A,)
    returns (N, S)
    """
    # BEGIN SOLUTION
    from_query = query @ W_q.T                           # (N, A)
    from_states = states @ W_x.T                         # (N, S, A)
    z = torch.tanh(from_query[:, None, :] + from_states) # (N, S, A)
    return z @ v                                         # (N, S)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 2: the context
# ------------------------------------------------------------------------------------------------------------


def context(
    scores: torch.Tensor, states: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Average the states of the real tokens, weighted by the softmax of their scores: c = Σ p_t x_t.

    scores: (N, S)                    entries up to ±1000
    states: (N, S, C)
    lengths: (N,)                     the number of real tokens of each sentence, 0 to S
    returns the tuple (c, p)
        c: (N, C)                     the contexts
        p: (N, S)                     the weights, exactly 0 in the padding
    """
    # BEGIN SOLUTION
    position = torch.arange(scores.shape[1], device=scores.device)          # (S,)
    real = position < lengths[:, None]                                      # (N, S)
    lowest = torch.finfo(scores.dtype).min
    p = torch.softmax(scores.masked_fill(~real, lowest), dim=1)             # (N, S)
    p = p.masked_fill(~real, 0)                                             # (N, S)  for a sentence of length 0
    c = (p[:, None, :] @ states).squeeze(1)                                 # (N, C)
    return c, p
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 3: the encoder
# ------------------------------------------------------------------------------------------------------------


class Encoder(nn.Module):
    """Embedding and a GRU in both directions. V = vocab_size, D = embedding_size, H = hidden_size.

        embedding    nn.Embedding(V, D)
        gru          nn.GRU(D, H), one layer in both directions

    It has no other parameters.
    """

    def __init__(self, vocab_size: int, embedding_size: int, hidden_size: int) -> None:
        """Create the two modules."""
        super().__init__()
        # BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.gru = nn.GRU(embedding_size, hidden_size, batch_first=True, bidirectional=True)
        # END SOLUTION

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Encode sentences: one state for each token, and one for each sentence.

        tokens: (N, S)           ids; what stands in the padding changes nothing
        lengths: (N,)            the number of real tokens of each sentence, 1 to S
        returns the tuple (states, last)
            states: (N, S, 2H)   forward half, then backward half; exactly 0 in the padding
            last: (N, 2H)        forward half after the last real token, backward half after the first token
        """
        # BEGIN SOLUTION
        embedded = self.embedding(tokens)                                                       # (N, S, D)
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, h_n = self.gru(packed)                                                         # h_n: (2, N, H)
        states, _ = pad_packed_sequence(outputs, batch_first=True, total_length=tokens.shape[1])  # (N, S, 2H)
        last = torch.cat([h_n[0], h_n[1]], dim=1)                                               # (N, 2H)
        return states, last
        # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 4: the decoder
# ------------------------------------------------------------------------------------------------------------


class Decoder(nn.Module):
    """A GRU cell that looks at the encoder's states before each step.

    V = vocab_size, D = embedding_size, H = hidden_size, C = states_size:

        embedding    nn.Embedding(V, D)
        W            a parameter (H, C), for the bilinear scores
        cell         nn.GRUCell(D + C, H)
        out          nn.Linear(H, V)

    It has no other parameters.
    """

    def __init__(self, vocab_size: int, embedding_size: int, hidden_size: int, states_size: int) -> None:
        """Create the modules and the parameter W, every entry of W drawn uniformly between -1/√C and 1/√C."""
        super().__init__()
        # BEGIN SOLUTION
        bound = states_size**-0.5
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.W = nn.Parameter(torch.empty(hidden_size, states_size).uniform_(-bound, bound))
        self.cell = nn.GRUCell(embedding_size + states_size, hidden_size)
        self.out = nn.Linear(hidden_size, vocab_size)
        # END SOLUTION

    def step(
        self, tokens: torch.Tensor, h: torch.Tensor, states: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Take one step: look at the source with the old state, read the token before, and say what comes next.

        tokens: (N,)             the tokens before, y_{t-1}
        h: (N, H)                the state before the step, h_{t-1}
        states: (N, S, C)        the encoder's states
        lengths: (N,)            the number of real tokens of each source
        returns the tuple (logits, h)
            logits: (N, V)       of the tokens y_t
            h: (N, H)            the state after the step, h_t
        """
        # BEGIN SOLUTION
        scores = bilinear_scores(h, states, self.W)          # (N, S)
        c, _ = context(scores, states, lengths)              # (N, C)
        x = torch.cat([self.embedding(tokens), c], dim=1)    # (N, D + C)  the token first
        h = self.cell(x, h)                                  # (N, H)
        return self.out(h), h                                # (N, V), (N, H)
        # END SOLUTION

    def forward(
        self, inputs: torch.Tensor, h: torch.Tensor, states: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        """Take a step for each column of the inputs, whatever the logits say: teacher forcing.

        inputs: (N, T)       START, then the right tokens
        h: (N, H)            the state before the first step
        states: (N, S, C)
        lengths: (N,)        the number of real tokens of each source
        returns (N, T, V)    the logits of every step
        """
        # BEGIN SOLUTION
        logits = []
        for t in range(inputs.shape[1]):
            logits_t, h = self.step(inputs[:, t], h, states, lengths)  # (N, V), (N, H)
            logits.append(logits_t)
        return torch.stack(logits, dim=1)                              # (N, T, V)
        # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 5: the loss of teacher forcing
# ------------------------------------------------------------------------------------------------------------


def teacher_forced_loss(logits: torch.Tensor, targets: torch.Tensor, pad: int) -> torch.Tensor:
    """Compute the mean of -log p(target) over all targets of the batch that are not padding.

    logits: (N, T, V)    entries up to ±1000
    targets: (N, T)      the right tokens, then END, then pad
    pad                  the number that stands in the padding: an id, or a number that is none, such as -100
    returns a tensor without axes; 0 if there is nothing but padding
    """
    # BEGIN SOLUTION
    real = targets != pad                                             # (N, T)
    log_p = torch.log_softmax(logits, dim=2)                          # (N, T, V)
    ids = targets.masked_fill(~real, 0)                               # (N, T)  pad may be no id
    log_p_of_targets = log_p.gather(2, ids[:, :, None]).squeeze(2)    # (N, T)
    total = (log_p_of_targets * real).sum()                           # ()
    return -total / real.sum().clamp(min=1)                           # ()
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 6: greedy search
# ------------------------------------------------------------------------------------------------------------


def greedy(step: Step, state: torch.Tensor, start: int, end: int, limit: int) -> torch.Tensor:
    """Take the likeliest token at every step, for each sentence by itself, until END.

    step                 step(tokens, state) takes tokens (n,) and state (n, H), and gives logits (n, V) and the
                         new state (n, H); it is called once for each column of the answer
    state: (N, H)        the state before the first step
    start, end           the ids of START and END
    limit                the most tokens that may follow START, 1 or more
    returns (N, L)       the tokens after START with END, L ≤ limit; a sentence that ended is filled with END
    """
    # BEGIN SOLUTION
    N = state.shape[0]
    tokens = torch.full((N,), start, device=state.device)              # (N,)
    ended = torch.zeros(N, dtype=torch.bool, device=state.device)      # (N,)
    columns: list[torch.Tensor] = []
    while len(columns) < limit and not ended.all():
        logits, state = step(tokens, state)                            # (N, V), (N, H)
        tokens = logits.argmax(dim=1).masked_fill(ended, end)          # (N,)  of equal ones the first
        ended = tokens == end                                          # (N,)  one that had ended writes END again
        columns.append(tokens)
    return torch.stack(columns, dim=1)                                 # (N, L)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 7: beam search
# ------------------------------------------------------------------------------------------------------------


def beam_search(
    step: Step, state: torch.Tensor, start: int, end: int, width: int, limit: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Keep the `width` best hypotheses of one sentence at every step, until all of them have ended.

    step                 as in part 6, with a row for each hypothesis
    state: (1, H)        the state before the first step
    start, end           the ids of START and END
    width                the most hypotheses that are kept, 1 or more
    limit                the most tokens that may follow START, 1 or more
    returns the tuple (tokens, scores), the best hypothesis first, K ≤ width
        tokens: (K, L)   as in part 6
        scores: (K,)     the sums of their log probabilities
    """
    # BEGIN SOLUTION
    tokens = torch.empty(1, 0, dtype=torch.int64, device=state.device)  # (K, L)
    last = torch.full((1,), start, device=state.device)                 # (K,)
    scores = torch.zeros(1, dtype=state.dtype, device=state.device)     # (K,)
    ended = torch.zeros(1, dtype=torch.bool, device=state.device)       # (K,)
    while tokens.shape[1] < limit and not ended.all():
        logits, state = step(last, state)                               # (K, V), (K, H)
        log_p = torch.log_softmax(logits, dim=1)                        # (K, V)
        rest = torch.full_like(log_p, -torch.inf)                       # (K, V)
        rest[:, end] = 0                                                # an ended one goes on with END, for nothing
        log_p = torch.where(ended[:, None], rest, log_p)                # (K, V)
        candidates = (scores[:, None] + log_p).flatten()                # (K·V,)
        scores, order = candidates.sort(descending=True, stable=True)   # (K·V,) each
        possible = min(width, int(scores.isfinite().sum()))             # the new K
        scores, order = scores[:possible], order[:possible]             # (K,) each
        k, last = order // log_p.shape[1], order % log_p.shape[1]       # (K,) each
        tokens = torch.cat([tokens[k], last[:, None]], dim=1)           # (K, L)
        state, ended = state[k], last == end                            # (K, H), (K,)
    return tokens, scores
    # END SOLUTION
