"""Another device than the CPU: chosen, refused, and graded on. Where there is no graphics card, one is pretended."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from softmark.course.digest import provenance
from softmark.course.homework import homework_names, load_homework
from softmark.engines import device
from softmark.engines.device import ChosenDevice, choose, device_files
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.errors import UsageError
from softmark.records.result import Result, Submission
from tests.conftest import ROOT, STRONGEST


def graded(homework: str, source: str, on: str = "pretended") -> Result:
    """The result of a source text, on a device."""
    loaded = load_homework(homework, ROOT)
    with LocalEngine(GradingSpec.of(loaded, STRONGEST, device=on)) as engine:
        return engine.submit(
            Job(Submission(id="test"), SubmittedFiles(loaded.file, {loaded.file: source.encode()}))
        ).result()


def reference(homework: str) -> str:
    return (ROOT / "reference" / f"{homework}.py").read_text()


class TestChoice:
    @pytest.fixture
    def machine(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A machine with the CUDA build of torch and nothing in its /dev."""
        (tmp_path / "version.py").write_text("__version__ = '2.13.0'\ncuda: Optional[str] = '13.0'\n")
        spec = ModuleSpec("torch", None, origin=str(tmp_path / "__init__.py"))
        monkeypatch.setattr(device, "find_spec", lambda name: spec)
        monkeypatch.setattr(device, "DEVICE_FILES", tmp_path)
        return tmp_path

    def test_takes_a_graphics_card_that_is_there(self, machine: Path) -> None:
        """Both `auto` and `cuda` take it; its files are what a process must be able to open."""
        for name in ("nvidia0", "nvidiactl", "nvidia-uvm"):
            (machine / name).touch()
        assert choose("auto") == choose("cuda") == ChosenDevice("cuda:0")
        assert device_files() == tuple(str(machine / name) for name in ("nvidia-uvm", "nvidia0", "nvidiactl"))

    def test_auto_falls_back_and_says_so(self, machine: Path) -> None:
        """Without a card it is the CPU, with a line that says why; the control file alone is no card."""
        (machine / "nvidiactl").touch()
        assert choose("auto") == ChosenDevice(
            "cpu", "grading on the CPU: there is no NVIDIA device in this system (a container needs `--gpus all`)"
        )

    def test_build_of_torch_is_told(self, machine: Path) -> None:
        (machine / "nvidia0").touch()
        (machine / "version.py").write_text("cuda: Optional[str] = None\n")
        assert choose("auto").line == "grading on the CPU: the installed torch is the build for the CPU"

    def test_cuda_is_refused_without_one(self, machine: Path) -> None:
        """What was asked for is not quietly replaced: the next step is named."""
        with pytest.raises(UsageError, match="say --device cpu, or --device auto"):
            choose("cuda")

    def test_cpu_needs_nothing(self, machine: Path) -> None:
        assert choose("cpu") == ChosenDevice("cpu")

    def test_result_says_what_was_set(self) -> None:
        """Two results can only be compared if it is known with what precision they were made."""
        assert (
            provenance(load_homework("attention_scores", ROOT), "full", "cuda:0").device
            == "cuda:0, without TF32, deterministic"
        )


class TestOtherDevice:
    """Inputs are made on the device and modules moved to it; what comes back must be there."""

    @pytest.mark.parametrize("homework", homework_names(ROOT))
    def test_right_code_earns_everything(self, homework: str) -> None:
        """The references run on any device."""
        result = graded(homework, reference(homework))
        lost = [(test.number, test.verdicts[:1]) for test in result.tests if test.score < test.max_score]
        assert lost == []
        assert result.provenance.device == "pretended"

    def test_marks_are_those_of_the_cpu(self) -> None:
        """A wrong submission loses the same marks for the same reasons."""
        source = (ROOT / "samples/attention_scores/mixed.py").read_text()
        there, here = graded("attention_scores", source), graded("attention_scores", source, on="cpu")
        assert [test.score for test in there.tests] == [test.score for test in here.tests]
        assert facts(there) == facts(here)

    def test_mixed_devices_are_named(self) -> None:
        """A tensor made on the CPU meets one of the device: which two, and what to write."""
        answer = "E / E.sum(dim=-1, keepdim=True)"
        fixed = f"{answer} + torch.zeros(1, 1, dtype=S.dtype)"
        result = graded("attention_scores", reference("attention_scores").replace(answer, fixed))
        said = " ".join(facts(result))
        assert "uses tensors on meta and cpu together: create new ones with device=x.device" in said
        assert 0 < result.total < result.max_score

    def test_answer_on_another_device_is_named(self) -> None:
        """An answer that was moved away: where it is, where it should be, and what to write."""
        answer = "E / E.sum(dim=-1, keepdim=True)"
        result = graded("attention_scores", reference("attention_scores").replace(answer, f"({answer}).cpu()"))
        said = " ".join(facts(result))
        assert "returned a tensor on cpu, expected meta: create it with device=x.device" in said
        assert {v.category for test in result.tests for v in test.verdicts if "returned a tensor" in v.fact} == {
            "device"
        }


def facts(result: Result) -> list[str]:
    return [verdict.fact for test in result.tests for verdict in test.verdicts]
