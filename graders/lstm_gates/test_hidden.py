"""Hidden tests: the LSTM gate equations, 20 points.

From the isolated to the full: each test names one thing that can be wrong. A part that builds on earlier ones is also
right with the student's own earlier parts (`carried`). Where PyTorch has the same computation, its own module is asked,
too: a reference that disagreed with it would be the graders' error.
"""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from torch import nn

from reference import lstm_gates as ref
from softmark import (
    Failed,
    agree,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    ops_independent_of,
    repeatable,
    uses_weights,
    works_on_meta,
)
from softmark.verdict import Category, Verdict, current


def step_inputs(batch, d, p, h):
    """x, h and the parameters of part 1; p is the width of the hidden state."""
    return draw("batch d", "batch p", "h4 d", "h4 p", "h4", "h4", batch=batch, d=d, p=p, h4=4 * h)


def gate_values(batch, h):
    """Gates as they come out of part 2, and a cell state that is often larger than 1."""
    i, f, g, o, c = draw(*["batch h"] * 5, batch=batch, h=h)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(2 * g), torch.sigmoid(o), 3 * c


def sequence_inputs(t, n, d, h, p=None):
    """x, h0, c0 and the parameters of part 4; with p also W_hr of part 5."""
    specs = ["t n d", "n p", "n h", "h4 d", "h4 p", "h4", "h4", "p h"]
    drawn = draw(*specs, t=t, n=n, d=d, h=h, p=p or h, h4=4 * h)
    return drawn if p else drawn[:-1]


def earlier(student, *names):
    """The student's own versions of earlier parts."""
    return {name: getattr(student, name) for name in names}


def holds(check, *args):
    try:
        check(*args)
    except Failed:
        return False
    return True


def unless_inherited(student, check, own, *args):
    """Make a check; when it fails although the functions of one step pass it, this part is charged."""
    try:
        check(own, *args)
    except Failed:
        step = [step_inputs((5,), d=3, p=4, h=4), [draw("n h4", n=5, h4=12)], gate_values((5,), h=3)]
        if all(holds(check, getattr(student, name), *inputs) for name, inputs in zip(STEP, step, strict=True)):
            raise


def require_agreement(ours, theirs):
    """Nobody is judged by a reference that PyTorch's own module contradicts."""
    output, (h, c) = ours
    for own, other in zip((output, h, c), (theirs[0], *theirs[1]), strict=True):
        if not torch.allclose(own, other.reshape(own.shape), rtol=1e-9, atol=1e-9):
            raise RuntimeError("the reference and PyTorch's nn.LSTM disagree")


def three_of(answer):
    """output, h and c of a student's answer (output, (h, c))."""
    try:
        output, (h, c) = answer
    except (TypeError, ValueError):
        refuse(Category.TYPE, "the answer is not of the form output, (h, c)")
    if not all(isinstance(value, torch.Tensor) and value.is_floating_point() for value in (output, h, c)):
        refuse(Category.TYPE, "the answer output, (h, c) does not consist of tensors of floating-point numbers")
    return output.detach(), h.detach(), c.detach()


def product(values, others):
    """The sum of the products of all numbers; a missing gradient counts as zero."""
    total = 0.0
    for value, other in zip(values, others, strict=True):
        if value is not None:
            if value.shape != other.shape:
                refuse(Category.SHAPE, "a second call gives results of other shapes")
            total += float((value * other).sum())
    return total


def check_gradients(value_at, gradients_of, moves):
    """The gradients are those of the student's own values, so that a mistake in an earlier part does not matter.

    value_at(s) is the answer (output, (h, c)) when every input has moved by s times its move.
    """
    answer = three_of(value_at(0.0))
    precise = all(value.dtype is torch.float64 for value in answer)
    step, limit = (1e-6, 1e-5) if precise else (1e-2, 1e-1)  # which dtype an answer has is asked by another test
    output, h, c = map(like, answer)
    claimed = product(gradients_of((output, (h, c))), moves)
    ahead, behind = (product(three_of(value_at(move)), (output, h, c)) for move in (step, -step))
    slope = (ahead - behind) / (2 * step)
    ratio = abs(slope - claimed) / (limit * (1 + abs(slope)))
    current().record("gradients", ratio, None if ratio <= 1 else Category.PROPERTY)
    if not ratio <= 1:
        refuse(Category.PROPERTY, "the gradients are not those of the output: something cuts them off on their way")


