"""Notebooks: whatever is in the file, its code is found, or one sentence says why there is none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.intake import notebook
from softmark.intake.model import SubmittedFiles
from softmark.intake.notebook import Notebook, read_notebook, with_cells
from softmark.intake.places import Refusal
from tests.support.notebooks import code, markdown, written

AGAIN = "open it in Jupyter, save it and hand it in again"
ASSIGNMENTS = Path(__file__).parents[2] / "assignments"
DEEP = b"[" * 100_000
VERSION_3 = {
    "metadata": {"name": ""},
    "nbformat": 3,
    "nbformat_minor": 0,
    "worksheets": [
        {
            "cells": [
                {"cell_type": "heading", "level": 1, "metadata": {}, "source": ["Attention"]},
                {
                    "cell_type": "code", "collapsed": False, "input": ["import math\n", "x = 1"], "language": "python",
                    "metadata": {}, "outputs": [], "prompt_number": 1,
                },
            ],
            "metadata": {},
        },
        {"cells": [{"cell_type": "code", "input": ["def f(): pass"], "metadata": {}, "outputs": []}], "metadata": {}},
    ],
}  # fmt: skip


def texts(found: Notebook) -> dict[str, str]:
    return {name: source.decode() for name, source in found.cells.items()}


class TestCells:
    """What is read of a good notebook."""

    def test_code_cells_by_number(self) -> None:
        """Code cells are counted from the top, the empty ones with them; text is not code."""
        data = written(markdown("# Title"), "import math\n", "  \n", markdown("text"), "def f(): pass")
        assert texts(read_notebook(data)) == {"cell 1": "import math\n", "cell 3": "def f(): pass"}

    @pytest.mark.parametrize(
        "source", [["a = 1\n", "b = 2"], "a = 1\nb = 2", [["a = 1\n"], ["b = ", "2"]], ["a = 1\n", None, 7, "b = 2"]]
    )
    def test_a_source_in_any_form(self, source: Any) -> None:
        """A source is one text, a list of lines, or a list of lists; what is no text in it is nothing."""
        assert texts(read_notebook(written(source if isinstance(source, str) else code(source)))) == {
            "cell 1": "a = 1\nb = 2"
        }

    @pytest.mark.parametrize(
        "cell",
        [
            code("x = 1", id="twice"),
            {"cell_type": "code", "source": "x = 1"},
            code("x = 1", outputs="no list", metadata=None, execution_count="seven", attachments=[[]]),
            code("x = 1", outputs=[{"output_type": "display_data", "data": {"text/html": "<script>"}}]),
        ],
    )
    def test_what_jupyter_would_not_take(self, cell: dict[str, Any]) -> None:
        """Ids, outputs and metadata are not looked at, be they wrong, missing, or there twice."""
        assert texts(read_notebook(written(cell, cell))) == {"cell 1": "x = 1", "cell 2": "x = 1"}

    def test_cells_that_are_none(self) -> None:
        """Cells without a source, and what is no cell, are passed over."""
        assert texts(read_notebook(written({"cell_type": "code"}, [1], None, {}, "x = 1"))) == {"cell 2": "x = 1"}

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
    def test_encodings(self, encoding: str) -> None:
        """A byte order mark, or another Unicode encoding, is no reason to refuse anything."""
        data = written("x = 'Σ'").decode().encode(encoding)
        assert texts(read_notebook(data)) == {"cell 1": "x = 'Σ'"}

    def test_bytes_that_are_no_utf_8(self) -> None:
        """What cannot be decoded is replaced, and staff are told where."""
        found = read_notebook(b'{"nbformat": 4,\n"cells": [{"cell_type": "code", "source": "x = \'\xe9\'"}]}')
        assert texts(found) == {"cell 1": "x = '�'"}
        assert found.staff_notes == ("line 2 of the notebook is not UTF-8; its bytes were replaced",)

    def test_half_a_character(self) -> None:
        """A lone surrogate, which JSON can hold and UTF-8 cannot, is replaced."""
        assert texts(read_notebook(written("x = '\\ud83d'").replace(b"\\\\u", b"\\u"))) == {"cell 1": "x = '?'"}

    def test_code_in_a_text_cell(self) -> None:
        """A cell that lost its type is read, before all others; an example in a handout is not."""
        example = "Write this:\n```python\ndef f(x):\n    return x\n```\n"
        found = read_notebook(written("x = 1", markdown(example), markdown("def f(x):\n    return x\n")))
        assert list(found.cells) == ["text cell 2", "cell 1"]
        assert found.notes == (
            "text cell 2 holds Python code and was read; Jupyter does not run it: make it a code cell",
        )

    @pytest.mark.parametrize(
        ("metadata", "language"),
        [
            ({"language_info": {"name": "R"}}, "R"),
            ({"kernelspec": {"name": "ir", "language": "bash", "argv": ["rm"]}}, "bash"),
            ({"kernelspec": {"language": "python3"}}, ""),
            ({"language_info": {"name": "<script>"}}, ""),
            ([], ""),
        ],
    )
    def test_the_kernel_is_ignored(self, metadata: Any, language: str) -> None:
        """Python it is, whatever the metadata says; another language is named."""
        found = read_notebook(written("x = 1", metadata=metadata))
        says = f"the notebook says that it is written in {language}; it was graded as Python"
        assert found.notes == ((says,) if language else ())


class TestVersions:
    """Old and new formats; Jupyter's own reader is the measure where it can read them."""

    def test_version_3(self) -> None:
        """The cells of all worksheets, one after the other, as nbformat upgrades them."""
        upgraded = nbformat.reads(json.dumps(VERSION_3), as_version=4)
        sources = [cell.source for cell in upgraded.cells if cell.cell_type == "code"]
        found = read_notebook(json.dumps(VERSION_3).encode())
        assert list(texts(found).values()) == sources == ["import math\nx = 1", "def f(): pass"]

    def test_what_nbformat_writes(self) -> None:
        """A notebook of the newest version is read as nbformat means it."""
        cells = [nbformat.v4.new_markdown_cell("# A"), nbformat.v4.new_code_cell("x = 1\ny = 2\n")]
        data = nbformat.writes(nbformat.v4.new_notebook(cells=cells)).encode()
        assert texts(read_notebook(data)) == {"cell 1": "x = 1\ny = 2\n"}

    @pytest.mark.parametrize("version", [3, 4, 4.9, 5, "4", None, float("inf")])
    def test_cells_are_cells_in_any_version(self, version: Any) -> None:
        """A version that is wrong or still to come is no reason to refuse cells that can be read."""
        assert texts(read_notebook(written("x = 1", nbformat=version))) == {"cell 1": "x = 1"}

    @pytest.mark.parametrize("file", sorted(ASSIGNMENTS.glob("*/*.ipynb")), ids=lambda file: file.stem)
    def test_the_starters(self, file: Path) -> None:
        """Every starter is read without a word."""
        found = read_notebook(file.read_bytes())
        assert len(found.cells) > 5
        assert found.notes == found.staff_notes == ()


