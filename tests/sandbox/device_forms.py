"""Forms of code on a device: what a real one accepts, what it refuses, and what leaves it. Each takes a 3×4 tensor."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Variable
from torch.nn.utils import parametrizations, parametrize, rnn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

Form = Callable[[torch.Tensor], Any]


class Own(torch.Tensor):
    """A subclass of a student's."""


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return 2 * ctx.saved_tensors[0] * gradients[0]


@torch.jit.script
def scripted(x):
    table = torch.tensor([1.0, 2.0, 3.0, 4.0], device=x.device)
    return x + table + torch.zeros(4, device=x.device) + torch.arange(4, device=x.device)


@torch.jit.script
def scripted_on_the_cpu(x):
    return x + torch.zeros(4)


class Holder(nn.Module):
    """Has every kind of tensor that a module may hold, and keeps its weight in a list as well."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.ones(4))
        self.weight = nn.Parameter(torch.ones(4))
        self.more = nn.ParameterList([self.weight, nn.Parameter(torch.zeros(4))])
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Identity()])
        self.kept = [self.weight]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x * self.mask * self.weight + self.more[1] + self.kept[0]


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.out = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert self.out.weight is self.embed.weight
        return self.out(x) @ self.embed(torch.arange(5, device=x.device))


class Symmetric(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.triu() + weight.triu(1).mT


class PlainAttribute(nn.Module):
    """Keeps its mask where `.to` does not see it."""

    def __init__(self) -> None:
        super().__init__()
        self.mask = torch.ones(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.mask


class MovesItself(PlainAttribute):
    """Keeps a mask as a plain attribute, and moves it."""

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        super()._apply(fn, recurse)
        self.mask = fn(self.mask)
        return self


def symmetric(x: torch.Tensor) -> torch.Tensor:
    layer = nn.Linear(4, 4, device=x.device)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    return layer(x)


def default_device(x: torch.Tensor) -> torch.Tensor:
    before = torch.get_default_device()
    torch.set_default_device(x.device)
    try:
        return x + torch.zeros(4) + torch.tensor([1.0] * 4) + torch.arange(4)
    finally:
        torch.set_default_device(None if before.type == "cpu" else before)


def device_context(x: torch.Tensor) -> torch.Tensor:
    with torch.device(x.device):
        return nn.Linear(4, 4)(x + torch.zeros(4) + torch.tensor([1.0] * 4))


def own_generator(x: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator(device=x.device).manual_seed(0)
    drawn = torch.rand(3, 4, generator=generator, device=x.device)
    return x + drawn + torch.empty(4, device=x.device).normal_(generator=generator)


def inference(x: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return F.layer_norm((x @ x.T).to(x.device), (3,)) + torch.zeros(3).to(x.device)


def without_gradients(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return x @ x.T


def indexed(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[y > 0] = 0
    y[torch.tensor([0])] = 1.0
    y[:, 1] = x[:, 0]
    y[x < 0] *= 2
    return y[y > 0]


def assigned(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    y[torch.tensor([1])] = torch.tensor(1.0)
    y[[0, 1], [1, 2]] = x[0, :2]
    return y + x


def state_dict(x: torch.Tensor) -> torch.Tensor:
    first, second = nn.Linear(4, 4).to(x.device), nn.Linear(4, 4, device=x.device)
    second.load_state_dict(first.state_dict())
    return second(x)


def deep_copies(x: torch.Tensor) -> torch.Tensor:
    return copy.deepcopy(nn.Linear(4, 4).to(x.device))(copy.deepcopy(x)) + copy.copy(x)


def optimised(x: torch.Tensor) -> torch.Tensor:
    layer = nn.Linear(4, 1).to(x.device)
    for optimizer in (torch.optim.Adam(layer.parameters()), torch.optim.SGD(layer.parameters(), 0.1, momentum=0.9)):
        optimizer.zero_grad()
        layer(x).sum().backward()
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        optimizer.step()
    return layer(x)


def hooked(x: torch.Tensor) -> torch.Tensor:
    layer = nn.Linear(4, 4).to(x.device)
    layer.register_forward_hook(lambda module, inputs, output: output + torch.zeros_like(output))
    layer.register_full_backward_hook(lambda module, inputs, outputs: None)
    layer(x).sum().backward()
    return layer(x) + layer.weight.grad[0]


def ctc(x: torch.Tensor) -> torch.Tensor:
    scores = x.log_softmax(-1)[:, None]
    return F.ctc_loss(scores, torch.tensor([[1]], device=x.device), torch.tensor([3]), torch.tensor([1]))


def packed(x: torch.Tensor) -> torch.Tensor:
    batch = rnn.pack_padded_sequence(x[None].expand(2, 3, 4), torch.tensor([3, 2]), batch_first=True)
    output, _ = nn.LSTM(4, 2, batch_first=True).to(x.device)(batch)
    return rnn.pad_packed_sequence(output, batch_first=True)[0]


def data_moved(x: torch.Tensor) -> torch.Tensor:
    weight = nn.Parameter(torch.ones(4))
    weight.data = weight.data.to(x.device)
    return weight * x


def reshaped_in_place(x: torch.Tensor) -> torch.Tensor:
    return x.clone().add_(1).mul_(2).unsqueeze_(0).squeeze_().t_()


def gradient(x: torch.Tensor) -> torch.Tensor:
    weight = nn.Parameter(x)
    (weight * weight).sum().backward()
    assert weight.grad is not None
    return weight.grad + x


def printed(x: torch.Tensor) -> torch.Tensor:
    assert f"{x.sum():.2f} {x.sum()} {x}"
    return x


def attention(x: torch.Tensor) -> torch.Tensor:
    mask = torch.ones(3, 3, dtype=torch.bool, device=x.device).tril()
    return F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None], attn_mask=mask)


def transformer(x: torch.Tensor) -> torch.Tensor:
    model = nn.Transformer(4, 2, 1, 1, 8, dropout=0.0, batch_first=True).to(x.device)
    mask = nn.Transformer.generate_square_subsequent_mask(3, device=x.device)
    return model(x[None], x[None], tgt_mask=mask)


def complex_numbers(x: torch.Tensor) -> torch.Tensor:
    z = torch.complex(x, x)
    return (z.conj() @ z.mT).abs() + torch.view_as_real(z.conj().resolve_conj()).sum() + z.conj().imag.mean()


def sparse(x: torch.Tensor) -> torch.Tensor:
    own = torch.sparse_coo_tensor(torch.tensor([[0, 1], [0, 1]], device=x.device), x[0, :2], (3, 3), device=x.device)
    return torch.sparse.mm(x.to_sparse(), x.T) + own.to_dense()


def while_large(x: torch.Tensor) -> torch.Tensor:
    while x.norm() > 0.1:
        x = x / 2
    return x[: int((x > 0).sum().item()) % 3 + 1]


KEPT: dict[str, Form] = {
    "arithmetic": lambda x: (x @ x.T / 2 + 1).softmax(-1),
    "Python's numbers": lambda x: 2.0**x * math.sqrt(x.shape[-1]) - 1 / (x + 3),
    "nn.Parameter": lambda x: nn.Parameter(x) * 2,
    "Variable": lambda x: Variable(x) + x,
    "as_subclass": lambda x: x.as_subclass(Own) + x,
    "as_subclass and back": lambda x: (x.as_subclass(Own) * 2).as_subclass(torch.Tensor),
    "jit.script": scripted,
    "jit.script of a module": lambda x: torch.jit.script(nn.Linear(4, 2, device=x.device))(x),
    "torch.compile": lambda x: torch.compile(lambda y: y + torch.zeros(4, device=y.device), backend="eager")(x),
    "from_pretrained": lambda x: nn.Embedding.from_pretrained(x)(torch.tensor([0, 2], device=x.device)),
    "a layer on its device": lambda x: nn.Linear(4, 2, device=x.device)(x),
    "a module moved": lambda x: Holder().to(x.device)(x),
    "a module that moves itself": lambda x: MovesItself().to(x.device)(x),
    "tied weights": lambda x: Tied().to(x.device)(x),
    "weight_norm": lambda x: parametrizations.weight_norm(nn.Linear(4, 4)).to(x.device)(x),
    "weight_norm of old": lambda x: nn.utils.weight_norm(nn.Linear(4, 4)).to(x.device)(x),
    "a parametrization": symmetric,
    "a lazy layer": lambda x: nn.LazyLinear(3, device=x.device)(x),
    "Sequential": lambda x: nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Dropout(0.0)).to(x.device)(x),
    "functional_call": lambda x: torch.func.functional_call(
        nn.Linear(4, 3).to(x.device), {"weight": x, "bias": x.new_zeros(3)}, (x,)
    ),
    "state_dict": state_dict,
    "copies": deep_copies,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)) + x,
    "optimizers": optimised,
    "hooks": hooked,
    "initialisers": lambda x: nn.init.trunc_normal_(nn.init.orthogonal_(torch.empty(4, 4, device=x.device))) @ x.T,
    "data moved": data_moved,
    "vmap": lambda x: torch.vmap(lambda row: row.softmax(-1) @ x.T)(x) + x @ x.T,
    "a tensor in vmap": lambda x: torch.vmap(lambda row: row + torch.tensor([1.0] * 4, device=row.device))(x),
    "vmap in vmap": lambda x: torch.vmap(torch.vmap(lambda entry: entry * 2))(x) + x,
    "torch.func.grad": lambda x: torch.func.grad(lambda y: (y * y).sum())(x) + x,
    "a gradient for each row": lambda x: torch.vmap(torch.func.grad(lambda row: (row**2).sum()))(x),
    "jacrev": lambda x: torch.func.jacrev(lambda y: y * y)(x),
    "hessian": lambda x: torch.func.hessian(lambda y: (y**3).sum())(x),
    "jvp": lambda x: torch.func.jvp(torch.sin, (x,), (x,))[1],
    "backward": gradient,
    "autograd.Function": lambda x: torch.autograd.grad(Square.apply(leaf := x.clone().requires_grad_()).sum(), leaf)[0],
    "checkpoint": lambda x: checkpoint(lambda y: y.sin() * 2, x.clone().requires_grad_(), use_reentrant=False),
    "reentrant checkpoint": lambda x: checkpoint(lambda y: y.sin(), x.clone().requires_grad_(), use_reentrant=True),
    "no_grad": without_gradients,
    "inference_mode": inference,
    "a default device": default_device,
    "a device context": device_context,
    "a generator": own_generator,
    "random numbers like it": lambda x: torch.randn_like(x) + torch.randperm(4, device=x.device),
    "multinomial": lambda x: torch.multinomial(x.softmax(-1), 1),
    "distributions": lambda x: torch.distributions.Normal(x, x.abs() + 1).log_prob(x),
    "dropout": lambda x: F.dropout(x, 0.5),
    "new_zeros": lambda x: x + x.new_zeros(4) + x.new_full((4,), 2.0) + x.new_ones(4),
    "new_tensor": lambda x: x * x.new_tensor([1.0, 2.0, 3.0, 4.0]),
    "new_empty": lambda x: x.new_empty(4).zero_() + x.new(3, 4).zero_() + x,
    "zeros on its device": lambda x: x + torch.zeros(4, device=x.device),
    "arange on its device": lambda x: x + torch.arange(4, device=x.device),
    "linspace on its device": lambda x: x + torch.linspace(0, 1, 4, device=x.device),
    "eye on its device": lambda x: torch.eye(3, device=x.device) @ x,
    "a tensor on its device": lambda x: x + torch.tensor([1.0] * 4, device=x.device),
    "a tensor by keywords": lambda x: x + torch.tensor(data=[1.0] * 4, dtype=x.dtype, device=x.device),
    "a leaf on its device": lambda x: torch.tensor([1.0] * 4, device=x.device, requires_grad=True) * x,
    "as_tensor": lambda x: torch.as_tensor([1.0] * 4, device=x.device) + torch.as_tensor(3, device=x.device) + x,
    "asarray": lambda x: torch.asarray([1.0] * 4, device=x.device) + x,
    "an array": lambda x: torch.tensor(np.ones(4, np.float32), device=x.device) + x,
    "a list of its numbers": lambda x: torch.tensor(x.tolist(), device=x.device) + x,
    "a list of single tensors": lambda x: torch.tensor([row.sum() for row in x], device=x.device) + x.sum(-1),
    "zeros_like": lambda x: torch.zeros_like(x) + torch.empty_like(x).fill_(2.0) + x,
    "to another's": lambda x: x + torch.zeros(4).to(x) + torch.ones(4).type_as(x),
    "to its device": lambda x: x + torch.zeros(4).to(device=x.device, dtype=x.dtype),
    "to a dtype": lambda x: x.to(torch.float64) + x.half().float(),
    "to the CPU and back": lambda x: x.cpu().sin().to(x.device) + x,
    "numpy and back": lambda x: torch.from_numpy(x.cpu().numpy() * 2).to(x.device) + x,
    "single numbers of the CPU": lambda x: x / torch.tensor(2.0).sqrt() * torch.tensor(3),
    "where with a number": lambda x: torch.where(x > 0, x, 0.0) + torch.where(x > 0, x, torch.tensor(0.0)),
    "clamp": lambda x: x.clamp(min=0).clamp_(max=torch.tensor(0.5)),
    "masked_fill": lambda x: x.masked_fill(x > 0, float("-inf")).masked_fill(x < 0, torch.tensor(-1.0)),
    "a mask of its own": lambda x: x.masked_fill(torch.ones(3, 4, dtype=torch.bool, device=x.device).tril(), 0),
    "fill_": lambda x: x.clone().fill_(torch.tensor(1.0)),
    "an index": lambda x: x[torch.tensor([0, 2])] + x[torch.tensor([True, False, True])] + x[1:],
    "lists as indices": lambda x: x[[0, 1]] + x[[True, False, True]] + x[:, [0, 1, 2, 2]][:2] + x[np.array([0, 1])],
    "slices": lambda x: x[..., None, :, 0],
    "assignment by an index": assigned,
    "assignment by masks": indexed,
    "index_put": lambda x: x.index_put((torch.tensor([0]), torch.tensor([1])), torch.tensor(5.0)),
    "nonzero": lambda x: x.nonzero(),
    "unique": lambda x: x.unique(),
    "loops until": while_large,
    "rows": lambda x: torch.stack([torch.stack([entry * 2 for entry in row]) for row in x]),
    "a sum of rows": lambda x: sum(row.sum() for row in x),
    "one_hot": lambda x: F.one_hot(x.argmax(-1), 4) * x,
    "scatter": lambda x: torch.zeros_like(x).scatter_(1, x.argmax(-1, keepdim=True), 1.0),
    "gather": lambda x: x.gather(1, x.argsort(-1)) + x.topk(4)[0],
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "cat": lambda x: torch.cat([x, x.new_zeros(1, 4)]),
    "split": lambda x: sum(x.split(1)),
    "tensor_split": lambda x: torch.tensor_split(x, torch.tensor([1]))[0],
    "transposes": lambda x: x.T.contiguous().view(2, 6) + x.mT.reshape(2, 6),
    "strides": lambda x: x.as_strided((2, 2), (1, 1)) + x.unfold(1, 2, 1)[0, :2],
    "in place": reshaped_in_place,
    "resize_": lambda x: x.new_empty(2).resize_(3, 4).copy_(x) + x,
    "set_": lambda x: x.new_empty(0).set_(x) + x,
    "out=": lambda x: torch.add(x, x, out=x.new_empty(0)) + x,
    "a copy to it": lambda x: torch.empty_like(x).copy_(torch.ones(3, 4)) + x,
    "foreach": lambda x: torch._foreach_mul([x, x], 2.0)[0],
    "questions": lambda x: x if torch.equal(x, x) and torch.allclose(x, x) and 5.0 not in x else None,
    "linear algebra": lambda x: torch.linalg.solve(torch.eye(3, device=x.device) * 2, x) + torch.linalg.svd(x)[1][0],
    "complex numbers": complex_numbers,
    "fft": lambda x: torch.fft.fft(x).abs(),
    "sparse": sparse,
    "cross_entropy": lambda x: F.cross_entropy(x, x.argmax(-1)),
    "layer_norm": lambda x: F.layer_norm(x, (4,)) + nn.RMSNorm(4, device=x.device)(x),
    "batch_norm": lambda x: nn.BatchNorm1d(4).to(x.device)(x),
    "conv": lambda x: nn.Conv1d(3, 2, 2).to(x.device)(x),
    "attention": attention,
    "causal attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
    "MultiheadAttention": lambda x: nn.MultiheadAttention(4, 2).to(x.device).eval()(x, x, x)[0],
    "TransformerEncoderLayer": lambda x: nn.TransformerEncoderLayer(4, 2, 8, 0.0).to(x.device).eval()(x),
    "Transformer": transformer,
    "LSTM": lambda x: nn.LSTM(4, 2).to(x.device)(x)[0],
    "GRU": lambda x: nn.GRU(4, 2, device=x.device)(x)[0],
    "packed sequences": packed,
    "ctc_loss": ctc,
    "DataLoader": lambda x: next(iter(DataLoader(TensorDataset(x), batch_size=2)))[0],
    "text": printed,
}
"""A real device runs these, and the result is on it."""


def on_the_cpu(x: torch.Tensor) -> torch.Tensor:
    with torch.device("cpu"):
        return x + torch.zeros(4)


def inference_with_a_constant(x: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        return x @ torch.ones(4, 2)


def assigned_by_a_mask(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[x > 0] = torch.ones(int((x > 0).sum()))
    return y


def initial_state(x: torch.Tensor) -> torch.Tensor:
    return nn.LSTM(4, 2, device=x.device)(x, (torch.zeros(1, 2), torch.zeros(1, 2)))[0]


def lengths(x: torch.Tensor) -> torch.Tensor:
    return rnn.pack_padded_sequence(x[None], torch.tensor([3], device=x.device), batch_first=True).data


REFUSED: dict[str, Form] = {
    "zeros": lambda x: x + torch.zeros(4),
    "a tensor": lambda x: x * torch.tensor([1.0, 2.0, 3.0, 4.0]),
    "arange": lambda x: x + torch.arange(4),
    "full": lambda x: x * torch.full((4,), 2.0),
    "randn": lambda x: x + torch.randn(3, 4),
    "eye": lambda x: x.T @ torch.eye(3),
    "a mask": lambda x: x.masked_fill(torch.ones(3, 4).tril() == 0, 0.0),
    "positions": lambda x: x + torch.sin(torch.arange(3)[:, None] / torch.arange(1, 5)),
    "a device by name": lambda x: x + torch.ones(4, device="cpu"),
    "a device context": on_the_cpu,
    "moved by name": lambda x: x.to("cpu") + x,
    "cpu": lambda x: x.cpu() * x,
    "type_as the wrong way": lambda x: x.type_as(torch.ones(4)) + x,
    "a type of the CPU": lambda x: x.type(torch.FloatTensor) + x,
    "a list of its numbers": lambda x: torch.tensor(x.tolist()) * x,
    "numpy": lambda x: torch.from_numpy(x.numpy()),
    "numpy's functions": lambda x: x + torch.tensor(np.exp(x)),
    "an array": lambda x: x + torch.from_numpy(np.ones(4, np.float32)),
    "a buffer as a plain attribute": lambda x: PlainAttribute().to(x.device)(x),
    "a layer of its own": lambda x: nn.Linear(4, 2)(x),
    "an embedding of its own": lambda x: nn.Embedding(5, 4)(x.argmax(-1)),
    "an LSTM of its own": lambda x: nn.LSTM(4, 2)(x)[0],
    "a state of its own": initial_state,
    "attention of its own": lambda x: nn.MultiheadAttention(4, 2)(x, x, x)[0],
    "a norm of its own": lambda x: nn.BatchNorm1d(4)(x),
    "a parameter of its own": lambda x: nn.Parameter(torch.ones(4)) * x,
    "cat": lambda x: torch.cat([x, torch.zeros(1, 4)]),
    "a stack of numbers": lambda x: torch.stack([x.sum(), torch.tensor(0.0)]),
    "in place": lambda x: x.clone().add_(torch.ones(4)),
    "summed into a number": lambda x: torch.tensor(0.0).add_(x.sum()),
    "summed into zeros": lambda x: torch.zeros(3, 4).add_(x),
    "out=": lambda x: torch.add(x, x, out=torch.empty(3, 4)),
    "where": lambda x: torch.where(x > 0, x, torch.zeros(3, 4)),
    "where with its condition": lambda x: torch.where(torch.ones(3, 4) > 0, x, x),
    "matmul": lambda x: x @ torch.ones(4, 2),
    "einsum": lambda x: torch.einsum("ij,jk->ik", x, torch.ones(4, 2)),
    "linear": lambda x: F.linear(x, torch.ones(2, 4)),
    "a bias": lambda x: F.linear(x, x, torch.ones(3)),
    "addmm": lambda x: torch.addmm(torch.tensor(0.0), x, x.T),
    "layer_norm": lambda x: F.layer_norm(x, (4,), torch.ones(4)),
    "attention's mask": lambda x: F.scaled_dot_product_attention(
        x[None], x[None], x[None], attn_mask=torch.ones(3, 3).tril() > 0
    ),
    "a transformer's mask": lambda x: x + nn.Transformer.generate_square_subsequent_mask(4)[:3],
    "targets": lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2])),
    "one_hot": lambda x: F.one_hot(torch.arange(3), 4) * x,
    "gather": lambda x: x.gather(1, torch.zeros(3, 1, dtype=torch.long)),
    "scatter": lambda x: x.scatter(1, torch.zeros(3, 1, dtype=torch.long), 0.0),
    "index_select": lambda x: x.index_select(0, torch.tensor([0])),
    "a table of the CPU by an index": lambda x: torch.ones(4, 4)[x.argmax(-1)],
    "a table of the CPU by a mask": lambda x: torch.zeros(3, 4)[x > 0],
    "index_put": lambda x: x.clone().index_put_((torch.tensor([0]),), torch.ones(4)),
    "assignment by a mask": assigned_by_a_mask,
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([0.0])),
    "equal": lambda x: torch.equal(x, torch.zeros(3, 4)),
    "vmap": lambda x: torch.vmap(lambda row: row + torch.zeros(4))(x),
    "after vmap": lambda x: torch.vmap(lambda row: row * 2)(x) + torch.zeros(4),
    "jit.script": scripted_on_the_cpu,
    "checkpoint": lambda x: checkpoint(lambda y: y + torch.ones(4), x, use_reentrant=False),
    "inference_mode": inference_with_a_constant,
    "a generator of the CPU": lambda x: torch.rand(3, 4, generator=torch.Generator(), device=x.device),
    "in place with a generator of the CPU": lambda x: x.clone().normal_(generator=torch.Generator()),
    "lengths on the device": lengths,
    "apply_": lambda x: x.apply_(lambda value: value),
    "cuda": lambda x: x.cuda(),
}
"""A real device refuses these."""


def copied_to_zeros(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(3, 4)
    y[:] = x
    return y


LEFT: dict[str, Form] = {
    "cpu": lambda x: x.cpu().softmax(-1),
    "made elsewhere": lambda x: torch.zeros(x.shape),
    "made on the CPU": lambda x: torch.ones(3, 4, device="cpu"),
    "places": lambda x: torch.arange(x.shape[0]),
    "rebuilt from numbers": lambda x: torch.tensor(x.tolist()),
    "rebuilt from single tensors": lambda x: torch.tensor([x.sum(), x.mean()]),
    "moved by name": lambda x: x.to("cpu"),
    "by a type": lambda x: x.type(torch.FloatTensor),
    "by numpy": lambda x: torch.from_numpy(x.detach().cpu().numpy() * 2),
    "copied": lambda x: torch.empty(3, 4).copy_(x),
    "assigned": copied_to_zeros,
    "filled": lambda x: torch.zeros(2).fill_(x.sum()),
}
"""A real device runs these, and the result is not on it."""
