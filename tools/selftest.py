#!/usr/bin/env python3
"""Tests a GPU and writes the findings to a file that the user sends back (docs/hip.md). `./quickstart selftest` builds
the programs for it; bundles and wheels have them, and the command vmafx-selftest, which needs nothing else.

usage: selftest.py PLACE [FILE] [--emulator] [--device NAME] [--limit SECONDS] [--force]

  PLACE       the build folder, or the folder of a bundle or a wheel with the programs
  FILE        where the findings go (default: vmafx-selftest.txt)
  --emulator  on the emulator instead of a GPU, a small part: to try the command. Outside a build folder,
              VMAFX_HIP_RUNTIME names the emulator's library
  --device    auto, an index or a PCI address (default: auto)
  --limit     how long a program of a metric may take; all golden clips together, six times as long (default: 300)
  --force     replace FILE, though it is not an older one

The file is written anew with every line, and is on disk before the next program starts: if the GPU takes the machine
down, it tells how far the test came. Exits with 0 if all passed.
"""

import argparse
import collections
import contextlib
import ctypes
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

top = Path(__file__).resolve().parents[1]
HEAD, ON_EMULATOR_HEAD = "vmafx's self-test of a GPU", "EMULATOR: no GPU was tested"
ON_WINDOWS = sys.platform == "win32"
ENDING = ".exe" if ON_WINDOWS else ""  # of programs
MODELS = ["vmaf_v0.6.1", "vmaf_v1.0.16_3d0h"]
MOST_LINES = 20  # lines on failures in one place
MOST_HANGS = 3  # a GPU that hung so often hangs again

# A choice of what to run; metrics None stands for all. Batches are as in docs/gpu-results.md.
Selection = collections.namedtuple("Selection", "metrics clips features batch_of_size milliseconds")
ON_GPU = Selection(None, "small", [], {"1920x1080": 4, "3840x2160": 2}, 100)
ON_EMULATOR = Selection(["float_moment", "psnr"], "64x48*", ["=float_moment", "=psnr"], {"64x48": 1}, 1)


class Programs:
    """The places of the test's programs and files: in a build folder, or in what was installed with them. There, the
    programs are packed, since each has all kernels: they are unpacked into FOLDER.
    """

    def __init__(self, place, folder):
        packed = place / "lib/vmafx/selftest"
        self.place, self.is_build = place, not packed.is_dir()
        self.ffmpeg = place / f"bin/ffmpeg{ENDING}"
        if self.is_build:
            self.kernels, self.times = place / "tests/kernels/parity_test", place / "bench/device"
            self.golden = [top / "tests/golden/check.py"]
            self.library, self.emulator = place / ".libs/libvmafx.so", place / "lib/libvmafx_hip_emulator.so"
        else:
            unpack(packed / "programs.tar.xz", folder)
            self.kernels, self.times = folder / f"parity_test{ENDING}", folder / f"device{ENDING}"
            self.golden = [sys.executable, packed / "check.py", "--make-clip", folder / f"make_clip{ENDING}"]
            self.codes = packed / "device_code"
            self.library = place / ("bin/libvmafx.dll" if ON_WINDOWS else "lib/libvmafx.so.0")
            self.emulator = os.environ.get("VMAFX_HIP_RUNTIME")

    def device_code(self):
        """Returns the GPUs for which there is code, and the compilers."""
        if not self.is_build:
            return self.codes.read_text().strip()
        codes = sorted(
            path.stem for path in (self.place / "device_code").glob("*") if path.suffix in (".co", ".cubin", ".ptx")
        )
        compilers = [first_line(self.place / "config.status", f'S["{name}"]') for name in ("HIP_COMPILER", "NVCC")]
        compilers = [name for name in compilers if name not in ("", "no")]
        return f"{' '.join(codes)}, by {' '.join(compilers)}" if codes else "no GPU"


def unpack(archive, folder):
    """Unpacks the files of an archive into a folder, as programs."""
    with tarfile.open(archive) as members:
        for member in filter(tarfile.TarInfo.isfile, members):
            path = folder / Path(member.name).name
            path.write_bytes(members.extractfile(member).read())
            path.chmod(0o755)


