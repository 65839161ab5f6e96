"""Installs what this homework needs, into the Python that runs this file. Type in this folder:

    python install.py           (in a notebook: %run install.py)

PyTorch and NumPy stay as they are if they are there. Where PyTorch is missing, its build for the CPU is installed. What
follows the name of this file is passed on to pip, and then pip alone is used: python install.py --constraint FILE
"""

# An old Python has to be able to read this file, so that it can say which one is needed: this is Python 2 and 3.

import glob
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

WHEEL = "softmark-*.whl"  # `softmark release` writes the name of the wheel here
OLDEST = (3, 11)
KEPT = ("torch", "numpy")
OTHERS_MB, TORCH_MB = 25, 250


def main(arguments):
    """Install what is missing, say before that what it is, and name the next command at the end."""
    if sys.version_info < OLDEST:
        sys.exit(
            "Softmark needs Python 3.11 or later, and this is Python {}.{}: install a newer Python and use it to run "
            "this file (in a notebook: choose another kernel).".format(*sys.version_info[:2])
        )
    wheel = find_wheel(os.path.dirname(os.path.abspath(__file__)))
    needed = requirements(wheel)
    there = {name: version_of(name) for name in needed}
    if is_installed(wheel) and all(there.values()):
        print("Softmark is installed already. " + next_command())
        return
    refuse_what_cannot_work(needed, there, arguments)
    for line in announcement(there, arguments):
        print(line)
    sys.stdout.flush()
    if not there["torch"]:
        install_torch(needed["torch"], arguments)
    others = [needed[name] for name in sorted(needed) if not (name in KEPT and there[name]) and name != "torch"]
    pip(["--quiet"] + others + arguments)
    pip(["--quiet", "--no-deps", "--force-reinstall", wheel] + arguments)
    print("Softmark is installed. " + next_command())


def find_wheel(folder):
    """Return the wheel that lies beside this file."""
    wheels = glob.glob(os.path.join(glob.escape(folder), WHEEL))
    if len(wheels) != 1:
        sys.exit("The file {} is not beside install.py: unpack the homework's zip into a new folder.".format(WHEEL))
    return wheels[0]


def requirements(wheel):
    """Return the requirements of the wheel, by the names of the packages."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        text = archive.read(name).decode("utf-8").partition("\n\n")[0]
    found = re.findall("^Requires-Dist: *(([A-Za-z0-9._-]+)[^;\n]*)$", text, re.MULTILINE)
    return {name: requirement.strip() for requirement, name in found}


def version_of(name):
    """Return the version of an installed package; None if it is missing."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def is_installed(wheel):
    """Return whether the installed Softmark has the files of the wheel: another version may have the same number."""
    from importlib import metadata

    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
        wanted = archive.read(name).decode("utf-8").splitlines()
    try:
        record = metadata.distribution("softmark").read_text("RECORD") or ""
    except metadata.PackageNotFoundError:
        return False
    return {line for line in wanted if line.startswith("softmark/")} <= set(record.splitlines())


def refuse_what_cannot_work(needed, there, arguments):
    """Exit with one sentence if nothing can be installed here."""
    for name in KEPT:
        least = needed[name].partition(">=")[2].partition(",")[0]
        if there[name] and release(there[name]) < release(least):
            sys.exit(
                "{0} {1} is installed here, and Softmark needs {0} {2} or later: make a new environment, as with "
                "python -m venv .venv, and use its Python to run this file.".format(name, there[name], least)
            )
    if not there["torch"] and sys.platform == "darwin" and os.uname().machine == "x86_64":
        sys.exit("PyTorch 2.6 was never made for Macs with an Intel processor: work in a notebook in the browser.")
    systems = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    if sys.prefix == sys.base_prefix and os.path.exists(systems) and not arguments:
        sys.exit(
            "This Python belongs to your system, and nothing may be installed into it. Make an environment of your "
            "own, and use its Python:\n\n    python3 -m venv .venv\n    .venv/bin/python install.py"
        )
    if version_of("pip") is None:
        python = quoted(sys.executable)
        sys.exit("This Python has no pip: type {} -m ensurepip, and run this file again.".format(python))


def release(version):
    """Return the first two numbers of a version, for a comparison."""
    return tuple(int(number) for number in re.findall("[0-9]+", version)[:2])


def announcement(there, arguments):
    """Return lines that say what is installed, how much that is to download, and how long it takes."""
    kept = ["{} {}".format(name, there[name]) for name in KEPT if there[name]]
    if kept:
        yield "{} {} not changed.".format(" and ".join(kept), "are" if len(kept) > 1 else "is")
    if there["torch"]:
        yield "Softmark and what it needs: up to {} MB to download, less than a minute.".format(OTHERS_MB)
    elif arguments and sys.platform.startswith("linux"):
        yield "PyTorch and Softmark, with pip: several GB to download on Linux, unless you name a smaller build."
    else:
        size = OTHERS_MB + TORCH_MB
        yield "PyTorch for the CPU and Softmark: up to {} MB to download, one to five minutes.".format(size)


def install_torch(requirement, arguments):
    """Install PyTorch. On Linux the build that pip takes by itself is the one for graphics cards, so uv chooses."""
    if arguments or not sys.platform.startswith("linux"):
        pip([requirement] + arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        pip(["--quiet", "--target", folder, "uv"])
        uv = os.path.join(folder, "bin", "uv")
        run([uv, "pip", "install", "--python", sys.executable, "--torch-backend", "cpu", requirement])


def pip(words):
    """Install with pip."""
    run([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-warn-script-location"] + words)


def run(words):
    """Run a command and show what it prints; exit with one sentence if it fails."""
    # A notebook shows only what its own process prints, and a terminal shows a bar only to the command itself.
    piped = None if sys.stdout.isatty() else subprocess.PIPE
    process = subprocess.Popen(words, stdout=piped, stderr=piped and subprocess.STDOUT, universal_newlines=True)
    try:
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
        status = process.wait()
    except BaseException:
        process.kill()
        process.wait()
        raise
    if status:
        sys.exit(
            "Not installed: {} failed, and the lines above say why. If the network was the reason, type the same "
            "command again; what has been done is not lost.".format(os.path.basename(words[0]))
        )


def next_command():
    """Return what to do next: in a notebook, or in a terminal where the command may not be found by its name."""
    import importlib
    import importlib.util
    from importlib import metadata
    from shutil import which

    importlib.invalidate_caches()
    if "ipykernel" in sys.modules:
        if "softmark" in sys.modules or importlib.util.find_spec("softmark") is None:
            return "Restart the kernel, and run the cells from the top."
        return "Go on with the next cell."
    command = "softmark"
    for file in metadata.distribution("softmark").files or ():
        path = os.path.abspath(str(file.locate()))
        if os.path.basename(path) in ("softmark", "softmark.exe") and not os.path.isdir(path):
            found = which("softmark")
            if not found or not os.path.samefile(found, path):
                command = quoted(os.path.relpath(path) if path.startswith(os.getcwd()) else path)
    return "Next, in this folder: {} check".format(command)


def quoted(path):
    """Return a path as it is typed into a shell."""
    return '"{}"'.format(path) if " " in path else path


if __name__ == "__main__":
    main(sys.argv[1:])
