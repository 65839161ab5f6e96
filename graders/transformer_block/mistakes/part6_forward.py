"""A Transformer with the right parameters that uses its mask, positions or blocks wrongly, or takes any length."""

import torch

from graders.transformer_block.pieces import standardised
from reference import transformer_block as ref
from softmark import mistake


def require_fitting(model, tokens):
    if tokens.shape[-1] > model.positions.shape[0]:
        raise ValueError("too many tokens")


def embedded(model, tokens):
    """Tokens and positions, added."""
    require_fitting(model, tokens)
    return model.embed(tokens) + model.positions[: tokens.shape[-1]]


def may_look(tokens, diagonal=0):
    """The causal mask, or one that reaches further."""
    T = tokens.shape[-1]
    return torch.ones(T, T, dtype=torch.bool, device=tokens.device).tril(diagonal)


def through(blocks, X, mask):
    for block in blocks:
        X = block(X, mask)
    return X


@mistake(
    ref.Transformer.forward,
    id="B23",
    says="Your blocks get no mask: every token sees the tokens that come after it.",
    hint="Pass a causal mask to every block.",
)
def stack_without_mask(self, tokens):
    return through(self.blocks, embedded(self, tokens), None)


@mistake(
    ref.Transformer.forward,
    says="Only your first block is causal, so the future comes in through the others.",
    hint="Every block needs the mask.",
)
def stack_with_mask_in_first_block(self, tokens):
    first, *others = self.blocks
    return through(others, first(embedded(self, tokens), may_look(tokens)), None)


@mistake(
    ref.Transformer.forward,
    id="M09",
    says="Your tokens look at the future and not at the past.",
    hint="Rows are queries, columns are keys: which triangle is the past?",
)
def stack_sees_the_future_only(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens).T)


@mistake(
    ref.Transformer.forward,
    id="M11",
    says="Your tokens see the token that follows them.",
    hint="Your triangle reaches one step too far.",
)
def stack_sees_one_ahead(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens, 1))


@mistake(
    ref.Transformer.forward,
    id="M10",
    says="Your tokens do not see themselves, but only what came before.",
    hint="The diagonal belongs to the allowed part.",
)
def stack_without_diagonal(self, tokens):
    mask = may_look(tokens, -1)
    return through(self.blocks, embedded(self, tokens), mask | ~mask.any(dim=-1, keepdim=True))


@mistake(
    ref.Transformer.forward,
    says="Your tokens do not see themselves, but only what came before, and the first one sees nothing.",
    hint="The diagonal belongs to the allowed part.",
)
def stack_without_diagonal_anywhere(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens, -1))


