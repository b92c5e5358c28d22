"""The processors of the machine: what the library tells of them, and what is in the PCI slots."""

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import _json
from .limited import run_limited
from .problems import AMD, HUNG, NVIDIA, Problem, of_runtime, of_trial

PYTHON = Path(__file__).resolve().parents[3]  # the folder of the package vmafx
PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); from vmafx._places import look_beside; "
    "[look_beside(path) for path in sys.argv[2:]]; from vmafx.command.machine.examined import main; sys.exit(main())"
)
RUNTIME = "VMAFX_HIP_RUNTIME"  # environment variable: the runtime that the user chooses
MAKERS = {"0x1002": AMD, "0x10de": NVIDIA}
PCI = Path("/sys/bus/pci/devices")
GIB = 1 << 30


@dataclass
class Examination:
    """The facts that the library told, and what follows from them."""

    library: dict[str, Any] = field(default_factory=dict)  # place, version
    cpu: dict[str, Any] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)  # GPUs that the build has code for
    drivers: list[str] = field(default_factory=list)  # of the kernel
    runtimes: list[dict[str, Any]] = field(default_factory=list)
    gpus: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def usable(self) -> Iterator[dict[str, Any]]:
        return (gpu for gpu in self.gpus if gpu.get("works"))

    def json(self) -> dict[str, Any]:
        return {
            "library": self.library,
            "cpu": self.cpu,
            "code": self.code,
            "drivers": self.drivers,
            "runtimes": self.runtimes,
            "gpus": self.gpus,
        }


def examine(ffmpeg: str | None, limit_s: float, pci: Path = PCI) -> Examination:
    """Has the library of this ffmpeg, or the one that Python finds, examine the machine."""
    words = [sys.executable, "-c", PROGRAM, str(PYTHON), *filter(None, [ffmpeg])]
    ended = run_limited(words, limit_s)
    seen = Examination(drivers=drivers())
    step = "load the library"
    for fact in _facts(ended.out):
        step = fact["doing"] if fact.get("kind") == "step" else step
        _take(seen, fact)
    if not seen.library and ended.status:
        seen.problems.append(Problem("library_fails", f"the library cannot be loaded: {ended.last_line}", INSTALL))
    elif ended.status is None:
        seen.problems.append(
            Problem("hangs", f"a driver hangs: after {limit_s:g} s it had not come to an end of: {step}", HUNG, "gpu")
        )
    elif ended.status:
        text = (
            f"a driver crashes: the program that was to {step} was ended by {_ending(ended.status)}: {ended.last_line}"
        )
        seen.problems.append(Problem("crashes", text, HUNG, "gpu"))
    _judge_runtimes(seen, {maker for maker, _ in gpus_on_pci(pci)})
    return seen


INSTALL = ("run ./quickstart build in vmafx's sources, or set VMAFX_LIBRARY to the library or its folder",)


def _facts(text: str) -> Iterator[dict[str, Any]]:
    """Yields the facts; the last line may be broken off."""
    for line in text.splitlines():
        try:
            fact = _json.parse(line)
        except ValueError:
            continue
        if isinstance(fact, dict):
            yield fact


def _take(seen: Examination, fact: dict[str, Any]) -> None:
    kind = fact.pop("kind", None)
    if kind == "place":
        seen.library = fact
        if not fact["place"]:
            seen.problems.append(Problem("no_library", f"the library cannot be loaded: {fact['reason']}", INSTALL))
    elif kind == "library":
        seen.library.update(fact)
        if not fact["version"]:
            seen.problems.append(Problem("old_library", f"{seen.library['place']} is older than this command", INSTALL))
    elif kind == "cpu":
        seen.cpu = fact
        if fact["error"]:
            seen.problems.append(Problem("cpu", fact["reason"], ("correct or unset VMAFX_CPU",), "scoring"))
    elif kind == "code":
        seen.code = fact["architectures"]
    elif kind == "runtime":
        seen.runtimes.append(fact)
    elif kind == "device":
        seen.gpus.append({**fact, "works": None})
    elif kind == "note":
        seen.gpus[fact["index"]]["note"] = fact["text"]
    elif kind == "trial":
        _take_trial(seen, fact)
    elif kind == "failure":
        seen.problems.append(Problem("settings", fact["reason"], ("correct or unset that variable",), "gpu"))