def check_function_gradients(own, want, inputs, carried):
    """The gradients of part 4 or 5, once its values are seen to be right."""
    agree(own, want, *inputs, carried=carried)
    moves = [like(value) for value in inputs]

    def value_at(step):
        return own(*(value + step * move for value, move in zip(inputs, moves, strict=True)))

    check_gradients(value_at, lambda cotangent: own.vjp(inputs, {}, cotangent).args, moves)


def like(tensor):
    """Random numbers in the shape of a tensor."""
    return draw(" ".join(map(str, tensor.shape)))


def refuse(category, fact):
    """The test fails, for a reason that no comparison of values would tell."""
    raise Failed(Verdict(category, fact))


# ------------------------------------------------------------------------------------------------------------
# Part 1: gate_inputs
# ------------------------------------------------------------------------------------------------------------


@number("1.1")
@weight(0.5)
@visibility("after_published")
def test_gate_inputs_of_x(student):
    """What comes from the input: W_ih x, with h and the biases zero."""
    x, h, W_ih, W_hh, b_ih, b_hh = step_inputs(batch=(5,), d=3, p=4, h=4)
    agree(student.gate_inputs, ref.gate_inputs, x, 0 * h, W_ih, W_hh, 0 * b_ih, 0 * b_hh)


@number("1.2")
@weight(0.5)
@visibility("after_published")
def test_gate_inputs_of_h(student):
    """What comes from the previous hidden state: W_hh h, with x and the biases zero."""
    x, h, W_ih, W_hh, b_ih, b_hh = step_inputs(batch=(5,), d=3, p=4, h=4)
    agree(student.gate_inputs, ref.gate_inputs, 0 * x, h, W_ih, W_hh, 0 * b_ih, 0 * b_hh)


@number("1.3")
@weight(0.5)
@visibility("after_published")
def test_gate_inputs_of_biases(student):
    """What comes from the biases: b_ih + b_hh, with x and h zero."""
    x, h, W_ih, W_hh, b_ih, b_hh = step_inputs(batch=(5,), d=3, p=4, h=4)
    agree(student.gate_inputs, ref.gate_inputs, 0 * x, 0 * h, W_ih, W_hh, b_ih, b_hh)


@number("1.4")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(
    ("batch", "d", "p", "h"),
    [((), 4, 6, 6), ((5,), 3, 4, 4), ((2, 7), 5, 3, 3), ((1,), 2, 7, 7), ((4,), 3, 2, 5)],
)
def test_gate_inputs(student, batch, d, p, h):
    """The whole equation, with any batch dimensions and widths."""
    agree(student.gate_inputs, ref.gate_inputs, *step_inputs(batch, d, p, h))


@number("1.5")
@weight(0.5)
@visibility("after_published")
def test_gate_inputs_conduct(student):
    """Gradients pass, the dtype stays, and no input is changed."""
    inputs = step_inputs(batch=(5,), d=3, p=4, h=4)
    gradients_agree(student.gate_inputs, ref.gate_inputs, *inputs)
    keeps_dtype(student.gate_inputs, *inputs)
    leaves_inputs(student.gate_inputs, *inputs)


# ------------------------------------------------------------------------------------------------------------
# Part 2: gates
# ------------------------------------------------------------------------------------------------------------


@number("2.1")
@weight(0.5)
@visibility("after_published")
def test_gates_of_equal_blocks(student):
    """σ for i, f and o, tanh for g: all four blocks hold the same numbers."""
    block = draw("n h", n=5, h=3)
    agree(student.gates, ref.gates, torch.cat([block] * 4, dim=-1))


@number("2.2")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(5,), (), (2, 7), (1,)])
def test_gates(student, batch):
    """Each gate from its own block, with any batch dimensions."""
    agree(student.gates, ref.gates, draw("batch h4", batch=batch, h4=4 * 3))


@number("2.3")
@weight(0.5)
@visibility("after_published")
def test_gates_far_out(student):
    """Entries up to ±1000: gates that are closed or wide open, and no NaN."""
    z = draw("n h4", n=5, h4=4 * 3)
    z[0], z[1], z[2] = 1000, -1000, 20 * z[2]
    agree(student.gates, ref.gates, z)


