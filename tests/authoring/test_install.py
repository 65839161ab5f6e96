"""`install.py`: what a student installs a release with, in a fresh environment of Python."""

from __future__ import annotations

import ast
import json
import re
import runpy
import shlex
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from softmark.authoring import install
from softmark.authoring.release import Release, releases, write
from softmark.course.homework import load_homework
from tests.support.releases import FreshPython, wheel_of

ROOT = Path(__file__).parents[2]
NAME = "attention_scores"
SOURCE = Path(install.__file__).read_text()


@pytest.fixture(scope="module")
def release() -> Release:
    (made,) = releases([load_homework(NAME, ROOT)])
    return made


@pytest.fixture
def folder(release: Release, tmp_path: Path) -> Path:
    """The folder that a student has unpacked."""
    return write(release, tmp_path / "unpacked")[0]


def line_of(handout: Path) -> list[str]:
    """The command that a handout names for the installation."""
    (line,) = re.findall(r"`(python install\.py)`", handout.read_text())
    return shlex.split(line)


def is_starred(node: ast.expr) -> bool:
    return isinstance(node, ast.Starred)


class TestFromTheHandout:
    """Everything there but Softmark: what a student types, one after the other."""

    def test_leads_to_full_marks(self, folder: Path, tmp_path: Path) -> None:
        """Installed by the handout's line, `softmark check` says that nothing is done; solved, that all is right."""
        fresh = FreshPython.made(tmp_path / "venv")
        done = fresh(*line_of(folder / "README.md"), cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        before, after = done.stdout.splitlines()[0], done.stdout.splitlines()[-1]
        assert before == f"torch {version('torch')} and numpy {version('numpy')} are not changed."
        assert after == "Softmark is installed. Next, in this folder: softmark check"
        assert "up to 25 MB to download, less than a minute" in done.stdout
        begun = fresh("softmark", "check", cwd=folder)
        assert (begun.returncode, begun.stderr) == (1, "")
        assert re.search(r"public tests: 0 of \d+;", begun.stdout)
        (folder / f"{NAME}.py").write_text((ROOT / f"reference/{NAME}.py").read_text())
        solved = fresh("softmark", "check", cwd=folder)
        assert (solved.returncode, solved.stderr) == (0, "")
        assert re.search(r"public tests: (\d+) of \1;", solved.stdout)
        again = fresh(*line_of(folder / "README.md"), cwd=folder, PIP_FIND_LINKS="nowhere")
        assert again.stdout == "Softmark is installed already. Next, in this folder: softmark check\n"

    def test_in_a_notebook(self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first cell installs Softmark into the kernel's own Python, and the next ones work without a restart."""
        fresh = FreshPython.made(tmp_path / "venv")
        kernel = tmp_path / "jupyter/kernels/fresh/kernel.json"
        kernel.parent.mkdir(parents=True)
        command = [str(fresh.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        kernel.write_text(json.dumps({"argv": command, "display_name": "Fresh", "language": "python"}))
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
        for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR"):
            monkeypatch.setenv(variable, str(tmp_path / "own"))
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        notebook = nbformat.read(folder / f"{NAME}.ipynb", as_version=4)
        notebook.cells = notebook.cells[:6]
        NotebookClient(notebook, timeout=120, kernel_name="fresh", resources={"metadata": {"path": folder}}).execute()
        shown = {cell.id: "".join(out.get("text", "") for out in cell.get("outputs", ())) for cell in notebook.cells}
        assert shown["install"].endswith("Softmark is installed. Go on with the next cell.\n")
        assert "WARNING" not in shown["install"]
        assert list((fresh.site / "softmark").glob("student.py"))


class TestPyTorch:
    """Torch is installed where it is missing, and refused where it is too old."""

    def without(self, place: Path) -> FreshPython:
        return FreshPython.made(place / "venv", "torch", "functorch")

    @pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere pip's own build is the CPU's")
    def test_is_the_build_for_the_cpu(self, folder: Path, tmp_path: Path) -> None:
        """On Linux uv chooses it, and is gone afterwards; size and time are said before."""
        fresh, told = self.without(tmp_path), tmp_path / "told"
        program = f"import sys\nopen({str(told)!r}, 'w').write('\\n'.join(sys.argv))"
        wheel_of("uv", "1.0", tmp_path / "wheels", uv=program)
        done = fresh("python", "install.py", cwd=folder, PIP_FIND_LINKS=str(tmp_path / "wheels"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"numpy {version('numpy')} is not changed." in done.stdout
        assert "PyTorch for the CPU and Softmark: up to 275 MB to download, one to five minutes." in done.stdout
        uv, *words = told.read_text().split("\n")
        wanted = ["pip", "install", "--python", str(fresh.python), "--torch-backend", "cpu", "torch<2.14,>=2.6"]
        assert words == wanted
        assert not Path(uv).exists()

    def test_comes_from_pip_alone_where_there_are_arguments(self, folder: Path, tmp_path: Path) -> None:
        """They are passed on, here a constraint."""
        fresh = self.without(tmp_path)
        for number in ("2.6.0", "2.7.0"):
            wheel_of("torch", number, tmp_path / "wheels")
        (tmp_path / "constraints.txt").write_text("torch==2.6.0\n")
        words = ("install.py", "--constraint", tmp_path / "constraints.txt")
        done = fresh("python", *words, cwd=folder, PIP_FIND_LINKS=str(tmp_path / "wheels"))
        assert done.returncode == 0, done.stdout + done.stderr
        assert [file.name for file in fresh.site.glob("torch*")] == ["torch-2.6.0.dist-info"]
        assert (fresh.site / "softmark").is_dir()

    @pytest.mark.parametrize("newer", ["2.6.0+cu124", "2.31.0"])
    def test_stays_as_it_is(self, newer: str, folder: Path, tmp_path: Path) -> None:
        """Whatever build it is, and even if it is newer than any that was tested."""
        fresh = self.without(tmp_path)
        about = fresh.site / f"torch-{newer}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {newer}\n")
        done = fresh("python", "install.py", cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"torch {newer} and numpy" in done.stdout
        assert [file.name for file in fresh.site.glob("torch*")] == [about.name]

    def test_too_old_is_said(self, folder: Path, tmp_path: Path) -> None:
        """Nothing is installed over it: other work of the student may need it."""
        fresh = self.without(tmp_path)
        about = fresh.site / "torch-2.1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.1.2\n")
        done = fresh("python", "install.py", cwd=folder)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(
            "torch 2.1.2 is installed here, and Softmark needs torch 2.6 or later: make a new"
        )
        assert not (fresh.site / "softmark").exists()


class TestWhatCannotWork:
    """One sentence, and nothing is changed."""

    def test_no_network(self, folder: Path, tmp_path: Path) -> None:
        """Pip's own words are shown, and what to do."""
        done = FreshPython.made(tmp_path / "venv", "torch", "functorch")("python", "install.py", cwd=folder)
        assert done.returncode == 1
        assert "No matching distribution found for uv" in done.stdout
        assert done.stderr.startswith("Not installed: python")
        assert done.stderr.count("\n") == 1

    def test_no_wheel(self, folder: Path, tmp_path: Path) -> None:
        """As when only this file was downloaded."""
        (wheel,) = folder.glob("*.whl")
        wheel.unlink()
        done = FreshPython.made(tmp_path / "venv")("python", "install.py", cwd=folder)
        assert done.returncode == 1
        assert done.stderr == (
            f"The file {wheel.name} is not beside install.py: unpack the homework's zip into a new folder.\n"
        )

    def test_a_python_of_the_system(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Two lines make an environment; pip's own words about it are a page long."""
        (tmp_path / "EXTERNALLY-MANAGED").touch()
        monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
        monkeypatch.setattr(sys, "prefix", sys.base_prefix)
        needed = {"torch": "torch>=2.6", "numpy": "numpy>=1.26"}
        with pytest.raises(SystemExit, match=r"(?s)belongs to your system.*\n    \.venv/bin/python install\.py"):
            install.refuse_what_cannot_work(needed, dict.fromkeys(needed, "9.0"), [])

    @pytest.mark.parametrize("old", [(2, 7, 18), (3, 8, 18), (3, 10, 1)])
    def test_an_old_python(self, old: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        """It is told which one is needed."""
        monkeypatch.setattr(sys, "version_info", old)
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(install.__file__, run_name="__main__")
        assert str(ended.value).startswith(
            f"Softmark needs Python 3.11 or later, and this is Python {old[0]}.{old[1]}: install a newer Python"
        )

    def test_an_old_python_can_read_it(self) -> None:
        """It has nothing that Python 2.7 does not know, as far as the grammar goes."""
        tree = ast.parse(SOURCE, feature_version=(3, 4))  # no f-string, no annotation of a variable
        assert SOURCE.isascii()
        newer = (ast.Nonlocal, ast.AnnAssign, ast.AsyncFunctionDef, ast.YieldFrom, ast.NamedExpr, ast.Match)
        for node in ast.walk(tree):
            assert not isinstance(node, newer), node.lineno
            assert not (isinstance(node, ast.List | ast.Tuple | ast.Set) and any(map(is_starred, node.elts))), (
                node.lineno
            )
            assert not (isinstance(node, ast.arg) and node.annotation), node.lineno
            assert not (isinstance(node, ast.arguments) and (node.kwonlyargs or node.posonlyargs))
            assert not (isinstance(node, ast.FunctionDef) and node.returns), node.lineno
            assert not (isinstance(node, ast.Raise) and node.cause), node.lineno
            assert not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print" and node.keywords)
        at_once = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
        assert at_once == ["glob", "os", "re", "subprocess", "sys", "sysconfig", "tempfile", "zipfile"]