BROKEN = {
    "empty": (b"", f"the notebook is empty: {AGAIN}"),
    "blank": (b" \n\t", f"the notebook is empty: {AGAIN}"),
    "a web page": (
        b"\n<!DOCTYPE html><html>",
        "the file is a web page (HTML), not a notebook: download the notebook itself and hand that in",
    ),
    "Python": (
        b"import torch\n",
        f"the file is not a notebook: line 1 is no JSON (Expecting value); {AGAIN}",
    ),
    "a conflict": (
        b'{"cells": [\n<<<<<<< HEAD\n]}',
        f"the file is not a notebook: line 2 is no JSON (Expecting value); {AGAIN}",
    ),
    "cut off": (written("x = 1")[:40], f"the notebook is cut off in line 1: {AGAIN}"),
    "cut off between": (b'{"cells": [\n', f"the notebook is cut off in line 2: {AGAIN}"),
    "binary": (
        bytes(range(256)),
        f"the file is not a notebook: line 1 is no JSON (Expecting value); {AGAIN}",
    ),
    "nested": (DEEP, f"the notebook's JSON is nested too deeply to be read: {AGAIN}"),
    "a list": (b"[1, 2]", "the file is JSON, but no notebook: hand in the notebook that you wrote"),
    "a number": (b"9" * 5000, "the file is JSON, but no notebook: hand in the notebook that you wrote"),
    "other JSON": (b'{"a": 1}', "the file is JSON, but no notebook: hand in the notebook that you wrote"),
    "version 1": (
        b'{"nbformat": 1, "cells": []}',
        f"the notebook is of version 1, which is too old to be read: {AGAIN}",
    ),
    "version 2": (
        b'{"nbformat": 2, "worksheets": []}',
        f"the notebook is of version 2, which is too old to be read: {AGAIN}",
    ),
    "no cells": (b'{"nbformat": 4}', f"the notebook has no list of cells: {AGAIN}"),
    "cells that are none": (b'{"nbformat": 4, "cells": "x"}', f"the notebook has no list of cells: {AGAIN}"),
    "worksheets that are none": (b'{"nbformat": 3, "worksheets": {}}', f"the notebook has no list of cells: {AGAIN}"),
    "no code": (
        written(markdown("# Text"), "", "\n"),
        "the notebook has no code: there is no code cell with anything in it",
    ),
    "many cells": (
        written(*[""] * 2001),
        "the notebook has 2001 cells, and at most 2000 are read: hand in fewer",
    ),
    "a long cell": (
        written("x = 1", "#" * 500_001),
        "cell 2 of the notebook is longer than 500_000 characters: shorten or split it",
    ),
    "much of nothing": (
        b'{"cells": [' + b"[]," * 1_000_001 + b"0]}",
        "the notebook's outputs hold too much data: clear them, save it and hand it in again",
    ),
}  # fmt: skip