@number("2.4")
@weight(0.5)
@visibility("after_published")
def test_gates_conduct(student):
    """Gradients pass, the dtype stays, and no input is changed."""
    z = draw("n h4", n=5, h4=4 * 3)
    gradients_agree(student.gates, ref.gates, z)
    keeps_dtype(student.gates, z)
    leaves_inputs(student.gates, z)


# ------------------------------------------------------------------------------------------------------------
# Part 3: next_state
# ------------------------------------------------------------------------------------------------------------


@number("3.1")
@weight(0.5)
@visibility("after_published")
def test_next_state_keeps(student):
    """What is kept: the input gate is closed (i = 0)."""
    i, f, g, o, c = gate_values((5,), h=3)
    agree(student.next_state, ref.next_state, 0 * i, f, g, o, c)


@number("3.2")
@weight(0.5)
@visibility("after_published")
def test_next_state_writes(student):
    """What is written: the forget gate is closed (f = 0)."""
    i, f, g, o, c = gate_values((5,), h=3)
    agree(student.next_state, ref.next_state, i, 0 * f, g, o, c)


@number("3.3")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(5,), (), (2, 7), (1,)])
def test_next_state(student, batch):
    """Both equations, with any batch dimensions."""
    agree(student.next_state, ref.next_state, *gate_values(batch, h=8))


@number("3.4")
@weight(0.5)
@visibility("after_published")
def test_next_state_conduct(student):
    """Gradients pass, the dtype stays, and no input is changed."""
    inputs = gate_values((5,), h=3)
    gradients_agree(student.next_state, ref.next_state, *inputs)
    keeps_dtype(student.next_state, *inputs)
    leaves_inputs(student.next_state, *inputs)


# ------------------------------------------------------------------------------------------------------------
# Part 4: lstm
# ------------------------------------------------------------------------------------------------------------

STEP = ("gate_inputs", "gates", "next_state")


@number("4.1")
@weight(0.5)
@visibility("after_published")
def test_lstm_of_one_step(student):
    """One step from a given state."""
    inputs = sequence_inputs(t=1, n=5, d=3, h=4)
    agree(student.lstm, ref.lstm, *inputs, carried=earlier(student, *STEP))


@number("4.2")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize(("t", "n", "d", "h"), [(5, 3, 4, 6), (2, 7, 5, 3), (4, 1, 3, 2), (1, 2, 3, 4)])
def test_lstm(student, t, n, d, h):
    """A sequence from a given state: every output and the state after the last step."""
    x, h0, c0, *weights = sequence_inputs(t, n, d, h)
    require_agreement(ref.lstm(x, h0, c0, *weights), torch_lstm(weights)(x, (h0[None], c0[None])))
    agree(student.lstm, ref.lstm, x, h0, c0, *weights, carried=earlier(student, *STEP))


