"""The training of language_model that is not graded: the script, and the cell of the notebook."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.author_notebooks import run_notebook

FOLDER = ROOT / "assignments/language_model"
BEGUN = FOLDER / "language_model.py"
SOLVED = ROOT / "reference/language_model.py"


def trained(folder: Path, solution: Path, *arguments: str) -> str:
    """The output of `python train.py` with this file beside it."""
    for file in (FOLDER / "train.py", FOLDER / "page.txt"):
        shutil.copy(file, folder)
    shutil.copy(solution, folder / "language_model.py")
    command = [sys.executable, "train.py", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=300)
    assert done.stderr == ""
    return done.stdout


def test_training_lowers_the_loss(tmp_path: Path) -> None:
    """The loss begins at a blind guess and falls, and the model writes each time it is shown."""
    said = trained(tmp_path, SOLVED, "--steps", "60")
    losses = [float(loss) for loss in re.findall(r"--- step +\d+ +loss (\S+)", said)]
    assert len(losses) == said.count("\nThe ") == 2
    assert losses[0] == pytest.approx(3.66, abs=0.1)
    assert losses[1] < 2.9
    assert "a blind guess has the loss 3.66" in said


def test_a_missing_part_is_told(tmp_path: Path) -> None:
    """The starter trains nothing, and reads which part it needs."""
    said = trained(tmp_path, BEGUN)
    assert said.splitlines()[-1] == "not written yet: part 3: LanguageModel.__init__"


def test_the_cell_of_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its `#` the cell trains with the functions of the notebook."""
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "jupyter"))
    notebook = (FOLDER / "language_model.ipynb").read_text()
    assert notebook.count("# %run -i train.py") == 1
    shown = run_notebook(notebook.replace("# %run -i train.py", "%run -i train.py").encode(), FOLDER)
    assert "not written yet: part 3" in shown["extra-1-code-1"]
