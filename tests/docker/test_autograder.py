"""The image and the bundle, as Gradescope uses them: built, set up, run, starved, attacked, killed."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import time
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from softmark.authoring.bundle import bundle
from softmark.course.homework import homework_names, load_homework
from tests.docker.image import HOMEWORK, NAME, Container, Image, wheelhouse
from tests.support.autograder import ROOT, SOFTMARK, valid_results

HOMEWORKS = homework_names(ROOT)
WRONG = {
    "attention_scores": "mixed",
    "building_blocks": "probabilities",
    "byte_pair_encoding": "first_of_equals",
    "cost_model": "flops",
    "language_model": "leaky",
    "lstm_gates": "gate_order",
    "multi_head": "full_width",
    "positional_encoding": "halves",
    "recurrent": "wrong_way_back",
    "seq2seq": "eager_search",
    "text_features": "as_in_the_lecture",
    "transformer_block": "norms_exchanged",
    "vision_transformer": "channel_last",
    "word_vectors": "word2vec_only",
}
SECRET = "token-of-the-launcher"
SMALL = ("--memory=768m", "--cpus=0.5")
ATTACKS = {
    "hidden tests": "open(f'/autograder/source/graders/{HW}/{TESTS}').read()",
    "reference": "open(f'/autograder/source/reference/{HW}.py').read()",
    "listing": "os.listdir('/autograder/source')",
    "results": "open('/autograder/results/results.json').read()",
    "forged results": "open('/autograder/results/results.json', 'w').write('{}')",
    "run_autograder": "open('/autograder/run_autograder', 'a').write('#')",
    "environment": "open(f'/proc/{os.getppid()}/environ', 'rb').read()",
    "launcher": "open('/proc/1/environ', 'rb').read()",
    "memory": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "signal": "os.kill(os.getppid(), 0)",
    "network": "socket.create_connection(('127.0.0.1', 9), 1)",
    "name server": "socket.getaddrinfo('example.com', 80)",
}


def hostile(homework: str) -> str:
    """Right code that first tries everything in ATTACKS, and says to whoever reads its output how it went."""
    tries = "\n".join(
        f"try:\n    print({name!r}, 'GOT', repr({attack})[:80])\n"
        f"except BaseException as error:\n    print({name!r}, 'refused', type(error).__name__)"
        for name, attack in ATTACKS.items()
    )
    hidden = min((ROOT / "graders" / homework).glob("test_*.py")).name
    return f"{reference(homework)}\nimport os, socket\nHW, TESTS = {homework!r}, {hidden!r}\n{tries}\n"


def reference(homework: str) -> str:
    return (ROOT / "reference" / f"{homework}.py").read_text()


def submissions(homework: str) -> dict[str, str]:
    """Submissions to a homework. Broken and hostile ones are the same in all homeworks, so only one has them."""
    honest = {
        "right": reference(homework),
        "wrong": (ROOT / "samples" / homework / f"{WRONG[homework]}.py").read_text(),
    }
    others = {"broken": "def f(:\n    return\n", "hostile": hostile(homework)}
    return honest | others if homework == HOMEWORK else honest


def marks(results: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Every test with its marks; the words beside them may be fewer where there is less time to find them."""
    return [(test["number"], test["score"], test["max_score"], test["status"]) for test in results["tests"]]


class Platform:
    """A container in which one bundle after another is set up, and one submission after another is graded."""

    def __init__(self, container: Container, place: Path) -> None:
        self.container, self.place = container, place

    def set_up(self, homework: str) -> None:
        """What Gradescope does with an uploaded zip."""
        source = self.place / "source"
        shutil.rmtree(source, ignore_errors=True)
        with zipfile.ZipFile(BytesIO(bundle(load_homework(homework, ROOT), 10, None))) as archive:
            for entry in archive.infolist():
                file = Path(archive.extract(entry, source))
                file.chmod(entry.external_attr >> 16 & 0o777)
        done = self.container.run("/autograder/source/setup.sh", options=("--env=WHEELHOUSE=/wheelhouse",))
        assert done.returncode == 0, done.stdout + done.stderr
        shutil.copy(source / "run_autograder", self.place)

    def grade(self, files: dict[str, str], metadata: Any = None) -> tuple[dict[str, Any], str]:
        """The results, and what staff see."""
        for name in ("submission", "results"):
            shutil.rmtree(self.place / name, ignore_errors=True)
            (self.place / name).mkdir()
        for name, text in files.items():
            (self.place / "submission" / name).write_text(text)
        (self.place / "submission_metadata.json").write_text(json.dumps(metadata))
        done = self.container.run("/autograder/run_autograder", options=(f"--env=SECRET={SECRET}",))
        assert done.returncode == 0, done.stdout + done.stderr
        return valid_results((self.place / "results/results.json").read_bytes()), done.stdout


