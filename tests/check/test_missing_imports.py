"""Which libraries `check` warns of: those that the student's functions need and grading lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from softmark.check.missing_imports import Foreign, of_files, of_namespace
from softmark.intake.model import SubmittedFiles

HW = "hw.py"
FILES: dict[str, tuple[str, list[Foreign]]] = {
    "for no function": ("import plots\n", [Foreign("plots", HW, 1)]),
    "for a function": ("import plots\n\ndef f(x):\n    return plots.draw(x)\n", [Foreign("plots", HW, 1, "f")]),
    "by another name": ("import plots as p\ndef f(x): return p.draw(x)\n", [Foreign("plots", HW, 1, "f")]),
    "a name out of it": ("from plots.axes import draw\ndef f(x): return draw(x)\n", [Foreign("plots", HW, 1, "f")]),
    "a renamed name": ("from plots import draw as d\ndef f(x): return d(x)\n", [Foreign("plots", HW, 1, "f")]),
    "inside a function": ("def f(x):\n    import plots\n    return x\n", [Foreign("plots", HW, 2, "f")]),
    "through a helper": (
        "import plots\ndef f(x): return g(x)\ndef g(x): return h(x)\ndef h(x): return plots.draw(x)\n",
        [Foreign("plots", HW, 1, "f")],
    ),
    "inside a helper": ("def g(x):\n    import plots\ndef f(x): return g(x)\n", [Foreign("plots", HW, 2, "f")]),
    "in a base class": ("import plots\nclass B(plots.A): pass\nclass f(B): pass\n", [Foreign("plots", HW, 1, "f")]),
    "through a variable": (
        "import plots\nAXES = plots.axes()\ndef f(x): return AXES\n",
        [Foreign("plots", HW, 1, "f")],
    ),
    "through a typed variable": (
        "import plots\nAXES: int = plots.axes()\ndef f(x): return AXES\n",
        [Foreign("plots", HW, 1, "f")],
    ),
    "helpers that call each other": (
        "import plots\ndef f(x): return g(x)\ndef g(x): return f(plots.draw(x))\n",
        [Foreign("plots", HW, 1, "f")],
    ),
    "in a definition that is replaced": (
        "import plots\ndef f(x): return plots.draw(x)\ndef f(x): return x\n",
        [Foreign("plots", HW, 1)],
    ),
    "of another function only": (
        "import plots\ndef other(x): return plots.draw(x)\ndef f(x): return x\n",
        [Foreign("plots", HW, 1)],
    ),
    "twice": ("import plots\nimport plots\n", [Foreign("plots", HW, 1)]),
    "twice, and needed": (
        "import plots\nimport plots\ndef f(x): return plots.draw(x)\n",
        [Foreign("plots", HW, 1, "f")],
    ),
    "two": (
        "import plots, tables\ndef f(x): return tables.of(x)\n",
        [Foreign("plots", HW, 1), Foreign("tables", HW, 1, "f")],
    ),
    "an async helper": (
        "import plots\nasync def g(x): return plots.draw(x)\ndef f(x): return g(x)\n",
        [Foreign("plots", HW, 1, "f")],
    ),
    "in the else of a try": (
        "try:\n    pass\nexcept ImportError:\n    import plots\n",
        [Foreign("plots", HW, 4)],
    ),
    "a try without handlers": ("try:\n    import plots\nfinally:\n    pass\n", [Foreign("plots", HW, 2)]),
    "for the main program, else": (
        "if __name__ == '__main__':\n    import tables\nelse:\n    import plots\n",
        [Foreign("plots", HW, 4)],
    ),
    "if anything else": ("if True:\n    import plots\n", [Foreign("plots", HW, 2)]),
    "always there": ("import math, torch, numpy as np\nfrom torch import nn\nfrom __future__ import annotations\n", []),
    "of the course": ("import allowed\nfrom allowed.more import x\n", []),
    "a file handed in with it": ("import helper\nfrom pkg.sub import x\n", []),
    "relative": ("from . import plots\nfrom .plots import x\n", []),
    "that is tried": ("try:\n    import plots\nexcept ImportError:\n    plots = None\n", []),
    "for the main program": ("if __name__ == '__main__':\n    import plots\n", []),
    "for a type checker": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import plots\n", []),
}


class TestOfFiles:
    @pytest.mark.parametrize(("source", "found"), FILES.values(), ids=FILES)
    def test_follows_definitions(self, source: str, found: list[Foreign]) -> None:
        """Each library is found once, where it is imported, with the function that needs it."""
        others = {"helper.py": b"", "pkg/sub.py": b""}
        handed = SubmittedFiles(HW, {HW: source.encode(), **others})
        assert of_files(handed, ["f"], ["allowed"]) == found

    def test_hints_need_nothing(self) -> None:
        """A library that only type hints mention is needed by no function."""
        handed = SubmittedFiles(HW, {HW: b"import plots\ndef f(x: plots.A) -> plots.B: return x\n"})
        assert of_files(handed, ["f"], []) == [Foreign("plots", HW, 1)]

    def test_other_files(self) -> None:
        """Imports of helper files count, and what of them a function needs; a file that is no Python is left out."""
        files = {
            HW: b"from helper import g\ndef f(x): return g(x)\n",
            "broken.py": b"import tables\ndef (",
            "helper.py": b"import plots\ndef g(x): return plots.draw(x)\n",
        }
        assert of_files(SubmittedFiles(HW, files), ["f"], []) == [Foreign("plots", "helper.py", 1, "f")]


def namespace(source: str) -> Mapping[str, Any]:
    """Return the namespace of a notebook that has run this."""
    found: dict[str, Any] = {"__name__": "__main__"}
    exec(source, found)
    return found


class TestOfNamespace:
    @pytest.mark.parametrize(
        ("source", "found"),
        [
            ("plots = module('plots')\ndef f(x): return plots.draw(x)", ["plots"]),
            ("axes = module('plots.axes')\ndef f(x): return axes.draw(x)", ["plots"]),
            ("plots = module('plots')\ndef g(x): return plots.draw(x)\ndef f(x): return g(x)", ["plots"]),
            ("plots = module('plots')\nclass f:\n    size = 3\n    def forward(self): return plots.draw(x)", ["plots"]),
            ("plots = module('plots')\ndef f(x): return [plots.draw(y) for y in x]", ["plots"]),
            ("def f(x):\n    import plots.axes\n    return x", ["plots"]),
            ("def draw(x): pass\ndraw.__module__ = 'plots.axes'\ndef f(x): return draw(x)", ["plots"]),
            ("t, p = module('tables'), module('plots')\ndef f(x): return p.a + t.b + f(x)", ["plots", "tables"]),
            ("plots = module('plots')\ndef f(x): return x", []),
            ("math = module('math')\ndef f(x): return math.pi * allowed(x)\nallowed = module('allowed')", []),
            ("def f(x): return unknown(x)", []),
            ("f = 3", []),
        ],
    )
    def test_follows_functions(self, source: str, found: list[str]) -> None:
        """What a function of a notebook calls is followed to the libraries, and plots beside it are not."""
        told = of_namespace({**namespace(f"{MODULE}{source}")}, ["f", "not_defined"], ["allowed"])
        assert told == [Foreign(library, user="f") for library in found]

    def test_a_file_in_the_folder_is_no_library(self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """A module that lies beside the notebook is handed in with it."""
        monkeypatch.chdir(tmp_path)
        own = namespace("def f(x):\n    import helper\n    import plots\n")
        (tmp_path / "helper.py").write_text("")
        assert of_namespace(own, ["f"], []) == [Foreign("plots", user="f")]


MODULE = "from types import ModuleType as module\n"


@pytest.mark.parametrize(
    ("foreign", "says"),
    [
        (
            Foreign("plots", HW, 3, "f"),
            "hw.py, line 3: `f` needs `plots`, which is not installed where it is graded: write it with torch or NumPy",
        ),
        (
            Foreign("plots", HW, 3),
            "hw.py, line 3: imports `plots`, which is not installed where it is graded: "
            "what uses it fails there, everything else is graded",
        ),
        (
            Foreign("plots", user="f"),
            "`f` needs `plots`, which is not installed where it is graded: write it with torch or NumPy",
        ),
    ],
)
def test_sentence(foreign: Foreign, says: str) -> None:
    """A student reads where the import is, which function needs it, and what to do."""
    assert foreign.sentence == says
