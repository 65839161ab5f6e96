"""Makes places to try a release in: a course of one homework, and a fresh environment of Python without Softmark."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

from softmark.authoring.packed_self import archived
from tests.support.tiny_homework import course, softmark

README = """# Tiny

2 points · `tiny.py`

Type `python install.py`, once.

## Part 1: twice (2 points)

$$y = 2x$$
"""
PUBLIC = '''"""Public tests."""

from gradescope_utils.autograder_utils.decorators import number


@number("1.1")
def test_double(student, example):
    """Twice the input."""
    example(student.double, "double")
'''
EXAMPLES = """from reference import tiny as ref
from softmark import example, numbers

EXAMPLES = {"double": example(ref.double, numbers("x", 3))}
"""


def releasable(root: Path, readme: str = README, public: str = PUBLIC, **files: str) -> Path:
    """Write a course whose only homework has been built."""
    course(root, **files)
    (root / "graders/tiny/examples.py").write_text(EXAMPLES)
    folder = root / "assignments/tiny"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(readme)
    (folder / "test_public.py").write_text(public)
    done = softmark(root, "build")
    assert done.returncode == 0, done.stderr
    return root


@dataclass(frozen=True)
class FreshPython:
    """A virtual environment with the libraries of the tests, but without Softmark, and without PyTorch if wanted."""

    place: Path

    @classmethod
    def made(cls, place: Path, *without: str) -> FreshPython:
        venv.create(place, with_pip=False)
        fresh, lent = cls(place), place / "lent"
        lent.mkdir()
        hidden = ("softmark", "_editable_impl_softmark", *without)
        for file in (*Path(sysconfig.get_path("purelib")).iterdir(), *_pip()):
            if not file.name.startswith(hidden) and file.suffix != ".pth" and not (lent / file.name).exists():
                (lent / file.name).symlink_to(file)
        (fresh.site / "lent.pth").write_text(f"{lent}\n")
        return fresh

    @property
    def site(self) -> Path:
        """The folder that packages are installed into."""
        (site,) = (self.place / "lib").glob("python3*/site-packages")
        return site

    @property
    def python(self) -> Path:
        return self.place / "bin" / "python"

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a shell that has activated it; pip downloads nothing."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
        return {**kept, "PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}", "PIP_NO_INDEX": "1"}

    def __call__(self, *words: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command as it is typed into that shell."""
        variables = {**self.environment, **environment}
        found = self.python.with_name(str(words[0]))
        command = [str(found), *map(str, words[1:])]
        return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False, timeout=300)


def _pip() -> list[Path]:
    """Return the files of pip. The environment of the tests lacks it, and the Python that made it may have it."""
    program = "import pip, pathlib; print(pathlib.Path(pip.__file__).parents[1])"
    for python in (sys.executable, "python3"):
        environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
        path = os.pathsep.join(
            part for part in os.environ["PATH"].split(os.pathsep) if Path(part) != Path(sys.executable).parent
        )
        done = subprocess.run(
            [python, "-c", program], env={**environment, "PATH": path}, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return [file for file in Path(done.stdout.strip()).glob("pip*") if file.is_dir()]
    raise AssertionError("no Python here has pip")


def wheel_of(name: str, version: str, place: Path, **scripts: str) -> Path:
    """Write a wheel of a package without a module; each script is a program in Python."""
    about = f"{name}-{version}.dist-info"
    files = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        **{f"{name}-{version}.data/scripts/{script}": f"#!python\n{text}" for script, text in scripts.items()},
    }
    files[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{about}/RECORD"])
    place.mkdir(exist_ok=True)
    wheel = place / f"{name}-{version}-py3-none-any.whl"
    programs = tuple(file for file in files if "/scripts/" in file)
    wheel.write_bytes(archived({file: text.encode() for file, text in files.items()}, programs))
    return wheel