@pytest.fixture(scope="module")
def platform(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """The libraries of the image, without its softmark: the bundle brings its own."""
    place = tmp_path_factory.mktemp("platform")
    mounts = (f"--volume={place}:/autograder", f"--volume={wheelhouse()}:/wheelhouse:ro")
    with image.container(*mounts, f"--env=SECRET={SECRET}") as container:
        gone = container.run(
            "sh", "-c", "rm -r /opt/softmark/lib/python3*/site-packages/softmark* /opt/softmark/bin/softmark"
        )
        assert gone.returncode == 0, gone.stderr
        yield Platform(container, place)


class TestImage:
    def test_is_built_from_a_clone(self, image: Image) -> None:
        """It builds without a network, and its homework is proved on the way."""
        assert re.search(rf"✓ +{HOMEWORK[:7]}", image.log)

    def test_hides_tests_and_reference(self, image: Image) -> None:
        """Nobody but root can look into the place where they are."""
        with image.container() as container:
            done = container.run("ls", "/autograder/source", options=("--user=1000:1000",))
            assert done.returncode != 0
            assert "Permission denied" in done.stderr

    def test_holds_no_compiler_and_no_package_installer(self, image: Image) -> None:
        """What built it has not stayed in it."""
        with image.container() as container:
            left = container.run(
                "sh",
                "-c",
                "command -v gcc cc pip pip3; ls -d /autograder/source/wheelhouse /autograder/source/checkout",
            )
            assert left.stdout == ""

    def test_reaches_full(self, image: Image) -> None:
        """All start-up attacks are refused inside it."""
        with image.container() as container:
            found = json.loads(container.run("softmark", "doctor", "--json").stdout)
        assert found["level"] == "full", found["why_not_higher"]

    def test_grades_a_class_from_a_folder(self, image: Image, tmp_path: Path) -> None:
        """The command of docs/gradescope.md for an instructor's own machine."""
        (tmp_path / "in").mkdir()
        for name in ("right", "wrong"):
            (tmp_path / "in" / f"{name}.py").write_text(submissions(HOMEWORK)[name])
        with image.container(f"--volume={tmp_path}/in:/in:ro", f"--volume={tmp_path}:/out") as container:
            done = container.run("softmark", "grade", "/in", "-a", HOMEWORK, "-o", "/out/results")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "results/grades.csv").read_text().count("\n") == 3


class TestBundle:
    """The zip, unpacked and run the way the platform does it."""

    @pytest.mark.parametrize("homework", HOMEWORKS)
    def test_gives_the_marks_of_the_host(self, platform: Platform, homework: str, tmp_path: Path) -> None:
        """Right and wrong, in one homework broken and hostile: all tests have the marks that `softmark grade` gives."""
        platform.set_up(homework)
        file = load_homework(homework, ROOT).file
        for name, text in submissions(homework).items():
            (tmp_path / "in" / name).mkdir(parents=True)
            (tmp_path / "in" / name / file).write_text(text)
        words = (SOFTMARK, "grade", tmp_path / "in", "-a", homework, "-o", tmp_path)
        subprocess.run(words, check=True, capture_output=True)
        scores = {}
        for name, text in submissions(homework).items():
            results, told_staff = platform.grade({file: text})
            host = valid_results((tmp_path / "submissions" / name / "results.json").read_bytes())
            assert marks(results) == marks(host), name
            assert results["extra_data"]["isolation"] == "full"
            scores[name] = results["score"]
            if name == "hostile":
                self.got_nothing(results, told_staff)
        assert scores["right"] == 20
        assert 0 < scores["wrong"] < 20
        if homework == HOMEWORK:
            assert (scores["broken"], scores["hostile"]) == (0, 20)

    def got_nothing(self, results: dict[str, Any], told_staff: str) -> None:
        """Every attack was refused, and only staff read of it."""
        flat = " ".join(told_staff.replace("│", " ").split())
        assert [name for name in ATTACKS if f"{name} refused" not in flat] == []
        assert "FileNotFoundError" not in flat  # what is not there refuses nothing
        assert [name for name in ATTACKS if f"{name} refused" in json.dumps(results)] == []
        assert SECRET not in told_staff + json.dumps(results)

    def test_obeys_what_the_platform_says(self, platform: Platform) -> None:
        """Metadata reaches it, whatever its types."""
        platform.set_up(HOMEWORK)
        odd = {"id": [], "created_at": 7, "users": None, "previous_submissions": [3]}
        results, told_staff = platform.grade({f"{HOMEWORK}.py": reference(HOMEWORK)}, odd)
        assert results["score"] == 20
        assert "created_at is" in " ".join(told_staff.split())