class Report:
    """The lines of the file, without words that tell whose machine it is."""

    def __init__(self, path, private):
        self.path, self.private, self.lines, self.failures = path, private, [], []

    def add(self, line=""):
        for pattern, instead in self.private:
            line = re.sub(pattern, instead, line)
        self.lines.append(line)
        print(line, flush=True)
        self.write(["", "NOT FINISHED: it broke off here"])

    def heading(self, text):
        self.add()
        self.add(f"== {text}")

    def fail(self, what, reasons=()):
        """Adds a failure. Reasons may be many: the first ones stand for all."""
        self.failures.append(what)
        for reason in list(reasons)[:MOST_LINES]:
            self.add(f"    {reason}")
        if len(reasons) > MOST_LINES:
            self.add(f"    … and {len(reasons) - MOST_LINES} more")

    def finish(self, verdict):
        self.heading("Verdict")
        self.add(verdict)
        self.write([])

    def write(self, ending):
        name = f".{self.path.name}."
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=self.path.parent, prefix=name, delete=False
        ) as file:
            file.write("\n".join(self.lines + ending) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.chmod(file.name, 0o644)
        os.replace(file.name, self.path)


def private_words(place):
    """Returns [(pattern, replacement)]: folders first, since a user's name may be part of them."""
    words = [(place, "build"), (top, "."), (Path.home(), "~")]
    words = [(re.escape(str(path)), instead) for path, instead in words if str(path) != "/"]
    names = {
        socket.gethostname(): "HOST",
        socket.gethostname().split(".")[0]: "HOST",
        os.environ.get("SUDO_USER"): "USER",
        os.environ.get("USER"): "USER",
        os.environ.get("USERNAME"): "USER",
        Path.home().name: "USER",
    }
    return words + [
        (rf"\b{re.escape(name)}\b", instead)
        for name, instead in names.items()
        if name not in (None, "", "root", "localhost")
    ]


# -- Programs that may hang --------------------------------------------------------------------------------------------


class Ended(collections.namedtuple("Ended", "status output")):
    """A program that has ended. status: None if it hung or was not run. output: lines, those of standard error last."""

    def complaint(self, begin=""):
        """Returns the last line of output, if possible one that begins so, and the signal that ended the program."""
        said = [line for line in self.output if line.startswith(begin)] or self.output or ["it said nothing"]
        return f"{said[-1]} (signal {-self.status})" if self.status and self.status < 0 else said[-1]


class Runner:
    def __init__(self, limit_s):
        self.limit_s, self.hangs = limit_s, 0

    def run(self, command, variables, times=1):
        """Runs a program in a process group of its own, so that no process of it stays.

        A process that not even SIGKILL ends, in the driver, is left behind.
        """
        if self.hangs >= MOST_HANGS:
            return Ended(None, [f"not run: {MOST_HANGS} programs before it hung"])
        limit_s = self.limit_s * times
        with tempfile.TemporaryFile("w+", errors="replace") as output, tempfile.TemporaryFile(
            "w+", errors="replace"
        ) as errors:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
                env={**os.environ, **variables},
            )
            try:
                status = child.wait(limit_s)
            except BaseException as interrupt:
                end_group(child)
                if not isinstance(interrupt, subprocess.TimeoutExpired):
                    raise
                self.hangs += 1
                status = None
            lines = [line for file in (output, errors) if file.seek(0) == 0 for line in file.read().splitlines()]
        return Ended(status, lines if status is not None else lines + [f"it had not ended after {limit_s} s"])


def end_group(child):
    """Ends a program with all that it has started; on Windows, which has no groups, by a program of its own."""
    if not ON_WINDOWS:
        os.killpg(child.pid, signal.SIGKILL)
        return
    with contextlib.suppress(OSError):  # it is not there
        subprocess.run(["taskkill", "/f", "/t", "/pid", str(child.pid)], capture_output=True)
    child.kill()


# -- What is there -----------------------------------------------------------------------------------------------------