def _take_trial(seen: Examination, fact: dict[str, Any]) -> None:
    gpu = seen.gpus[fact["index"]]
    gpu["works"] = not fact["error"]
    if fact["error"]:
        problem = of_trial(fact["error"], fact["reason"], gpu["platform"])
        gpu["problem"] = problem.kind
        seen.problems.append(problem)


def _judge_runtimes(seen: Examination, makers: set[str]) -> None:
    """Adds a problem for each runtime without a GPU, if there is a reason to expect one: a GPU of its maker in a slot,
    a runtime that is installed, or one that the user has chosen.
    """
    named = bool(os.environ.get(RUNTIME))
    for runtime in seen.runtimes:
        if not runtime["error"]:
            continue
        maker = NVIDIA if "cuda" in runtime["library"] else AMD
        problem = of_runtime(runtime["error"], runtime["reason"], runtime["library"], named)
        runtime["problem"] = problem.kind
        if named or maker in makers or problem.kind != "no_runtime":
            seen.problems.append(problem)


def _ending(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"


def gpus_on_pci(folder: Path = PCI) -> list[tuple[str, str]]:
    """Returns (maker, PCI address) of each GPU of AMD and NVIDIA, whether it has a driver or not."""
    found = []
    for device in sorted(folder.glob("*")):
        maker = MAKERS.get(_line(device / "vendor"))
        if maker and _line(device / "class").startswith(("0x03", "0x12")):
            found.append((maker, device.name))
    return found


def drivers(root: Path = Path("/")) -> list[str]:
    """Returns the kernel's drivers of GPUs that are loaded, with their versions."""
    found = []
    if (root / "sys/module/amdgpu").exists():
        found.append(f"amdgpu {_line(root / 'sys/module/amdgpu/version') or 'of the kernel'}")
    if version := re.search(r"\s(\d+\.[\d.]+)\s", _line(root / "proc/driver/nvidia/version")):
        found.append(f"nvidia {version[1]}")
    return found


def _line(path: Path) -> str:
    try:
        return path.read_text(errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""


# -- As lines of the screen --------------------------------------------------------------------------------------------


def lines(seen: Examination, pci: Path = PCI) -> Iterator[tuple[str, str]]:
    """Yields (heading, text)."""
    cpu = seen.cpu
    if not cpu:
        yield "GPU", "not looked at"
        return
    others = ", ".join(level for level in cpu["levels"] if level != cpu.get("level"))
    yield "processor", f"{cpu.get('level', 'unknown')}, {cpu['threads']} threads" + (
        f"; also {others}" if others else ""
    )
    yield "GPU code", ", ".join(seen.code) or "none: the build has no kernels"
    yield "driver", ", ".join(seen.drivers) or "none"
    for runtime in seen.runtimes:
        yield "runtime", _of_runtime(runtime)
    for gpu in seen.gpus:
        yield f"GPU {gpu['index']}", _of_gpu(gpu)
    if not seen.gpus:
        there = ", ".join(f"{maker} at {address}" for maker, address in gpus_on_pci(pci))
        yield "GPU", f"none that can be used; in the slots: {there}" if there else "none"


def _of_runtime(runtime: dict[str, Any]) -> str:
    if runtime["error"]:
        return f"{runtime['library']}: {runtime['problem'].replace('_', ' ')}"
    version = f" {runtime['version']}" if "version" in runtime else ""
    return f"{runtime['library']}{version}" + (", the emulator" if runtime["emulator"] else "")


def _of_gpu(gpu: dict[str, Any]) -> str:
    architecture = gpu["architecture"] or "unknown architecture"
    facts = [f"{gpu['name']} ({gpu['pci_address']}, {architecture}), {gpu['memory_bytes'] / GIB:.0f} GiB"]
    if "code" in gpu and gpu["code"] != architecture:
        facts.append(f"runs the code for {gpu['code']}")
    if "places" in gpu:
        facts.append(f"{gpu['places_taken']} of {gpu['places']} places taken")
    works = {True: "self-test passed", None: "not tried to its end"}
    facts.append(works.get(gpu["works"]) or gpu["problem"].replace("_", " "))
    return "; ".join(facts)
