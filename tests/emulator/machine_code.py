#!/usr/bin/env python3
"""The kernels of all metrics as machine code of AMD's GPUs: the CPU's raw sums, every kernel run, every instruction
known.

usage: machine_code.py [BUILD] [--long]

  BUILD   a build folder (default: build) with code objects for these architectures
  --long  all cases of the parity program instead of the smallest of each kind, more architectures, and every case once
          more under hard conditions: waves and blocks in another order, waves interrupted after a few instructions,
          loads that come as late as they may, reciprocals and roots as wrong as the hardware's may be; the smallest
          cases with the code for families of GPUs

Each architecture's machine code runs on the runtime libvmafx_hip_amd.so (emulator/README.md). Prints one line per check
and 'N passed, N failed, N skipped' at the end; exits 1 when something failed.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ARCHITECTURES = "gfx1100", "gfx942", "gfx1201"
MORE_ARCHITECTURES = "gfx906", "gfx90a", "gfx1030"
USUAL = "gfx1100", "gfx942"  # run all kernels in CI, too: waves of 32 lanes, and of 64
SLOW = bool(os.environ.get("VMAFX_TEST_SLOW"))  # set by .ci/run; without it, waves of 64 wait for CI and --long
FAMILIES = "gfx9-generic", "gfx9-4-generic", "gfx10-1-generic", "gfx10-3-generic", "gfx11-generic", "gfx12-generic"
DISASSEMBLERS = "llvm-objdump-19", "llvm-objdump-20", "llvm-objdump-21", "llvm-objdump-22", "llvm-objdump"
# All programs that launch kernels and compare the results; together they launch every kernel. The first one takes most
# of the time.
PARITY = "kernels/parity_test"
PROGRAMS = PARITY, "kernels/recolor/recolor_hip_test", "kernels/steps/unpack_test", "kernels/steps/row_sums_hip_test"
PARTS = 2  # parts of the first program, which processors share
AT_ONCE = threading.Semaphore(os.cpu_count())
MOST_FLAT = (
    100  # accesses whose memory the compiler does not know; src/hip/device_ptr.h tells it that of pointers from tables
)
HARD = {"SEED": "5", "QUANTUM": "40", "LATE": "1", "PERTURB": "1"}
# This metric must fail if each wait allows one load too many; one metric is enough to show that the option works.
CONTROL = "psnr"
LAST_CLANG_WITH_HELD_SCALARS = 19  # does not know gfx12's hazard of scalars (emulator/README.md)


class Skip(Exception):
    pass


@dataclass
class Counts:
    """The runtime's counts of kernels and instructions in the code objects."""

    launches: dict = field(default_factory=dict)  # counts by kernel
    executed: int = 0
    in_code: dict = field(default_factory=dict)  # counts by mnemonic
    has_run: dict = field(default_factory=dict)

    def read(self, path):
        for line in path.read_text().splitlines():
            kind, name, *numbers = line.split()
            numbers = [int(number) for number in numbers]
            if kind == "kernel":
                self.launches[name] = self.launches.get(name, 0) + numbers[0]
                self.executed += numbers[3]
            else:
                self.in_code[name] = numbers[0]
                self.has_run[name] = max(self.has_run.get(name, 0), numbers[1])

    def summary(self):
        kernels = sum(n > 0 for n in self.launches.values())
        mnemonics = sum(n > 0 for n in self.has_run.values())
        return (
            f"{kernels} of {len(self.launches)} kernels, {mnemonics} of {len(self.in_code)} kinds of instructions, "
            f"{self.executed / 1e6:.0f} million instructions"
        )


@dataclass
class Run:
    status: int  # a program that dies is reported like one that fails
    output: str
    seconds: float  # processor time