def first_line(path, pattern=""):
    """Returns the rest of the first line that begins like this; "" without such a line or file."""
    try:
        lines = Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line[len(pattern) :].strip(' \t:="') for line in lines if line.startswith(pattern)), "")


def said_by(*command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def commit():
    """Returns the commit of the sources; the version of an installed library tells its own."""
    if not (top / "tools/selftest.py").exists():
        return ""
    name = said_by("git", "-C", str(top), "rev-parse", "--short", "HEAD")
    changed = name and said_by("git", "-C", str(top), "status", "--porcelain", "--untracked-files=no")
    return ", commit " + (name or "unknown") + (" with changes" if changed else "")


def drivers():
    if ON_WINDOWS:
        yield from windows_drivers()
    if Path("/sys/module/amdgpu").exists():
        yield f"amdgpu {first_line('/sys/module/amdgpu/version') or 'of the kernel'}"
    yield from filter(None, [first_line("/proc/driver/nvidia/version")])


def windows_drivers():
    query = "Get-CimInstance Win32_VideoController | ForEach-Object { $_.Name + ', driver ' + $_.DriverVersion }"
    return filter(None, said_by("powershell", "-NoProfile", "-Command", query).splitlines())


def gpus_on_pci():
    """Returns display controllers and accelerators."""
    for device in sorted(Path("/sys/bus/pci/devices").glob("*")):
        if first_line(device / "class").startswith(("0x03", "0x12")):
            driver = (
                os.path.basename(os.path.realpath(device / "driver")) if (device / "driver").exists() else "no driver"
            )
            yield f"{device.name} {first_line(device / 'vendor')}:{first_line(device / 'device')} {driver}"


def gpus_of_kfd():
    for node in sorted(Path("/sys/class/kfd/kfd/topology/nodes").glob("*/properties")):
        version = first_line(node, "gfx_target_version ")
        if version not in ("", "0"):
            yield f"gfx_target_version {version}, {first_line(node, 'simd_count ')} SIMDs"


def runtimes():
    """Returns the releases of the runtimes, by the files behind the names that the library looks for."""
    names = re.findall(r"=> (\S*/lib(?:amdhip64\.so\.\d+|cuda\.so\.1))$", said_by("/sbin/ldconfig", "-p"), re.MULTILINE)
    files = {os.path.realpath(name) for name in [*names, *Path("/opt/rocm/lib").glob("libamdhip64.so.?")]}
    if ON_WINDOWS:
        system = Path(os.environ.get("SystemRoot", "C:\\Windows")) / "System32"
        files.update(found for name in ("amdhip64*.dll", "nvcuda.dll") for found in system.glob(name))
    yield from sorted(os.path.basename(file) for file in files)
    release = first_line("/opt/rocm/.info/version")
    if release:
        yield f"ROCm {release}"


def settings():
    for name, value in sorted(os.environ.items()):
        if name.startswith(("VMAFX_", "HSA_", "HIP_", "ROCR_", "GPU_", "AMD_", "CUDA_VISIBLE_", "CUDA_CACHE_")):
            yield f"{name}={value}"


def add_machine(report, programs, library):
    library.vmafx_version.restype = ctypes.c_char_p
    system = first_line("/etc/os-release", "PRETTY_NAME=") or platform.platform()
    processor = first_line("/proc/cpuinfo", "model name") or platform.processor() or "unknown"
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts = {
        "vmafx": [library.vmafx_version().decode() + commit()],
        "kernels for": [programs.device_code()],
        "system": [f"{system}, {platform.system()} {platform.release()}, {platform.machine()}"],
        "CPU": [f"{processor}, {threads} threads"],
        "GPU driver": drivers(),
        "on PCI": gpus_on_pci(),
        "in KFD": gpus_of_kfd(),
        "runtime": runtimes(),
        "variable": settings(),
    }
    report.heading("What is there")
    for name, values in facts.items():
        for value in list(values) or ["none found"]:
            report.add(f"{name:<12} {value}")


# -- The tests ---------------------------------------------------------------------------------------------------------


class Selftest:
    def __init__(self, arguments, programs, report, library):
        self.programs, self.report, self.device = programs, report, arguments.device
        self.selection = ON_EMULATOR if arguments.emulator else ON_GPU
        self.metrics = self.selection.metrics or metrics_with_kernels(library)
        self.runner = Runner(arguments.limit)
        self.emulator = str(programs.emulator) if arguments.emulator else None
        # An empty name is that of the runtime that is installed. Tests would wait longer than the library does by
        # itself.
        self.on_device = {
            "VMAFX_HIP_RUNTIME": self.emulator or os.environ.get("VMAFX_HIP_RUNTIME", ""),
            "VMAFX_HIP_DEADLINE": os.environ.get("VMAFX_HIP_DEADLINE", "60000" if self.emulator else "10000"),
        }
        self.counts = []

    def opens_the_gpu(self):
        ended = self.bench("psnr", "64x48", 1, 1)
        name = next(
            (line.removesuffix("; us per frame") for line in ended.output if line.endswith("; us per frame")), None
        )
        self.report.add(f"{'GPU':<12} {name or 'none that can be used: ' + ended.complaint()}")
        return name is not None

    def check_kernels(self):
        """Checks every case of a metric's kernels against the CPU's code.

        All cases run in one process: opening a GPU takes longer than most cases.
        """
        self.report.heading("Kernels against the CPU: equal sums (tests/kernels/parity_test)")
        variables = {"CK_FORK": "no", "CK_LOG_FILE_NAME": "-", "VMAFX_TEST_DEVICE": self.device}
        variables |= {} if self.emulator else self.on_device
        total = 0
        for metric in self.metrics:
            ended = self.runner.run([self.programs.kernels], {**variables, "CK_RUN_CASE": metric})
            passed = sum(":P:" in line for line in ended.output)
            failures = failed_cases(ended)
            total += passed
            self.report.add(f"{metric:<16} {passed} passed" + (f", FAILED: {len(failures)}" if failures else ""))
            if failures:
                self.report.fail(f"kernels of {metric}", failures)
        self.counts.append(f"{total} cases of {len(self.metrics)} metrics")

    def check_clips(self):
        self.report.heading("Golden clips: libvmaf's scores, and the CPU's sums in every frame (tests/golden/check.py)")
        device = "" if self.device == "auto" else ":device='" + self.device.replace(":", "\\:") + "'"
        command = [
            *self.programs.golden,
            self.programs.ffmpeg,
            "--filter",
            "vmafx=backend=hip:verify=1" + device,
            "--clips",
            self.selection.clips,
        ]
        command += ["--tolerance", "1e-12"] if ON_WINDOWS else []  # its exp() and log10() round otherwise
        command += ["--emulator", self.emulator] if self.emulator else []
        command += ["--only", *self.selection.features] if self.selection.features else []
        ended = self.runner.run(command, self.on_device, times=6)
        failures = [
            re.sub(r"\[\S+ @ 0x[0-9a-f]+\] ", "", line[len("FAIL ") :])
            for line in ended.output
            if line.startswith("FAIL ")
        ]
        count = next((line for line in ended.output if re.fullmatch(r"\d+ passed, \d+ failed", line)), "broke off")
        if ended.status != (1 if failures else 0):
            failures.append(ended.complaint())
        self.report.add(count)
        if failures:
            self.report.fail("golden clips", failures)
        self.counts.append("golden clips: " + count)

    def time_metrics(self):
        for size, batch in self.selection.batch_of_size.items():
            self.report.heading(f"Times: {size}, 8 bit, {batch} in a launch (bench/device)")
            self.report.add(f"{'':<20} {'kernels, us':>12} {'device, fps':>12} {'upload, fps':>12}")
            for name in self.metrics + ([] if self.emulator else MODELS):
                self.time(name, size, batch)

    def time(self, name, size, batch):
        ended = self.bench(name, size, batch, self.selection.milliseconds)
        complaint = ended.complaint("bench/device: ") if ended.status else ended.complaint()
        row = next((line.split()[1:] for line in ended.output if re.match(re.escape(name) + r" +[0-9.]+ ", line)), None)
        if ended.status == 0 and row:
            self.report.add(f"{name:<20} {row[0]:>12} {row[2]:>12} {row[5]:>12}")
        elif size != next(iter(self.selection.batch_of_size)) and re.search(
            r"of device memory|out of memory", complaint
        ):
            self.report.add(f"{name:<20} does not fit into the memory")
        else:
            self.report.add(f"{name:<20} FAILED")
            self.report.fail(f"{name} at {size}", [complaint])

    def bench(self, name, size, batch, milliseconds):
        command = [
            self.programs.times,
            "--device",
            self.device,
            "--only",
            name,
            "--size",
            size,
            "--bits",
            "8",
            "--batch",
            str(batch),
            "--time",
            str(milliseconds),
        ]
        return self.runner.run(command, self.on_device)


def metrics_with_kernels(library):
    """Returns the metrics whose second name, with the ending of kernels, exists."""
    library.vmafx_extractor.restype = ctypes.c_char_p
    names, i = [], 0
    while name := library.vmafx_extractor(i):
        names.append(name.decode())
        i += 1
    return [name.removesuffix("_hip") for name in names if name.endswith("_hip")]


def failed_cases(ended):
    """Returns what Check says of failed cases, and the input of the one in which the program died or hung."""
    output = "\n".join(ended.output)
    inputs = dict(re.findall(r"^case (\d+): (.*)$", output, re.MULTILINE))
    found = dict.fromkeys(re.findall(r"^[^ ]+:[FE]:\w+:\w+:(\d+): (.*)$", output, re.MULTILINE))
    failures = [text if text.startswith(inputs[case]) else f"{inputs[case]}: {text}" for case, text in found]
    if ended.status != (1 if failures else 0):
        last = list(inputs.values())[-1] if inputs else "at the start"
        failures.append(f"{last}: {ended.complaint()}")
    return failures


# -- The command line --------------------------------------------------------------------------------------------------


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("place", type=lambda text: Path(text).resolve())
    parser.add_argument(
        "file", type=lambda text: Path(text).resolve(), nargs="?", default=Path("vmafx-selftest.txt").resolve()
    )
    parser.add_argument("--emulator", action="store_true")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--force", action="store_true")
    return parser.parse_args()


def check_output(path, force):
    """Accepts a file that exists if this program has written it, or with --force."""
    if path.exists() and not path.is_file():
        sys.exit(f"quickstart: cannot write {path}: it is not a file")
    if path.exists() and path.stat().st_size and not force:
        with open(path, errors="replace") as file:
            if not file.read(200).startswith((HEAD, ON_EMULATOR_HEAD)):
                what_to_do = "name another file, or add --force to replace it"
                sys.exit(f"quickstart: {path} exists and is not a selftest; {what_to_do}")


def add_head(report, emulator):
    if emulator:
        report.add(ON_EMULATOR_HEAD)
        report.add()
    report.add(f'{HEAD}. Please send this file back: docs/hip.md, "Test your GPU".')
    report.add("It holds no user's name, no host's name and no path of the home folder. Read it before you send it.")


def verdict(test):
    failures = test.report.failures
    return f"FAILED: {', '.join(failures)}" if failures else f"ALL PASSED: {'; '.join(test.counts)}"


def main():
    arguments = parse_arguments()
    check_output(arguments.file, arguments.force)
    with tempfile.TemporaryDirectory(prefix="vmafx-selftest-") as folder:
        return run(arguments, Programs(arguments.place, Path(folder)))


def run(arguments, programs):
    if arguments.emulator and not programs.emulator:
        sys.exit("vmafx-selftest: cannot find the emulator: set VMAFX_HIP_RUNTIME to the path of its library")
    report = Report(arguments.file, private_words(programs.place))
    library = ctypes.CDLL(str(programs.library))
    add_head(report, arguments.emulator)
    add_machine(report, programs, library)
    test = Selftest(arguments, programs, report, library)
    if test.opens_the_gpu():
        test.check_kernels()
        test.check_clips()
        test.time_metrics()
    else:
        report.fail("no GPU can be used")
    report.finish(verdict(test))
    return 1 if report.failures else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as failure:
        sys.exit(f"quickstart: {failure}")
