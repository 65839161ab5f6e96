"""Makes docs/pictures/notebook-*.png: JupyterLab in a real browser, with a check that fails and one that passes.

    python -m tests.browser

It also stops an endless loop with JupyterLab's own button, and insists that the kernel goes on. It runs in an
environment of its own, which has jupyterlab and playwright, with Debian's chromium; the kernel is this repository's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat.v4
from playwright.sync_api import Browser, Page, sync_playwright  # type: ignore[import-not-found, unused-ignore]

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs/pictures"
PORT, TOKEN = 8931, "pictures"
KERNEL = {
    "argv": [str(ROOT / ".venv/bin/python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
    "display_name": "Python 3",
    "language": "python",
}
UNSCALED = "def scores(Q, K):\n    return Q @ K.mT"
SCALED = "import math\n\n\ndef scores(Q, K):\n    return Q @ K.mT / math.sqrt(K.shape[-1])"
ENDLESS = """
def attend(h, X):
    print("begun")
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""
NOTEBOOKS = {
    "failing": (UNSCALED, "%check scores"),
    "passing": (SCALED, "%check scores"),
    "loop": (ENDLESS, "%check attend", "print('still', 'alive')"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        _fill(Path(place))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, theme in (("failing", "JupyterLab Light"), ("passing", "JupyterLab Dark")):
            with _jupyterlab(Path(place), theme):
                _photograph(_opened(browser, name), PICTURES / f"notebook-{name}.png")
        with _jupyterlab(Path(place), "JupyterLab Light"):
            _stop_a_loop(_opened(browser, "loop"))
        browser.close()


def _fill(place: Path) -> None:
    """Write a student's folder with notebooks, and the kernel."""
    folder = shutil.copytree(ROOT / "assignments/attention_scores", place / "student")
    for name, cells in NOTEBOOKS.items():
        notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "softmark", "display_name": "Python 3"}})
        notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in ("%load_ext softmark", *cells)]
        (folder / f"{name}.ipynb").write_text(nbformat.writes(notebook))
    kernel = place / "data/kernels/softmark"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(KERNEL))


@contextmanager
def _jupyterlab(place: Path, theme: str) -> Iterator[None]:
    """Run JupyterLab with nothing of the user's settings."""
    settings = place / "settings/@jupyterlab/apputils-extension"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "themes.jupyterlab-settings").write_text(json.dumps({"theme": theme}))
    own = {f"JUPYTER_{kind.upper()}_DIR": str(place / kind) for kind in ("data", "config", "runtime")}
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(place / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(place / "spaces")}
    options = ("--allow-root", "--no-browser", "--ip=127.0.0.1", f"--port={PORT}", f"--IdentityProvider.token={TOKEN}")
    command = (sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={place / 'student'}")
    with (place / "log").open("w") as log:
        server = subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=log)
    try:
        _await(f"http://127.0.0.1:{PORT}/api/status?token={TOKEN}")
        yield
    finally:
        server.terminate()
        server.wait()


def _await(address: str, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address).close()
            return
        except urllib.error.URLError:
            time.sleep(0.2)
    sys.exit(f"JupyterLab does not answer at {address}")


def _opened(browser: Browser, name: str) -> Page:
    """Return the page of a notebook in which all cells are being run."""
    page = browser.new_page(viewport={"width": 860, "height": 820})
    page.set_default_timeout(60_000)
    page.goto(f"http://127.0.0.1:{PORT}/lab/tree/{name}.ipynb?token={TOKEN}&reset")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.wait_for_selector("text=/\\| Idle/")
    page.wait_for_timeout(2000)  # the first "Idle" may be from before the kernel has answered
    page.add_style_tag(content=".Toastify {display: none !important}")  # a question about news
    page.keyboard.press("Control+b")  # without the list of files
    page.click("text=Run >> nth=0")
    page.click("text=Run All Cells")
    return page


def _photograph(page: Page, file: Path) -> None:
    """Save a picture of the cells and of the check's result."""
    page.wait_for_selector(".softmark-check .total")
    page.wait_for_timeout(1000)  # the page moves until the menus are closed
    first, last = (
        page.locator(place).bounding_box() for place in (".jp-Notebook .jp-Cell >> nth=0", ".softmark-check")
    )
    height = last["y"] + last["height"] + 10 - first["y"]
    page.screenshot(path=file, clip={"x": first["x"], "y": first["y"], "width": first["width"], "height": height})


def _stop_a_loop(page: Page) -> None:
    """Press the stop button once, and run the next cell."""
    page.wait_for_selector(".jp-OutputArea-output >> text=begun")
    page.click('jp-button[title^="Interrupt"], button[title^="Interrupt"]')
    page.wait_for_selector("text=the check was stopped")
    page.locator(".jp-Notebook .jp-CodeCell").last.click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(".jp-OutputArea-output >> text=still alive")


if __name__ == "__main__":
    main()
