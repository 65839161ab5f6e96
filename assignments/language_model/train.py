"""Trains your language model on a page of text, and shows how it writes before, during and after. Not graded.

    python train.py              with your language_model.py, which stands beside this file
    %run -i train.py             in the notebook, with the functions of its cells

The model reads characters. It takes less than half a minute on one core of a laptop. `--steps 100` is quicker
and writes worse, `--text` takes another text. All parts but the last are used, so they have to be written.
"""

import argparse
import math
import time
from pathlib import Path

import torch

NAMES = "windows", "next_token_loss", "perplexity", "LanguageModel", "generate"
CONTEXT, BATCH, STEPS = 32, 24, 1000
BEGINNING, WRITTEN = "The ", 140
SHOW_AFTER = 0, 100, 300, STEPS


def own_functions(namespace):
    """Return the functions of the notebook if this runs in one, otherwise those of language_model.py."""
    if all(name in namespace for name in NAMES):
        return {name: namespace[name] for name in NAMES}
    import language_model

    return {name: getattr(language_model, name) for name in NAMES}


def train(own, text, steps, show_after=SHOW_AFTER, seed=0):
    """Train a model on the text and print how it goes. `own` has your functions by name. Return the model."""
    torch.manual_seed(seed)
    characters = sorted(set(text))
    number = {character: i for i, character in enumerate(characters)}
    ids = torch.tensor([number[character] for character in text])
    model = own["LanguageModel"](len(characters), CONTEXT, d_model=64, n_heads=4, n_layers=2)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    blind = math.log(len(characters))
    print(f"{len(ids)} characters, {len(characters)} different ones: a blind guess has the loss {blind:.2f}\n")
    begun = time.perf_counter()
    for step in range(steps + 1):
        starts = torch.randint(len(ids) - CONTEXT, (BATCH,))
        inputs, targets = own["windows"](ids, CONTEXT, starts)
        loss = own["next_token_loss"](model(inputs), targets)
        if step in show_after or step == steps:
            show(own, model, ids, step, time.perf_counter() - begun)
            beginning = torch.tensor([[number[character] for character in BEGINNING]])
            new = own["generate"](model, beginning, torch.rand(1, WRITTEN), CONTEXT, temperature=0.8)[0]
            print("".join(characters[i] for i in new.tolist()), end="\n\n")
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model


def show(own, model, ids, step, seconds):
    """Print the loss and the perplexity on the whole text."""
    inputs, targets = own["windows"](ids, CONTEXT)
    with torch.no_grad():
        logits = model(inputs)
        loss, hesitates = own["next_token_loss"](logits, targets), own["perplexity"](logits, targets)
    print(f"--- step {step:4d}   loss {float(loss):.2f}   perplexity {float(hesitates):.1f}   {seconds:.0f} s")


def main(namespace):
    """Read the page and the arguments, and train. If a part is not written yet, say which."""
    parser = argparse.ArgumentParser(description="Train your language model on a page of text.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--text", type=Path, default=Path(__file__).with_name("page.txt"), help="another text")
    arguments = parser.parse_args()
    try:
        train(own_functions(namespace), arguments.text.read_text(encoding="utf-8"), arguments.steps)
    except NotImplementedError as missing:
        print(f"not written yet: {missing}")


if __name__ == "__main__":
    main(globals())
