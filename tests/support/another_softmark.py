"""Makes a second installation of softmark, whose files a test may change; the libraries are the first one's."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[2]
_START = "from softmark.cli import main; main()"


class AnotherSoftmark:
    """Softmark, installed in a folder; `package` holds its modules."""

    def __init__(self, place: Path) -> None:
        self.package = place / "src" / "softmark"
        shutil.copytree(ROOT / "src" / "softmark", self.package, ignore=shutil.ignore_patterns("__pycache__"))
        venv.create(place / "venv", with_pip=False)
        (site,) = (place / "venv" / "lib").glob("python3*/site-packages")
        (site / "another.pth").write_text(f"{self.package.parent}\n{sysconfig.get_path('purelib')}\n")
        self.python = place / "venv" / "bin" / Path(sys.executable).name

    @classmethod
    def from_wheel(cls, wheel: bytes, place: Path) -> AnotherSoftmark:
        """Install softmark from a wheel, with no checkout anywhere near."""
        softmark = cls.__new__(cls)
        venv.create(place / "venv", with_pip=False)
        (site,) = (place / "venv" / "lib").glob("python3*/site-packages")
        (site / "another.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        with zipfile.ZipFile(BytesIO(wheel)) as archive:
            archive.extractall(site)
        softmark.package, softmark.python = site / "softmark", place / "venv" / "bin" / Path(sys.executable).name
        return softmark

    def change(self, module: str, line: str = "# another version\n") -> None:
        """Add a line to a module."""
        with (self.package / module).open("a") as file:
            file.write(line)

    def __call__(self, *words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(self.python), "-I", "-c", _START, *map(str, words)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=240)