class TestSmallContainer:
    """768 MB, half a processor, no network: what the platform gives."""

    def test_memory_and_time(self, image: Image, tmp_path: Path) -> None:
        """20 of 20; at most 500 MB, page cache included; at most twice as long as `import torch`, and two seconds."""
        (tmp_path / f"{HOMEWORK}.py").write_text(reference(HOMEWORK))
        with image.container(*SMALL, f"--volume={tmp_path}:/autograder/submission:ro") as container:
            torch = min(seconds(container, "/opt/softmark/bin/python -c 'import torch'") for _ in range(3))
            whole = min(seconds(container, "/autograder/run_autograder >/dev/null") for _ in range(3))
            peak = int(container.run("sh", "-c", PEAK).stdout)
            results = valid_results(container.run("cat", "/autograder/results/results.json").stdout.encode())
        assert results["score"] == 20
        assert peak <= 500_000_000
        assert whole <= 2 * torch + 2, f"{whole:.1f} s; import torch {torch:.1f} s"


PEAK = "cat /sys/fs/cgroup/memory.peak 2>/dev/null || cat /sys/fs/cgroup/memory/memory.max_usage_in_bytes"


def seconds(container: Container, command: str) -> float:
    """Wall time of a command, taken inside the container."""
    return float(
        container.python(
            "import subprocess, time; start = time.monotonic(); "
            f"subprocess.run({command!r}, shell=True, check=True); print(time.monotonic() - start)"
        )
    )


class TestKilled:
    """The container is ended in the middle of it."""

    MOMENTS = 20

    def test_results_hold_what_was_earned(self, image: Image, tmp_path: Path) -> None:
        """At 20 random moments results.json is valid, and its tests are a beginning of those of the whole run."""
        slow = re.sub(r"( +)# BEGIN SOLUTION", r"\1import time; time.sleep(0.01)", reference(HOMEWORK))
        whole, longest = self.run(image, tmp_path, slow, 100)
        moments = random.Random(6)
        finished = []
        for _ in range(self.MOMENTS):
            results, _ = self.run(image, tmp_path, slow, moments.uniform(0.5, longest))
            assert len(results["tests"]) == len(whole["tests"])
            run = [test["output"] != "Not run yet." for test in results["tests"]]
            assert run == sorted(run, reverse=True), "what is finished comes before what is not"
            done = run.count(True)
            assert results["tests"][:done] == whole["tests"][:done]
            assert results["score"] == pytest.approx(sum(test["score"] for test in results["tests"]))
            finished.append(done)
        assert min(finished) == 0, "no moment was early"
        assert max(finished) > 0, "no moment was late"

    def run(self, image: Image, place: Path, source: str, seconds: float) -> tuple[dict[str, Any], float]:
        """What a container leaves that is killed after so many seconds, and how long it lived."""
        (place / "submission").mkdir(exist_ok=True)
        (place / "submission" / f"{HOMEWORK}.py").write_text(source)
        shutil.rmtree(place / "results", ignore_errors=True)
        (place / "results").mkdir()
        mounts = (f"--volume={place}/{name}:/autograder/{name}" for name in ("submission", "results"))
        started = ("timeout", "--signal=KILL", str(seconds), "/autograder/run_autograder")
        start = time.monotonic()
        image.docker.client("run", "--rm", "--network=none", *mounts, NAME, *started)
        lived = time.monotonic() - start
        return valid_results((place / "results/results.json").read_bytes()), lived
