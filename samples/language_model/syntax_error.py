"""A sample submission: a bracket is missing."""

import torch
import torch.nn.functional as F
from torch import nn


def windows(ids, context, starts=None):
    if len(ids) <= context:
        raise ValueError("the text is too short")
    pieces = ids.unfold(0, context + 1, 1)
    if starts is None:
        starts = torch.arange(0, len(pieces), context, device=ids.device)
    if starts.min() < 0 or starts.max() >= len(pieces):
        raise ValueError("a window would leave the text")
    chosen = pieces[starts]
    return chosen[:, :-1], chosen[:, 1:]


def next_token_loss(logits, targets, ignore=-100):
    z, y = logits.flatten(0, -2), targets.flatten()
    z, y = z[y != ignore], y[y != ignore]
    if len(y) == 0:
        return logits.sum() * 0
    return -F.log_softmax(z, dim=-1).gather(1, y[:, None]).mean()


def perplexity(logits, targets, ignore=-100):
    return torch.exp(next_token_loss(logits, targets, ignore)


class Block(nn.Module):
    def __init__(self, width, n_heads, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.self_attn = nn.MultiheadAttention(width, n_heads, batch_first=True)
        self.norm2 = nn.LayerNorm(width)
        self.linear1 = nn.Linear(width, 4 * width)
        self.linear2 = nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, blocked):
        z = self.norm1(x)
        attended, _ = self.self_attn(z, z, z, attn_mask=blocked, need_weights=False)
        x = x + self.dropout(attended)
        return x + self.dropout(self.linear2(F.relu(self.linear1(self.norm2(x)))))


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, context, d_model, n_heads, n_layers, dropout=0.0):
        super().__init__()
        self.context = context
        self.embed = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads, dropout) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embed.weight, 0, 0.02)
        nn.init.normal_(self.positions.weight, 0, 0.02)

    def hidden(self, ids):
        t = ids.shape[-1]
        if t > self.context:
            raise ValueError(f"the model reads {self.context} tokens at most")
        place = torch.arange(t, device=ids.device)
        x = (self.embed(ids) + self.positions(place)).view(-1, t, self.embed.embedding_dim)
        blocked = place[None, :] > place[:, None]
        for block in self.blocks:
            x = block(x, blocked)
        return self.norm(x).view(*ids.shape, -1)

    def forward(self, ids):
        return F.linear(self.hidden(ids), self.embed.weight)


def with_temperature(logits, temperature):
    if temperature < 0:
        raise ValueError("a temperature below 0 makes no sense")
    if temperature == 0:
        certain = F.one_hot(logits.argmax(-1), logits.shape[-1])
        return certain.to(logits.dtype).log()
    return (logits - logits.max(-1, keepdim=True).values) / temperature


def top_k(logits, k):
    if k < 1:
        raise ValueError("at least one token has to stay")
    order = torch.sort(logits, dim=-1, descending=True, stable=True).indices
    rank = torch.argsort(order, dim=-1)
    return logits.masked_fill(rank >= k, -torch.inf)


def top_p(logits, p):
    if p < 0 or p > 1:
        raise ValueError("p is a probability")
    if p == 1:
        return logits.clone()
    values, order = torch.sort(logits, dim=-1, descending=True, stable=True)
    total = values.softmax(-1).cumsum(-1)
    late = torch.zeros_like(total, dtype=torch.bool)
    late[..., 1:] = total[..., :-1] >= p
    return logits.masked_fill(late.gather(-1, order.argsort(-1)), -torch.inf)


def choose(probabilities, uniforms):
    ends = probabilities.cumsum(-1)
    token = torch.searchsorted(ends, uniforms.to(ends.dtype).unsqueeze(-1), right=True).squeeze(-1)
    places = torch.arange(probabilities.shape[-1], device=probabilities.device)
    return token.minimum(places.where(probabilities > 0, 0).amax(-1))


def generate(model, ids, uniforms, context, temperature=1.0, k=None, p=None, end=None):
    mode = model.training
    model.eval()
    ended = ids.new_zeros(len(ids)).bool()
    for j in range(uniforms.shape[1]):
        with torch.no_grad():
            logits = with_temperature(model(ids[:, -context:])[:, -1], temperature)
        if k is not None:
            logits = top_k(logits, k)
        if p is not None:
            logits = top_p(logits, p)
        new = choose(logits.softmax(-1), uniforms[:, j])
        if end is not None:
            new = torch.where(ended, end, new)
            ended = new == end
        ids = torch.cat([ids, new.unsqueeze(1)], dim=1)
    model.train(mode)
    return ids


def freeze(model, trainable):
    names = [name for name, _ in model.named_parameters()]
    for wanted in trainable:
        if not any((name + ".").startswith(wanted + ".") for name in names):
            raise ValueError(f"there is no {wanted}")
    learning = []
    for name, parameter in model.named_parameters():
        parameter.requires_grad = any((name + ".").startswith(wanted + ".") for wanted in trainable)
        if parameter.requires_grad:
            learning.append(name)
    return learning


def features(model, ids, lengths):
    hidden = model.hidden(ids)
    return hidden[torch.arange(len(ids), device=ids.device), lengths - 1]
