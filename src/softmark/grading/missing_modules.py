"""Says which module an import does not find, and what to do without it."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection

from softmark.grading import versions
from softmark.intake.model import SubmittedFiles
from softmark.sandbox.wire import Frame, Raised

_NO_MODULE = re.compile(r"No module named '([\w.]{1,100})'")
_NO_NAME = re.compile(r"cannot import name '(\w{1,60})' from (partially initialized module )?'([\w.]{1,100})'")
_RELATIVE = re.compile(r"\s*from\s+\.+(\w*)")
_ELSEWHERE = {"google.colab": "which only Colab has", "IPython": "which only a notebook has"}
_REST_IS_GRADED = "what uses it fails, everything else is graded"
_COMMON = frozenset(
    "accelerate albumentations altair bokeh bs4 cupy cv2 datasets deepspeed einops fairseq fastai flax gensim "
    "gradio graphviz gym gymnasium h5py huggingface_hub imageio ipdb ipywidgets jax jaxtyping jupyter keras "
    "kornia lightning matplotlib mlflow mpl_toolkits networkx nltk numba omegaconf onnx opt_einsum optuna pandas "
    "peft PIL plotly polars psutil pudb pylab pytorch_lightning requests rich sacrebleu safetensors scikit_learn "
    "scipy seaborn sentencepiece shap skimage sklearn spacy statsmodels streamlit sympy tabulate tensorboard "
    "tensorboardX tensorflow termcolor tiktoken timm tokenizers torch_geometric torchaudio torchinfo torchmetrics "
    "torchsummary torchtext torchvision torchviz tqdm transformers triton wandb xformers yaml".split()
)
"""Libraries that students often import. Any other name may be a library, or a file that was not handed in."""


def missing_module(
    raised: Raised, line: str, handed: SubmittedFiles, packages: Collection[str], loading: bool
) -> tuple[str, Frame | None] | None:
    """Return a sentence about a failed import, with the line of the import if no other line can be shown.

    `loading` is True if the import failed while the file was loaded, so that no function has failed yet.
    """
    if raised.cls not in ("ImportError", "ModuleNotFoundError"):
        return None
    module, name = _NO_MODULE.search(raised.message), _NO_NAME.search(raised.message)
    if module is not None:
        place = handed.import_of(module[1]) or handed.import_of(module[1].partition(".")[0])
        said = None if place is None else _no_module(module[1], place[2], handed, packages, loading)
    elif name is not None:
        place = handed.import_of(name[1])
        said = None if place is None else _no_name(name[1], name[3], bool(name[2]), place, handed)
    else:
        place = handed.first_line(_RELATIVE)
        said = None if place is None or "relative import" not in raised.message else _relative(place[2], handed)
    if said is None:
        return None
    if place is None or place[2] == line:
        return said, None
    if raised.frames:
        return f"{said} (it is imported on line {place[1]})", None
    return said, Frame(place[0], place[1], "", "")


def _no_module(module: str, line: str, handed: SubmittedFiles, packages: Collection[str], loading: bool) -> str:
    without = _REST_IS_GRADED if loading else "write this without it; torch and NumPy are there"
    root = module.partition(".")[0]
    if "google.colab" in line and root == "google":
        module = "google.colab"
    for name, why in _ELSEWHERE.items():
        if f"{module}.".startswith(f"{name}."):
            return f"needs `{name}`, {why}: {without}"
    if f"{root}.py" in handed.files or root == handed.main.partition(".")[0]:
        return f"imports `{module}`, but `{root}` is a file and no folder: write `from {root} import …`"
    if root in packages:
        return f"needs `{root}`, which is not installed on this machine: install it; it is there for grading"
    if root in _COMMON:
        return f"needs `{root}`, which is not installed where it is graded: {without}"
    if root in ("torch", "numpy") or root in sys.stdlib_module_names:
        return f"imports `{module}`, which {versions.version_of(root)}, used here, does not have: do without it"
    file = f"hand in {root}.py, too, if it is yours"
    return f"imports `{root}`, which is neither a file that was handed in nor installed where it is graded: {file}"


def _no_name(
    name: str, module: str, in_a_circle: bool, place: tuple[str, int, str], handed: SubmittedFiles
) -> str | None:
    root = module.partition(".")[0]
    if not re.search(rf"\b{re.escape(root)}\b", place[2]):
        return None
    if root == place[0].removesuffix(".py"):
        return f"imports `{name}` from itself: delete this import, what the file defines is there without it"
    if in_a_circle or root == handed.main.partition(".")[0]:
        return f"imports `{name}` from `{root}`, which imports this file: move what both need into one of them"
    if f"{root}.py" in handed.files:
        return f"imports `{name}` from `{root}.py`, which does not define it: check how it is spelt"
    if root in ("torch", "numpy") or root in sys.stdlib_module_names:
        what = f"imports `{name}`, which {versions.version_of(root)}, used here, does not have"
        return f"{what}: check how it is spelt, or do without it"
    return f"imports `{name}` from `{root}`, which does not have it here: do without it"


def _relative(line: str, handed: SubmittedFiles) -> str:
    found = _RELATIVE.match(line)
    name = found[1] if found else ""
    if not name:
        return "imports with a dot (`from . import …`), which works only inside a package: name the file instead"
    lacking = "" if f"{name}.py" in handed.files else f", and hand in {name}.py, too"
    return f"imports with a dot, which works only inside a package: write `from {name} import …`{lacking}"