@number("4.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("given", ["neither", "h0", "c0"])
def test_lstm_without_state(student, given):
    """An initial state that is None is zero; h0 and c0 may be None one without the other."""
    x, h0, c0, *weights = sequence_inputs(t=4, n=2, d=3, h=5)
    h0, c0 = (h0 if given == "h0" else None), (c0 if given == "c0" else None)
    agree(student.lstm, ref.lstm, x, h0, c0, *weights, carried=earlier(student, *STEP))


@number("4.4")
@weight(0.5)
@visibility("after_published")
def test_lstm_gradients(student):
    """The gradients through all steps, for the input, the initial state and every parameter."""
    check_function_gradients(student.lstm, ref.lstm, sequence_inputs(t=4, n=2, d=3, h=5), earlier(student, *STEP))


@number("4.5")
@weight(0.5)
@visibility("after_published")
def test_lstm_conduct(student):
    """The dtype and the device are those of the input, no input is changed, and a second call gives the same."""
    x, h0, c0, *weights = sequence_inputs(t=4, n=2, d=3, h=5)
    agree(student.lstm, ref.lstm, x, h0, c0, *weights, carried=earlier(student, *STEP))
    keeps_dtype(student.lstm, x, None, None, *weights)
    works_on_meta(student.lstm, x, None, None, *weights)
    unless_inherited(student, leaves_inputs, student.lstm, x, h0, c0, *weights)
    repeatable(student.lstm, x, None, None, *weights)


@number("4.6")
@weight(0.25)
@visibility("after_published")
def test_lstm_has_no_loop_over_the_batch(student):
    """All sequences of the batch take a step together."""
    small = sequence_inputs(t=3, n=2, d=4, h=5)
    large = sequence_inputs(t=3, n=11, d=4, h=5)
    agree(student.lstm, ref.lstm, *large, carried=earlier(student, *STEP))
    ops_independent_of("the number of sequences in the batch", student.lstm, small, large)


# ------------------------------------------------------------------------------------------------------------
# Part 5: projected_lstm
# ------------------------------------------------------------------------------------------------------------


@number("5.1")
@weight(0.5)
@visibility("after_published")
def test_projected_lstm_of_one_step(student):
    """One step from a given state: h is projected, c is not."""
    inputs = sequence_inputs(t=1, n=5, d=3, h=4, p=2)
    agree(student.projected_lstm, ref.projected_lstm, *inputs, carried=earlier(student, *STEP))


@number("5.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("t", "n", "d", "h", "p"), [(5, 3, 4, 6, 2), (3, 1, 2, 7, 4)])
def test_projected_lstm(student, t, n, d, h, p):
    """A sequence from a given state: the next step reads the projected h."""
    x, h0, c0, *weights = sequence_inputs(t, n, d, h, p)
    require_agreement(ref.projected_lstm(x, h0, c0, *weights), torch_lstm(weights)(x, (h0[None], c0[None])))
    agree(student.projected_lstm, ref.projected_lstm, x, h0, c0, *weights, carried=earlier(student, *STEP))


@number("5.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("given", ["neither", "h0", "c0"])
def test_projected_lstm_without_state(student, given):
    """An initial state that is None is zero, P wide for h and H wide for c."""
    x, h0, c0, *weights = sequence_inputs(t=4, n=2, d=3, h=5, p=7)
    h0, c0 = (h0 if given == "h0" else None), (c0 if given == "c0" else None)
    agree(student.projected_lstm, ref.projected_lstm, x, h0, c0, *weights, carried=earlier(student, *STEP))


@number("5.4")
@weight(0.25)
@visibility("after_published")
def test_projected_lstm_conduct(student):
    """Gradients reach every parameter, the dtype stays, and no input is changed."""
    x, h0, c0, *weights = inputs = sequence_inputs(t=4, n=2, d=3, h=5, p=7)
    check_function_gradients(student.projected_lstm, ref.projected_lstm, inputs, earlier(student, *STEP))
    keeps_dtype(student.projected_lstm, x, None, None, *weights)
    unless_inherited(student, leaves_inputs, student.projected_lstm, x, h0, c0, *weights)


# ------------------------------------------------------------------------------------------------------------
# Part 6: LSTM
# ------------------------------------------------------------------------------------------------------------


def torch_lstm(weights):
    """PyTorch's own layer with the weights of part 4 or 5."""
    W_ih, W_hh = weights[:2]
    h = W_ih.shape[0] // 4
    proj_size = W_hh.shape[1] if len(weights) == 5 else 0
    layer = nn.LSTM(W_ih.shape[1], h, proj_size=proj_size).double()
    layer.load_state_dict(dict(zip(layer.state_dict(), weights, strict=True)))
    return layer


def random_weights(*sizes, **options):
    """Weights of order one for every parameter of PyTorch's own module, by name."""
    shapes = {name: value.shape for name, value in nn.LSTM(*sizes, **options).state_dict().items()}
    return {name: like(torch.empty(shape)) for name, shape in shapes.items()}


def run(cls, weights, x, state, sizes, options):
    """What a module of that class with these weights answers; a first call must leave nothing behind."""
    module = cls(*sizes, **options)
    module.load_state_dict(weights)
    module(x, state)
    return module(x, state)


def run_reference(weights, x, state, sizes, options):
    return run(lambda *sizes, **options: ref.LSTM(*sizes, **options).to(x.dtype), weights, x, state, sizes, options)


def in_float64(cls):
    return lambda *sizes, **options: cls(*sizes, **options).double()


def maker(student):
    """What makes the student's modules."""

    def make(*sizes, **options):
        module = student.LSTM(*sizes, **options)
        if not hasattr(module, "load_state_dict"):
            refuse(Category.TYPE, "LSTM is not a class derived from nn.Module")
        return module

    return make


def check_module(student, given, *sizes, t, n, **options):
    """The student's module gives PyTorch's numbers, from a given state or from None."""
    weights = random_weights(*sizes, **options)
    rows = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    x, h0, c0 = draw("t n d", "rows n h", "rows n h", t=t, n=n, d=sizes[0], h=sizes[1], rows=rows)
    inputs = (weights, x, (h0, c0) if given else None, sizes, options)
    require_agreement(run_reference(*inputs), run(in_float64(nn.LSTM), *inputs))
    agree_module(student, inputs)


def agree_module(student, inputs):
    """Compare in float64; in float32 where an error comes from a part 4 that knows no other dtype."""
    try:
        agree(lambda *inputs: run(maker(student), *inputs), run_reference, *inputs, carried=earlier(student, "lstm"))
    except Failed as failure:
        x, _, _, *weights = sequence_inputs(t=2, n=2, d=3, h=4)
        if failure.verdict.category is not Category.ERROR or inputs[1].dtype is torch.float32:
            raise
        if holds(keeps_dtype, student.lstm, x, None, None, *weights):
            raise
        agree_module(student, narrowed(inputs))


def narrowed(value):
    """The same in float32."""
    if isinstance(value, dict):
        return {name: narrowed(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return tuple(narrowed(item) for item in value)
    return value.float() if isinstance(value, torch.Tensor) else value


def outlines(parameters):
    """The names and shapes of parameters, without their values."""
    return {name: torch.zeros(value.shape) for name, value in parameters.items()}


def reference_outlines(num_layers, bidirectional):
    module = ref.LSTM(4, 6, num_layers=num_layers, bidirectional=bidirectional)
    return outlines(dict(module.named_parameters()))


@number("6.1")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("num_layers", "bidirectional"), [(1, False), (3, True)])
def test_module_parameters(student, num_layers, bidirectional):
    """The parameters have the names and shapes of nn.LSTM's."""
    options = {"num_layers": num_layers, "bidirectional": bidirectional}
    theirs = outlines(dict(nn.LSTM(4, 6, **options).named_parameters()))
    if {name: value.shape for name, value in theirs.items()} != {
        name: value.shape for name, value in reference_outlines(**options).items()
    }:
        raise RuntimeError("the reference's parameters are not those of nn.LSTM")

    def own_outlines(num_layers, bidirectional):
        return outlines(maker(student)(4, 6, num_layers=num_layers, bidirectional=bidirectional).parameters())

    agree(own_outlines, reference_outlines, **options)
    own = maker(student)(4, 6, **options)
    own.has_entries(reference_outlines(**options))
    uses_weights(own, draw("t n d", t=3, n=2, d=4))


def spread(parameters, hidden_size):
    """How the values of new parameters are spread; coarse enough to be the same for every draw."""
    seen = {}
    for kind, first in (("weights", "weight"), ("biases", "bias")):
        values = torch.cat([value.flatten() for name, value in parameters.items() if name.startswith(first)])
        values = (values.double().nan_to_num(-math.inf) * math.sqrt(hidden_size)).clamp(-2, 2)
        inside = values.clamp(-1, 1)
        seen[f"the largest size among the {kind}, in sixteenths of 1/√H"] = round(16 * values.abs().max().item())
        seen[f"the mean of the {kind}, in quarters of 1/√H"] = round(4 * inside.mean().item())
        seen[f"the mean size of the {kind}, in sixths of 1/√H"] = round(6 * inside.abs().mean().item())
    return seen


def reference_spread():
    return spread(dict(ref.LSTM(24, 64, num_layers=2).named_parameters()), 64)


@number("6.2")
@weight(0.25)
@visibility("after_published")
def test_module_starts_uniform(student):
    """The parameters of a new module are spread uniformly between -1/√H and 1/√H."""
    expected = outlines(dict(nn.LSTM(24, 64, num_layers=2).named_parameters()))
    found = maker(student)(24, 64, num_layers=2).parameters()
    own = {name: value for name, value in found.items() if name in expected}
    agree(outlines(own), expected)
    agree(lambda: spread(own, 64), reference_spread)
    uses_weights(maker(student)(3, 2, num_layers=2), draw("t n d", t=3, n=2, d=3))


@number("6.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("given", [True, False])
def test_module_of_one_layer(student, given):
    """One layer with the weights of an nn.LSTM, from a given state or from None."""
    check_module(student, given, 4, 6, t=5, n=3)


@number("6.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("given", [True, False])
def test_module_of_three_layers(student, given):
    """Three layers: each reads the outputs of the one below and has a state and weights of its own."""
    check_module(student, given, 4, 5, t=4, n=2, num_layers=3)


@number("6.5")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("num_layers", "given"), [(1, True), (1, False), (2, True)])
def test_module_in_both_directions(student, num_layers, given):
    """Both directions, each output at its own time, the rows of the states in order."""
    check_module(student, given, 5, 3, t=4, n=2, num_layers=num_layers, bidirectional=True)


P = 0.3
FATES = torch.tensor([0, 1, 1 / (1 - P), 1 / P]).double()
"""What dropout may multiply an entry with: right, forgotten, right, the wrong way round."""
SITUATIONS = {"two layers in training": 2, "two layers in evaluation": 2, "one layer in training": 1}


def answer_of(make, x, state, layers, training, dropout):
    """Output and final hidden states of a new module with these layers, each of which begins with the same state."""
    h0, c0 = (value.expand(len(layers), x.shape[1], -1) for value in state)
    module = make(x.shape[-1], h0.shape[-1], num_layers=len(layers), dropout=dropout)
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    weights = {
        f"{name}_l{k}": value for k, layer in enumerate(layers) for name, value in zip(names, layer, strict=True)
    }
    module.load_state_dict(weights)
    module.train(training)
    output, h_n, _ = three_of(module(x, (h0.contiguous(), c0.contiguous())))
    for name, value, shape in (("output", output, x.shape), ("h_n", h_n, (len(layers), *x.shape[1:]))):
        if value.shape != shape:
            refuse(Category.SHAPE, f"LSTM: {name} has shape {tuple(value.shape)}, expected {tuple(shape)}")
    return output, h_n


def dropout_seen(make, situation, zeros, state, below, above):
    """What dropout did, told by what the module itself makes of entries that are dropped, left or scaled by hand.

    So it does not matter how a step computes. All sequences are the same, and few entries are on their way to the
    upper layer: whatever can become of them is tried, and recognised in the first step of the output.
    """
    entries = answer_of(make, zeros[:, :1], state, [below], False, 0.0)[0][:, 0]
    fates = torch.cartesian_prod(*[FATES] * len(entries[0]))
    known = answer_of(make, (fates * entries[0])[None], state, [above], False, 0.0)[0][0]
    if not torch.pdist(known).min() > 1e-6:
        fact = "LSTM: dropout cannot be seen, because an upper layer's output does not tell what comes from below"
        refuse(Category.PROPERTY, fact)
    x, layers = (
        (entries[:, None].expand(zeros.shape), [above]) if SITUATIONS[situation] == 1 else (zeros, [below, above])
    )
    output, h_n = answer_of(make, x, state, layers, "training" in situation, P)
    distance, nearest = torch.cdist(output[0], known, compute_mode="donot_use_mm_for_euclid_dist").min(dim=1)
    fate = fates[nearest].masked_fill(~(distance < 1e-7)[:, None], math.nan)
    gone, first = fate == 0, h_n[0]
    return {
        "tenths of the entries that are dropped": tenths(gone),
        "tenths of the entries that are left as they are": tenths(fate == 1),
        "tenths of the entries that are divided by 1 - p": tenths(fate == FATES[2]),
        "whether all sequences drop the same entries": int((gone == gone[:1]).all()),
        "whether a sequence drops all its entries or none": int((gone == gone[:, :1]).all()),
        "whether states of the first layer are dropped": int(len(layers) == 2 and not torch.allclose(first, first[:1])),
        "whether all steps drop the same entries": int(same_in_every_step(output)),
    }


def same_in_every_step(output):
    """Whether sequences that fare alike in the first step (those that fare the most frequent way) do so in the next."""
    telling = torch.arange(1, output.shape[-1] + 1).double().sqrt()  # one number for the entries of a row
    first, second = (output @ telling).mul(1e7).round()
    _, way, counts = first.unique(return_inverse=True, return_counts=True)
    return len(second[way == counts.argmax()].unique()) == 1


def tenths(flags):
    return round(10 * flags.double().mean().item())


def reference_dropout_seen(*given):
    return dropout_seen(in_float64(ref.LSTM), *given)


@number("6.6")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("situation", SITUATIONS)
def test_module_dropout(student, situation):
    """In training, entries between layers are dropped with probability p, the others divided by 1 - p."""

    def own_dropout_seen(*given):
        return dropout_seen(maker(student), *given)

    _, h0, c0, *below = sequence_inputs(t=2, n=1, d=3, h=3)
    _, _, _, *above = sequence_inputs(t=2, n=1, d=3, h=3)
    zeros = torch.zeros(2, 700, 3, dtype=torch.float64)
    agree(own_dropout_seen, reference_dropout_seen, situation, zeros, (h0, c0), below, above)


@number("6.7")
@weight(0.25)
@visibility("after_published")
def test_module_gradients(student):
    """Gradients reach the input and every parameter."""
    options = {"num_layers": 2, "bidirectional": True}
    weights = random_weights(4, 3, **options)
    x = draw("t n d", t=3, n=2, d=4)
    moves = {name: like(value) for name, value in weights.items()}
    move_of_x = like(x)
    own = maker(student)(4, 3, **options)

    def value_at(step):
        own.load_state_dict({name: value + step * moves[name] for name, value in weights.items()})
        return own(x + step * move_of_x)

    def gradients_of(cotangent):
        found = own.vjp((x,), {}, cotangent)
        return [found.args[0], *(found.parameters.get(name) for name in moves)]

    inputs = (weights, x, None, (4, 3), options)
    agree(lambda *inputs: run(maker(student), *inputs), run_reference, *inputs, carried=earlier(student, "lstm"))
    check_gradients(value_at, gradients_of, [move_of_x, *moves.values()])


# ------------------------------------------------------------------------------------------------------------
# Part 7: lstm_step_backward
# ------------------------------------------------------------------------------------------------------------


def backward_inputs(n, d, h):
    """x, h, c, the parameters of the step, and the gradients of its two results."""
    return draw("n d", "n h", "n h", "h4 d", "h4 h", "h4", "h4", "n h", "n h", n=n, d=d, h=h, h4=4 * h)


def check_backward(student, *inputs):
    """The student's gradients are autograd's."""
    *arguments, dh_t, dc_t = inputs
    leaves = [argument.clone().requires_grad_() for argument in arguments]
    x, h, c, *weights = leaves
    results = ref.next_state(*ref.gates(ref.gate_inputs(x, h, *weights)), c)
    gradients = torch.autograd.grad(results, leaves, (dh_t, dc_t))
    for own, other in zip(ref.lstm_step_backward(*inputs), gradients, strict=True):
        if not torch.allclose(own, other, rtol=1e-9, atol=1e-9):
            raise RuntimeError("the reference and autograd disagree")
    agree(student.lstm_step_backward, ref.lstm_step_backward, *inputs, carried=earlier(student, *STEP))


@number("7.1")
@weight(0.5)
@visibility("after_published")
def test_backward_through_the_cell(student):
    """One sequence, a gradient for c_t only."""
    *inputs, dh_t, dc_t = backward_inputs(n=1, d=3, h=5)
    check_backward(student, *inputs, 0 * dh_t, dc_t)


@number("7.2")
@weight(0.5)
@visibility("after_published")
def test_backward_through_the_hidden_state(student):
    """One sequence, a gradient for h_t only."""
    *inputs, dh_t, dc_t = backward_inputs(n=1, d=3, h=5)
    check_backward(student, *inputs, dh_t, 0 * dc_t)


@number("7.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d", "h"), [(5, 3, 4), (2, 6, 3)])
def test_backward(student, n, d, h):
    """Both gradients and a batch: what is shared by the sequences adds up."""
    check_backward(student, *backward_inputs(n, d, h))


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_backward_conduct(student):
    """The dtype stays, and no input is changed."""
    inputs = backward_inputs(n=2, d=3, h=5)
    check_backward(student, *inputs)
    keeps_dtype(student.lstm_step_backward, *inputs)
    unless_inherited(student, leaves_inputs, student.lstm_step_backward, *inputs)
