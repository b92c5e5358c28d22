"""Shared parts of the filter's tests: the ffmpeg under test, the clips, running it, reading its output."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
GOLDEN = TOP / "tests/golden"
PYTHON = "/usr/bin/python3"  # the one that has Debian's cffi
sys.path.append(str(GOLDEN))
import check as golden_check

WIDTH, HEIGHT, FPS, FRAMES = 192, 108, 25, 20
SIZE = f"{WIDTH}x{HEIGHT}"
PREFIX = r"^\[Parsed_(?:vmafx|libvmaf)_\d+ @ 0x[0-9a-f]+\] "
SCORE_LINE = re.compile(PREFIX + r"(?:\S+: )?VMAF score: (\S+)$", re.M)
SUMMARY_LINE = re.compile(PREFIX + r"(\S+): mean (\S+), min (\S+), max ([^\s;]+)(?:; worst frames: (.*))?$", re.M)

cases = []
slow_cases = []
# Slow cases run, too, with tests/run --long, with VMAFX_TEST_SLOW, which .ci/run sets, or if --only names cases.
SLOW = bool(os.environ.get("VMAFX_TEST_SLOW") or os.environ.get("VMAFX_TEST_ALL"))


class Skip(Exception):
    """Raised if this machine or this ffmpeg cannot run the case."""


def case(function):
    """Registers a test: its name is the function's, it gets a Lab of its own, and fails by an exception."""
    cases.append(function)
    return function


def slow_case(function):
    """Marks a case that takes long and has faster relatives: see SLOW."""
    slow_cases.append(function)
    return function


def check(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(part) for part in what) or "check failed")


def check_equal(got, wanted, what="value"):
    check(got == wanted, f"{what}: got {got!r}, wanted {wanted!r}")


LONG_S = 5  # a case of the test command that takes longer is to be seen


def run_case(function, lab):
    """Runs a case and returns (verdict, reason); a case that passes and takes long has its time as the reason."""
    if function in slow_cases and not SLOW:
        return "SKIP", "it is slow: VMAFX_TEST_SLOW=1 and --long run it"
    began = time.monotonic()
    try:
        function(lab)
        seconds = time.monotonic() - began
        return "PASS", f"{seconds:.0f} s" if seconds > LONG_S else ""
    except Skip as reason:
        return "SKIP", str(reason)
    except Exception as failure:  # a case that breaks in any way has failed
        return "FAIL", f"{type(failure).__name__}: {failure}"


def report_cases(functions, outcomes):
    """Prints a line for each (verdict, reason) as it comes, then the number of each; returns the exit status."""
    count = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    for function, (verdict, why) in zip(functions, outcomes):
        count[verdict] += 1
        print(f"{verdict} {function.__name__}{': ' + why if why else ''}", flush=True)
    print(f"{count['PASS']} passed, {count['FAIL']} failed, {count['SKIP']} skipped")
    return 1 if count["FAIL"] or not count["PASS"] else 0


programs = {}
programs_lock = threading.Lock()


def compiled(lab, name, *flags, folder=Path(__file__).resolve().parent):
    """Builds NAME.c of this folder once, and returns the program."""
    with programs_lock:
        if name not in programs:
            path = lab.folder.parent / name
            source = folder / f"{name}.c"
            made = path.with_name(f"{name}.{os.getpid()}")  # other processes may make it, too
            subprocess.run(["cc", "-O1", source, "-o", made, *flags], check=True)
            made.replace(path)
            programs[name] = path
        return programs[name]


def compiled_program(lab, name):
    """Builds a program that runs with the libavfilter of the ffmpeg under test."""
    try:
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "libavfilter", "libavutil"], text=True)
    except (OSError, subprocess.CalledProcessError) as reason:
        raise Skip(f"libavfilter's headers are not installed ({reason})") from reason
    return compiled(lab, name, "-rdynamic", "-lpthread", *shlex.split(flags))