def run(build, program, architecture, variables):
    environment = {
        **os.environ,
        "CK_FORK": "no",
        "VMAFX_DEVICE_PLACES": "1000",
        "VMAFX_HIP_DEADLINE": "600000",
        "VMAFX_HIP_RUNTIME": str(build / "emulator/.libs/libvmafx_hip_amd.so"),
        "VMAFX_HIP_EMULATOR_ARCH": architecture,
        "VMAFX_HIP_EMULATOR_THREADS": "1",
        **variables,
    }
    with AT_ONCE, subprocess.Popen(
        [build / "tests" / program],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Run(process.returncode, output, usage.ru_utime + usage.ru_stime)


def last_words(output):
    """Returns failed checks and the emulator's messages; without any, the last lines."""
    lines = [
        line for line in output.splitlines() if ":F:" in line or ":E:" in line or line.startswith("vmafx HIP emulator")
    ]
    return " | ".join((lines or output.splitlines())[-2:])[:600]


def need_code(build, architecture):
    objects = re.search(r"^CODE_OBJECTS = (.*)", (build / "Makefile").read_text(), re.MULTILINE)
    if f"device_code/{architecture}.co" not in objects[1].split():
        raise Skip("this is built without code for it (configure --with-hip-archs)")
    if not any(shutil.which(name) for name in DISASSEMBLERS):
        raise Skip("llvm-objdump, which decodes machine code, is not installed (package llvm-19)")


def kernels_agree(build, architecture, cases, conditions):
    """Checks that all programs pass and that they run every kernel."""
    need_code(build, architecture)
    variables = {f"VMAFX_HIP_EMULATOR_{name}": value for name, value in conditions.items()}
    if cases:
        variables["VMAFX_TEST_CASES"] = cases
    parts = [(PARITY, {"VMAFX_TEST_PART": f"{part}/{PARTS}"}) for part in range(1, PARTS + 1)] + [
        (program, {}) for program in PROGRAMS[1:]
    ]
    counts, seconds = Counts(), 0
    with tempfile.TemporaryDirectory(prefix="vmafx-counts-") as folder, ThreadPoolExecutor(len(parts)) as pool:
        files = [Path(folder) / str(i) for i in range(len(parts))]
        runs = [
            pool.submit(
                run, build, program, architecture, {**variables, **part, "VMAFX_HIP_EMULATOR_COUNTS": str(file)}
            )
            for (program, part), file in zip(parts, files)
        ]
        for (program, _), file, done in zip(parts, files, [future.result() for future in runs]):
            assert done.status == 0, f"{program}: {last_words(done.output)}"
            counts.read(file)
            seconds += done.seconds
    never = sorted(name for name, launches in counts.launches.items() if launches == 0)
    assert counts.launches, "no kernel was counted"
    assert not never, f"never launched: {', '.join(never)}"
    flat = sum(number for name, number in counts.in_code.items() if name.startswith("flat_"))
    assert flat <= MOST_FLAT, f"{flat} flat accesses in all kernels, for {MOST_FLAT} at most"
    idle = sorted(name for name, times in counts.has_run.items() if times == 0)
    return f"{counts.summary()}, {seconds:.0f} s of processor time" + (
        f"; only decoded: {', '.join(idle)}" if idle else ""
    )


def missing_waits_show(build, architecture):
    """Checks as a control that sums are wrong if each wait lets one load too many stay on its way."""
    need_code(build, architecture)
    variables = {"VMAFX_HIP_EMULATOR_LATE": "2", "CK_RUN_CASE": CONTROL, "VMAFX_TEST_CASES": "smallest"}
    control = run(build, PARITY, architecture, variables)
    assert control.status != 0, f"{CONTROL} passes without waiting for its loads"
    return last_words(control.output)[:160]


def held_scalars(build, architecture):
    """Checks gfx12's hazard of scalars that a vector instruction has read. Code of clang 19 has it, and it must be
    seen; code of a newer one has none.
    """
    need_code(build, architecture)
    version = int(re.search(r"clang version (\d+)", (build / "device_code/compilers").read_text())[1])
    variables = {"VMAFX_HIP_EMULATOR_SCALARS": "1", "CK_RUN_CASE": CONTROL, "VMAFX_TEST_CASES": "smallest"}
    control = run(build, PARITY, architecture, variables)
    if version > LAST_CLANG_WITH_HELD_SCALARS:
        assert control.status == 0, f"clang {version}: {last_words(control.output)[:160]}"
        return f"clang {version} waits for them"
    assert control.status != 0 and "without an s_wait_alu" in control.output, f"clang {version}: none was seen"
    return f"clang {version} DOES NOT WAIT for them: {last_words(control.output)[:160]}"


def outcome_of(case):
    name, check, arguments = case
    try:
        return "PASS", f"{name}: {check(*arguments)}"
    except Skip as reason:
        return "SKIP", f"{name}: {reason}"
    except AssertionError as failure:
        return "FAIL", f"{name}: {failure}"


def is_slow():
    raise Skip("it is slow: VMAFX_TEST_SLOW=1 and --long run it")


def cases(build, deep):
    for architecture in ARCHITECTURES + (MORE_ARCHITECTURES if deep else ()):
        if not deep and not SLOW and architecture == USUAL[1]:
            yield architecture, is_slow, ()
        elif deep or architecture in USUAL:
            yield architecture, kernels_agree, (build, architecture, "" if deep else "smallest", {})
        yield f"{architecture} without waits", missing_waits_show, (build, architecture)
        if architecture.startswith("gfx12"):
            yield f"{architecture} held scalars", held_scalars, (build, architecture)
        if deep:
            yield f"{architecture} under hard conditions", kernels_agree, (build, architecture, "", HARD)
    for family in FAMILIES if deep else ():
        yield family, kernels_agree, (build, family, "smallest", {})


def main():
    deep = "--long" in sys.argv
    folders = [word for word in sys.argv[1:] if word != "--long"]
    build = Path(folders[0] if folders else Path(__file__).resolve().parents[2] / "build").resolve()
    programs = [f"tests/{program}" for program in PROGRAMS]
    made = subprocess.run(
        ["make", "-C", build, f"-j{os.cpu_count()}", "emulator", *programs], capture_output=True, text=True
    )
    if made.returncode != 0:
        print(f"FAIL {' '.join(programs)} cannot be built: {made.stderr.strip()[-300:]}\n0 passed, 1 failed, 0 skipped")
        return 1
    count = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    with ThreadPoolExecutor() as pool:
        for verdict, text in pool.map(outcome_of, cases(build, deep)):
            count[verdict] += 1
            print(verdict, text, flush=True)
    print(f"{count['PASS']} passed, {count['FAIL']} failed, {count['SKIP']} skipped")
    return 1 if count["FAIL"] else 0


sys.exit(main())