class TestBroken:
    """What is no notebook, and the one sentence for it."""

    @pytest.mark.parametrize(("data", "sentence"), BROKEN.values(), ids=BROKEN)
    def test_one_sentence(self, data: bytes, sentence: str) -> None:
        """It says what is wrong and what to do."""
        with pytest.raises(Refusal) as refused:
            read_notebook(data)
        assert str(refused.value) == sentence

    def test_too_large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Pictures may be in it, but not any number of them."""
        monkeypatch.setattr(notebook, "LARGEST_NOTEBOOK", 1_000_000)
        with pytest.raises(Refusal, match="larger than 1 MB: clear its outputs"):
            read_notebook(written("x = 1") + b" " * 1_000_000)


class TestSubmission:
    """A notebook in a submission becomes its cells."""

    def test_cells_and_notes_are_added(self) -> None:
        """The cells stand in the notebook's place, with notes on text cells and on invisible characters."""
        data = written("x = 1\n# \u202e\n", markdown("def f():\n    pass # \u200b"), "y = 2\n")
        handed = SubmittedFiles(
            "hw.ipynb", {"hw.ipynb": data, "masks.py": b"z = 3\n"}, notes=("renamed",), staff_notes=("left out",)
        )
        found = with_cells(handed)
        assert dict(found.files) == {
            "masks.py": b"z = 3\n",
            "text cell 1": "def f():\n    pass # \u200b".encode(),
            "cell 1": "x = 1\n# \u202e\n".encode(),
            "cell 2": b"y = 2\n",
        }
        assert found.cells == ("text cell 1", "cell 1", "cell 2")
        assert found.notes == (
            "renamed",
            "text cell 1 holds Python code and was read; Jupyter does not run it: make it a code cell",
        )
        assert found.staff_notes == (
            "left out",
            "text cell 1 line 2 holds characters that cannot be seen: U+200B",
            "cell 1 line 2 holds characters that cannot be seen: U+202E",
        )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
CELL = st.fixed_dictionaries(
    {}, optional={"cell_type": st.sampled_from(["code", "markdown"]) | JSON, "source": JSON, "input": JSON}
)
NOTEBOOK = st.fixed_dictionaries(
    {},
    optional={
        "nbformat": st.sampled_from([1, 3, 4, 5]) | JSON,
        "cells": st.lists(CELL | JSON, max_size=5) | JSON,
        "worksheets": st.lists(st.fixed_dictionaries({"cells": st.lists(CELL)}) | JSON, max_size=3) | JSON,
        "metadata": st.dictionaries(st.sampled_from(["kernelspec", "language_info"]), JSON) | JSON,
    },
)


def read_or_refused(data: bytes) -> Sequence[str] | str:
    try:
        return list(read_notebook(data).cells)
    except Refusal as refusal:
        return str(refusal)


class TestAnything:
    """Of whatever bytes, there is a notebook with cells or a sentence, and never anything else."""

    @given(st.binary())
    def test_bytes(self, data: bytes) -> None:
        """Any bytes."""
        assert read_or_refused(data)

    @given(JSON | NOTEBOOK)
    def test_json(self, content: Any) -> None:
        """Any JSON, and notebooks with anything in the place of anything."""
        assert read_or_refused(json.dumps(content).encode())

    @given(st.data())
    def test_damaged(self, data: st.DataObject) -> None:
        """A notebook with some bytes lost or changed."""
        whole = written("x = 1", markdown("text"), "def f():\n    pass\n")
        start = data.draw(st.integers(0, len(whole)))
        end = data.draw(st.integers(start, len(whole)))
        assert read_or_refused(whole[:start] + data.draw(st.binary(max_size=4)) + whole[end:])