class Outcome:
    """A finished ffmpeg."""

    def __init__(self, command, code, stderr, seconds):
        self.command, self.code, self.stderr, self.seconds = command, code, stderr, seconds
        self.scores = SCORE_LINE.findall(stderr.replace("\r", "\n"))

    def succeeded(self):
        check(self.code == 0, f"exit status {self.code}: {self.tail()}")
        return self

    def failed(self, message, before_score=True):
        check(self.code not in (0, None), f"exit status {self.code} in spite of the error: {self.tail()}")
        check(self.code > 0, f"killed by signal {-self.code}: {self.tail()}")
        check(message in self.stderr, f"'{message}' is not in: {self.tail()}")
        check(not self.scores or not before_score, f"a score was printed in spite of the error: {self.scores}")
        return self

    def says(self, message):
        check(message in self.stderr, f"'{message}' is not in: {self.tail()}")
        return self

    def does_not_say(self, message):
        check(message not in self.stderr, f"'{message}' is in: {self.tail()}")
        return self

    def score(self):
        self.succeeded()
        check(len(self.scores) == 1, f"{len(self.scores)} score lines: {self.tail()}")
        return self.scores[0]

    def summary(self):
        """Returns {key: (mean, min, max, worst frames)} as printed, in that order."""
        return {found[1]: found.groups()[1:] for found in SUMMARY_LINE.finditer(self.stderr)}

    def tail(self):
        return " / ".join(self.stderr.strip().splitlines()[-6:])


class Clips:
    """Small encoded clips, made by the ffmpeg under test; their names are the files' names."""

    def __init__(self, lab, folder):
        self.folder = folder
        source = f"testsrc2=s={SIZE}:r={FPS},trim=end_frame={FRAMES}"
        self.ref = self.make(lab, "ref.mkv", source, "ffv1", "yuv420p")
        self.ref10 = self.make(lab, "ref10.mkv", source, "ffv1", "yuv420p10le")
        self.dist = self.encode(lab, "dist.mp4", self.ref)
        self.dist10 = self.make(lab, "dist10.mkv", source + ",boxblur=2", "ffv1", "yuv420p10le")

    def make(self, lab, name, source, codec, pix_fmt):
        path = self.folder / name
        lab.run("-f lavfi -i", source, "-c:v", codec, "-pix_fmt", pix_fmt, path).succeeded()
        return path

    def encode(self, lab, name, source):
        path = self.folder / name
        for codec in ("-c:v libx264 -crf 38", "-c:v mpeg4 -q:v 20"):
            if lab.run("-i", source, codec, path).code == 0:
                return path
        raise RuntimeError("no encoder for the distorted clip")


class GoldenClip:
    """A clip of tests/golden as two lossless files, and libvmaf's scores of it, as its reports print them."""

    def __init__(self, lab, name):
        self.clip = golden_check.Clip(GOLDEN / f"{name}.json")
        self.clip.write(compiled(lab, "make_clip", "-O2", folder=GOLDEN), lab.folder)
        self.dist, self.ref = (self.encode(lab, raw) for raw in (self.clip.dist, self.clip.ref))

    def encode(self, lab, raw):
        path = raw.with_name(f"{raw.name}.mkv")
        size = f"{self.clip.width}x{self.clip.height}"
        lab.run("-f rawvideo -r 25 -pix_fmt", self.clip.pix_fmt, "-s", size, "-i", raw, "-c:v ffv1", path).succeeded()
        raw.unlink()
        return path

    def frames(self, model):
        return [round(frame["vmaf"], 6) for frame in self.clip.golden["models"][model]["frames"]]

    def score(self, model):
        """Returns the score of the score line."""
        return f"{self.clip.golden['models'][model]['pooled']['vmaf']['mean']:.6f}"