@mistake(
    ref.Transformer.forward,
    says="You do not add the positions.",
    hint="The attention cannot tell the order of the tokens by itself.",
)
def stack_without_positions(self, tokens):
    require_fitting(self, tokens)
    return through(self.blocks, self.embed(tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P06",
    says="Your positions count from 1.",
    hint="The first token gets row 0.",
)
def positions_from_one(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions.roll(-1, dims=0)[: tokens.shape[-1]]
    return through(self.blocks, self.embed(tokens) + rows, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P17",
    says="You take the last rows of the positions instead of the first.",
    hint="The first token gets row 0, however long the sequence is.",
)
def positions_from_the_end(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions[-tokens.shape[-1] :]
    return through(self.blocks, self.embed(tokens) + rows, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P22",
    says="You look the positions up by token instead of by place.",
    hint="The same token at two places gets two different position vectors.",
)
def positions_by_token(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions[tokens % self.positions.shape[0]]
    return through(self.blocks, self.embed(tokens) + rows, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P23",
    says="All your tokens get the same position vector.",
    hint="Token t gets row t: you need as many rows as there are tokens.",
)
def positions_all_the_same(self, tokens):
    require_fitting(self, tokens)
    row = self.positions[tokens.shape[-1] - 1]
    return through(self.blocks, self.embed(tokens) + row, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P27",
    says="You add the positions again before every block.",
    hint="They are added once, to the embedding.",
)
def positions_in_every_block(self, tokens):
    X, mask = embedded(self, tokens), may_look(tokens)
    rows = self.positions[: tokens.shape[-1]]
    first, *others = self.blocks
    X = first(X, mask)
    for block in others:
        X = block(X + rows, mask)
    return X


@mistake(
    ref.Transformer.forward,
    says="You add the positions before every block, and to the first block's input twice.",
    hint="They are added once, to the embedding.",
)
def positions_before_every_block(self, tokens):
    X, mask = embedded(self, tokens), may_look(tokens)
    for block in self.blocks:
        X = block(X + self.positions[: tokens.shape[-1]], mask)
    return X


@mistake(
    ref.Transformer.forward,
    id="P14",
    says="You multiply the embeddings by the positions.",
    hint="The vector of a position is added.",
)
def positions_multiplied(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions[: tokens.shape[-1]]
    return through(self.blocks, self.embed(tokens) * rows, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P26",
    says="You multiply the embeddings by √d_model.",
    hint="Some papers do; here the embedding is added as it is.",
)
def embedding_scaled(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions[: tokens.shape[-1]]
    X = self.embed(tokens) * self.positions.shape[1] ** 0.5 + rows
    return through(self.blocks, X, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="Your tokens pass through the first block only.",
    hint="What a block puts out goes into the next one.",
)
def first_block_only(self, tokens):
    return through(self.blocks[:1], embedded(self, tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="All your blocks read the embeddings, and only the last block's result is used.",
    hint="What a block puts out goes into the next one.",
)
def blocks_not_chained(self, tokens):
    return through(self.blocks[-1:], embedded(self, tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="Your tokens pass through the blocks in reverse order.",
    hint="blocks.0 comes first.",
)
def blocks_reversed(self, tokens):
    return through(reversed(self.blocks), embedded(self, tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="You add the input of every block to its output.",
    hint="The residual connections are inside the blocks.",
)
def residual_around_blocks(self, tokens):
    X, mask = embedded(self, tokens), may_look(tokens)
    for block in self.blocks:
        X = X + block(X, mask)
    return X


@mistake(
    ref.Transformer.forward,
    says="You normalise the output of the last block.",
    hint="There is nothing after the last block.",
)
def final_standardisation(self, tokens):
    return standardised(through(self.blocks, embedded(self, tokens), may_look(tokens)), ref.EPS)


@mistake(
    ref.Transformer.forward,
    says="You return scores for the words of the vocabulary instead of the vectors of the tokens.",
    hint="The result has the width d_model: there is no output layer here.",
)
def returns_scores_of_words(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens)) @ self.embed.weight.T


@mistake(
    ref.Transformer.forward,
    says="You return the last token only.",
    hint="Every token gets a vector.",
)
def returns_last_token(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens))[..., -1, :]


@mistake(
    ref.Transformer.forward,
    says="You do not check the length: too many tokens end in another exception than ValueError.",
    hint="Compare the number of tokens with the number of rows of the positions, and raise what the handout names.",
)
def length_not_checked(self, tokens):
    X = self.embed(tokens) + self.positions[: tokens.shape[-1]]
    return through(self.blocks, X, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="You cut a sequence that is too long instead of refusing it.",
    hint="The handout says what happens to a sequence longer than max_len.",
)
def length_cut(self, tokens):
    tokens = tokens[..., : self.positions.shape[0]]
    return through(self.blocks, embedded(self, tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="M25",
    says="Your causal mask is on the CPU, whatever device the tokens are on.",
    hint="A new tensor needs the device of the input.",
)
def mask_on_cpu(self, tokens):
    T = tokens.shape[-1]
    return through(self.blocks, embedded(self, tokens), torch.ones(T, T, dtype=torch.bool, device="cpu").tril())


@mistake(
    ref.Transformer.forward,
    says="No gradient reaches your embedding.",
    hint="The vectors of the tokens are learned, too: no detach, no .data.",
)
def embedding_detached(self, tokens):
    require_fitting(self, tokens)
    X = self.embed(tokens).detach() + self.positions[: tokens.shape[-1]]
    return through(self.blocks, X, may_look(tokens))
