"""Describes what dropout does in a module of part 4 whose layers pass on what they read, so that it can be seen."""

import torch

from softmark import Category, fail

T, N, H = 5, 100, 40
NEAR = 1e-4
FUNCTIONS = {"tanh": (torch.tanh, torch.atanh), "relu": (torch.relu, torch.clone)}
"""The non-linearities, each with what undoes it for numbers above 0."""


def passing_weights(num_layers, directions):
    """Return weights with which each unit adds 1 to an entry that it reads; in layer 0 it reads its own state, too."""
    weights = {}
    for k in range(num_layers):
        for direction in range(directions):
            W_ih = torch.zeros(H, directions, H).double()
            W_ih[:, direction] = torch.eye(H)
            W_hh = torch.eye(H).double() / 2 if k == 0 else torch.zeros(H, H).double()
            entries = {"weight_ih": W_ih.flatten(1), "weight_hh": W_hh}
            entries |= {"bias_ih": torch.ones(H).double(), "bias_hh": torch.zeros(H).double()}
            end = f"_l{k}" + "_reverse" * direction
            weights |= {name + end: value for name, value in entries.items()}
    return weights


def what_is_dropped(make, num_layers, nonlinearity, bidirectional, training, dropout):
    """Describe what happens to the entries between each two layers, so coarsely that every draw gives the same."""
    directions = 1 + bidirectional
    options = {"nonlinearity": nonlinearity, "dropout": dropout, "bidirectional": bidirectional}
    module = make(directions * H, H, num_layers=num_layers, **options)
    module.load_state_dict(passing_weights(num_layers, directions))
    module.train(training)
    output, h_n = output_and_state(module(torch.ones(T, N, directions * H).double() / 10))
    require_shape("output", output, (T, N, directions * H))
    require_shape("h_n", h_n, (num_layers * directions, N, H))
    g, undo = FUNCTIONS[nonlinearity]
    factors = (undo(h_n[directions:]) - 1) / h_n[:-directions]  # what was done to each entry between two layers
    gone = factors.abs() < NEAR
    gone_at = (output - g(torch.tensor(1.0))).abs() < NEAR  # at each step, on the way to the last layer
    seen = {
        "hundredths of the largest state": int((100 * h_n[:directions].max()).nan_to_num().clamp(-1e6, 1e6).round()),
        "whether the states of the first layer are touched": is_any((h_n[:directions] - h_n[0, 0, 0]).abs() > NEAR),
        "whether the last output is touched": is_any((output[-1, :, :H] - h_n[-directions]).abs() > NEAR),
        "whether sequences drop different entries": is_any(gone != gone[:, :1]),
        "whether units drop different entries": is_any(gone != gone[:, :, :1]),
        "whether steps drop different entries": is_any(gone_at != gone_at[:1]),
    }
    for row, its_factors in enumerate(factors):
        place = f"above layer {row // directions}" + ", backward" * (row % directions)
        seen[f"tenths that are dropped {place}"] = tenths_of(its_factors.abs() < NEAR)
        seen[f"tenths that are left as they are {place}"] = tenths_of((its_factors - 1).abs() < NEAR)
        seen[f"tenths that are divided by 1 - p {place}"] = tenths_of((its_factors * (1 - dropout) - 1).abs() < NEAR)
    return seen


SENTENCES = {
    "whether the states of the first layer are touched": "dropout touches the input or the states; it acts only on "
    "what goes up from one layer to the next",
    "hundredths of the largest state": "the states of the first layer are wrong, and no dropout is on the way to them; "
    "mend the tests before this one first",
    "whether the last output is touched": "dropout touches the output of the last layer; it stands between layers only",
    "tenths that are left as they are": "what dropout keeps is left as it is; it has to be divided by 1 - p",
    "tenths that are divided by 1 - p": "what dropout keeps is not divided by 1 - p",
    "whether sequences drop different entries": "all sequences of the batch drop the same entries; each entry is drawn "
    "by itself",
    "whether units drop different entries": "all units drop together; each entry is drawn by itself",
    "whether steps drop different entries": "all time steps drop the same entries; each entry is drawn by itself",
}
"""The sentence for a student if an entry of the description is wrong. The first one is to be mended first."""


def in_words(seen, expected):
    """Return what is wrong with the dropout that this description is of, in a sentence for students."""
    wrong = {key.partition(" above")[0]: (seen[key], expected[key]) for key in expected if seen[key] != expected[key]}
    got, want = wrong.get("tenths that are dropped", (0, 0))
    if got != want and not wrong.keys() & set(list(SENTENCES)[:3]):
        if want == 0:
            return "entries are dropped where none may be: dropout acts in training only, and not with p = 0"
        return f"{'another share than p' if got else 'nothing'} is dropped between two layers in training"
    return next(sentence for key, sentence in SENTENCES.items() if key in wrong)


def output_and_state(answer):
    """Return the two tensors of a student's answer (output, h_n); fail if it has another form."""
    right = isinstance(answer, tuple | list) and len(answer) == 2
    if not right or not all(isinstance(value, torch.Tensor) and value.is_floating_point() for value in answer):
        fail(Category.TYPE, "RNN: the answer is not of the form output, h_n, two tensors of floating-point numbers")
    return (value.detach().double() for value in answer)


def require_shape(name, value, shape):
    if value.shape != shape:
        fail(Category.SHAPE, f"RNN: {name} has shape {tuple(value.shape)}, expected {tuple(shape)}")


def is_any(flags):
    return int(flags.any())


def tenths_of(flags):
    return int(100 * flags.double().mean() + 5) // 10