class Lab:
    """The ffmpeg under test, and a folder to work in."""

    def __init__(self, ffmpeg, folder, clips=None):
        self.ffmpeg, self.folder = str(ffmpeg), Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.clips = clips or Clips(self, self.folder)

    def command(self, *args):
        """Returns ffmpeg's command. Options are written as on a command line: "-f null -" is three arguments.

        A text that does not begin with - is one argument.
        """
        words = [self.ffmpeg]
        for arg in map(str, args):
            words += arg.split(" ") if arg.startswith("-") else [arg]
        return words

    def run(self, *args, env=None):
        """Runs ffmpeg -hide_banner -nostdin -nostats -y ARGS."""
        return self.run_verbatim("-hide_banner -nostdin -nostats -y", *args, env=env)

    def run_verbatim(self, *args, stdin=subprocess.DEVNULL, env=None):
        command = self.command(*args)
        start = time.monotonic()
        done = subprocess.run(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            timeout=100,
            env={**os.environ, **(env or {})},
        )
        return Outcome(command, done.returncode, done.stderr.decode(errors="replace"), time.monotonic() - start)

    def python(self, *words):
        """A finished program of the Python module, with the library of this build."""
        if subprocess.run([PYTHON, "-c", "import cffi"], stderr=subprocess.DEVNULL).returncode:
            raise Skip("Debian's python3-cffi is not installed")
        build = Path(self.ffmpeg).parent.parent
        environment = {
            **os.environ,
            "PYTHONPATH": str(TOP / "python"),
            "PYTHONPYCACHEPREFIX": str(build / "bytecode"),
            "VMAFX_LIBRARY": str(build / ".libs/libvmafx.so.0"),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        return subprocess.run(
            [PYTHON, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=environment,
            text=True,
            timeout=100,
        )

    def start(self, *args):
        """Starts the same command in the background."""
        return subprocess.Popen(
            self.command("-hide_banner -nostdin -nostats -y", *args),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.folder,
        )

    def start_slowly(self, graph):
        """Starts two clips through a graph in the background, so that it takes some seconds."""
        slow = "-readrate 0.4 -i"
        return self.start(slow, self.clips.dist, slow, self.clips.ref, "-lavfi", graph, "-f null -")

    def compare(self, graph, dist=None, ref=None, output=(), before=(), env=None):
        """Runs two clips through a graph."""
        inputs = ("-i", dist or self.clips.dist, "-i", ref or self.clips.ref)
        return self.run(*before, *inputs, "-lavfi", graph, *output, "-f null -", env=env)

    def version(self):
        banner = subprocess.run(self.command("-version"), stdout=subprocess.PIPE).stdout.decode()
        found = re.search(r"ffmpeg version n?(\d+)\.(\d+)", banner)
        return (int(found[1]), int(found[2])) if found else (99, 0)

    def json(self, name):
        with open(self.folder / name) as file:
            return json.load(file)

    def json_lines(self, name):
        with open(self.folder / name) as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def xml(self, name):
        return ElementTree.parse(self.folder / name).getroot()

    def csv(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def write_model(self, name, weight=50.0):
        """Writes a model file with one support vector: small, and its scores are in range for any clip."""
        model = {
            "param_dict": {"C": 4.0, "norm_type": "clip_0to1", "score_clip": [0.0, 100.0], "nu": 0.9, "gamma": 0.04},
            "model_dict": {
                "model": (
                    "svm_type nu_svr\nkernel_type rbf\ngamma 0.04\nnr_class 2\ntotal_sv 1\nrho "
                    f"-0.25\nSV\n{weight / 100} 1:0.5 2:0.5 \n"
                ),
                "norm_type": "linear_rescale",
                "score_clip": [0.0, 100.0],
                "model_type": "LIBSVMNUSVR",
                "feature_names": ["VMAF_integer_feature_adm2_score", "VMAF_integer_feature_motion2_score"],
                "intercepts": [0.0, 0.0, 0.0],
                "slopes": [0.01, 1.0, 0.05],
                "feature_dict": {"VMAF_integer_feature": ["adm2", "motion2"]},
            },
        }
        path = self.folder / name
        path.write_text(json.dumps(model))
        return path
