#!/usr/bin/env python3
"""Scores the golden clips through ffmpeg and compares with libvmaf's scores (see README.md here).

usage: check.py [FFMPEG] [--filter NAME[=OPTIONS]] [--clips all|most|small|GLOB] [--cpu LEVEL|each] [--emulator LIBRARY]
                [--alternate] [--only TEXT ...] [--joint] [--through vmaf|ffmpeg] [--tolerance NUMBER]
                [--make-clip PROGRAM]

  FFMPEG    the ffmpeg to check (default: build/bin/ffmpeg)
  --filter  the filter and its fixed options, e.g. libvmaf=backend=cpu:n_threads=2 (default: vmafx=backend=cpu)
  --clips   all, most (without 1080p and 2160p), small (up to 353x288), or a pattern of names (default: all)
  --cpu     run with VMAFX_CPU=LEVEL, or once with each level that this machine has
  --emulator  run on this HIP runtime, with waves of 32 and of 64 lanes
  --alternate  on the emulator, score each clip with one of the two widths of waves, in turn
  --only    features and models whose name contains one of these texts; =NAME: the one of that name
  --through FFMPEG is a program that uses our libvmaf.so.3: libvmaf's tool, or FFmpeg with its own filter libvmaf
            (tests/libvmaf/run)
  --tolerance  accept such relative differences in all cases: for another C library, whose functions round otherwise
  --make-clip  the compiled make_clip.c (default: it is compiled)
  --joint   score in one run what does not share a key: a quarter of the runs. Models then have their version as name

A case is one feature or model on one clip: every frame's scores, the pooled and the aggregate ones must agree, to the
last bit but for those of TOLERANCES, relative to the score, or to 1 where that is less. With backend=hip all of it must
have run on the GPU; with verify=1, too, with raw sums equal to the CPU's in every frame. Prints a line per failure, the
largest difference, and 'N passed, N failed'; exits 1 when something failed.
"""

import argparse
import fnmatch
import hashlib
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOLERANCES = {"ciede": 1e-6, "float_moment": 1e-7, "float_psnr": 1e-6, "psnr_hvs": 5e-6}
here = Path(__file__).resolve().parent


class Case:
    """One feature with its options, or one model, and libvmaf's scores of one clip."""

    def __init__(self, name, is_model, golden):
        self.name, self.is_model, self.golden = name, is_model, golden

    def keys(self):
        return {key for frame in self.golden["frames"] for key in frame} | set(self.golden.get("aggregate", {}))

    def named(self):
        """Returns the case with the model's version as the name that its keys begin with, if they begin with "vmaf" by
        default.
        """
        if not self.is_model:
            return self
        rename = lambda scores: {self.name + key[len("vmaf") :]: value for key, value in scores.items()}
        golden = {**self.golden, "frames": [rename(frame) for frame in self.golden["frames"]]}
        golden |= {part: rename(golden[part]) for part in ("pooled", "aggregate") if part in golden}
        return Case(self.name, True, golden)


def options(cases):
    """Returns the filter's options that ask for these cases."""
    features = "|".join("name=" + escape(case.name.replace("=", ":", 1)) for case in cases if not case.is_model)
    name = "" if len(cases) == 1 else "\\:name={0}"
    models = "|".join(("version={0}" + name).format(case.name) for case in cases if case.is_model)
    return ":".join(f"{option}='{texts}'" for option, texts in (("feature", features), ("model", models)) if texts)


def joint(cases):
    """Returns as few lists as possible in which no key stands twice."""
    lists = []
    for case in map(Case.named, cases):
        for keys, together in lists:
            if not keys & case.keys():
                keys |= case.keys()
                together.append(case)
                break
        else:
            lists.append((case.keys(), [case]))
    return [together for _, together in lists]


class Clip:
    """A golden file and the two raw files that its make_clip arguments write."""

    def __init__(self, path):
        self.name = path.stem
        self.golden = json.loads(path.read_text())
        self.width, self.height, _, bits, chroma, _, _ = self.golden["make_clip"]
        self.pixels = int(self.width) * int(self.height)
        self.bits, self.chroma = bits, chroma
        self.pix_fmt = f"yuv{chroma}p" + ("" if bits == "8" else f"{bits}le")

    def write(self, make_clip, folder):
        self.ref, self.dist = folder / f"{self.name}.ref", folder / f"{self.name}.dist"
        subprocess.run([make_clip, *self.golden["make_clip"], self.ref, self.dist], check=True)
        for file, wanted in (self.ref, "ref"), (self.dist, "dis"):
            if hashlib.sha256(file.read_bytes()).hexdigest() != self.golden["sha256"][wanted]:
                raise SystemExit(f"check.py: make_clip wrote another {file.name} than the golden one")

    def cases(self):
        """Yields the cases, except those that libvmaf refuses to score. If its scores are plainly wrong, the corrected
        ones count.
        """
        for kind in "features", "models":
            for name, golden in self.golden[kind].items():
                if "frames" in golden:
                    yield Case(name, kind == "models", self.golden.get("corrected", {}).get(name, golden))


def escape(value):
    """Escapes a text for an option's value, inside quotes on the level of the graph."""
    return str(value).replace("\\", "\\\\").replace(":", "\\:")


def score(ffmpeg, fixed, clip, option, folder, environment):
    """Returns the report as a dict, or the first line that ffmpeg said: the filter's, before FFmpeg's own words."""
    log = folder / "report.json"
    separator = ":" if "=" in fixed else "="
    graph = f"[0:v][1:v]{fixed}{separator}log_fmt=json:log_path={escape(log)}:{option}"
    raw = ["-f", "rawvideo", "-pix_fmt", clip.pix_fmt, "-s", f"{clip.width}x{clip.height}", "-r", "25"]
    command = [
        ffmpeg,
        "-v",
        "error",
        "-nostdin",
        *raw,
        "-i",
        clip.dist,
        *raw,
        "-i",
        clip.ref,
        "-lavfi",
        graph,
        "-f",
        "null",
        "-",
    ]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return None, said[0] if said else f"exit status {done.returncode}"
    return json.loads(log.read_text()), None


def score_with_vmaf(tool, clip, cases, folder, environment):
    """Scores as score() does, with libvmaf's tool."""
    log = folder / "report.json"
    source = ["-r", clip.ref, "-d", clip.dist, "-w", clip.width, "-h", clip.height, "-p", clip.chroma, "-b", clip.bits]
    name = "" if len(cases) == 1 else ":name={0}"
    asked = [word for case in cases if not case.is_model for word in ("--feature", case.name)]
    asked += [word for case in cases if case.is_model for word in ("--model", ("version={0}" + name).format(case.name))]
    if not any(case.is_model for case in cases):
        asked.append("--no_prediction")
    done = subprocess.run(
        [tool, *source, *asked, "--threads", "1", "--quiet", "--json", "--output", log],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
    )
    if done.returncode or not log.exists():
        return None, done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}"
    return json.loads(log.read_text()), None


class Comparison:
    def __init__(self, case="", tolerance=0.0):
        self.tolerance = max(TOLERANCES.get(case.split("=")[0], 0), tolerance)
        self.complaint, self.largest, self.at = None, 0.0, ""

    def scores(self, where, wanted, got):
        """Returns two flat dicts of a report's scores.

        The infinity of a perfect match is null in reports: such scores are left out. Golden files have 16 decimals of
        small scores.
        """
        for key, value in wanted.items():
            if value is None or not math.isfinite(value):
                continue
            if got.get(key) is None:
                self.complain(f"{where}: {key} is missing")
                continue
            if got[key] == value or round(got[key], 16) == value:
                continue
            difference = abs(got[key] - value) / max(1, abs(value))
            if difference > self.largest:
                self.largest, self.at = difference, f"{where} {key}"
            if not difference <= self.tolerance:
                self.complain(f"{where}: {key} is {got[key]!r}, wanted {value!r} (off by {difference:.3g})")

    def report(self, golden, report):
        frames = report["frames"]
        if len(frames) != len(golden["frames"]):
            self.complain(f"{len(frames)} frames, wanted {len(golden['frames'])}")
        for number, (wanted, got) in enumerate(zip(golden["frames"], frames)):
            self.scores(f"frame {number}", wanted, got["metrics"])
        for key, wanted in golden.get("pooled", {}).items():
            self.scores(f"pooled {key}", wanted, report["pooled_metrics"].get(key, {}))
        self.scores("aggregate", golden.get("aggregate", {}), report["aggregate_metrics"])
        return self

    def device(self, fixed, report):
        if "backend=hip" not in fixed:
            return
        run = report["vmafx"]
        elsewhere = [metric for metric, backend in run["backend"].items() if backend != "hip"]
        if elsewhere or "handover" in run:
            self.complain(f"not all of it ran on the GPU: {elsewhere or run['handover']}")
        if "verify=1" in fixed and run.get("verification") != {
            "frames": len(report["frames"]),
            "largest_difference": 0.0,
        }:
            self.complain(f"raw sums differ from the CPU's: {run.get('verification')}")

    def complain(self, text):
        self.complaint = self.complaint or text


def check_run(arguments, environment, clip, cases):
    """Returns [(label, Comparison)] of the cases, which are scored in one run."""
    fixed = "libvmaf" if arguments.through else arguments.filter
    with tempfile.TemporaryDirectory() as folder:
        if arguments.through == "vmaf":
            report, error = score_with_vmaf(arguments.ffmpeg, clip, cases, Path(folder), environment)
        else:
            asked = options(cases) if arguments.through else f"score_fmt=%.17g:{options(cases)}"
            report, error = score(arguments.ffmpeg, fixed, clip, asked, Path(folder), environment)
    checked = []
    for case in cases:
        comparison = Comparison(case.name, arguments.tolerance)
        if error:
            comparison.complain(error)
        else:
            comparison.report(case.golden, report)
            comparison.device(fixed, report)
        checked.append((f"{clip.name} {case.name}", comparison))
    return checked


def cpu_levels(ffmpeg, wanted):
    """Returns the levels of --cpu; [None] is the level that the library picks. The complaint about a wrong name lists
    all.
    """
    if wanted != "each":
        return [wanted]
    graph = "testsrc2=s=64x64:d=0.1,split,vmafx"
    done = subprocess.run(
        [ffmpeg, "-v", "error", "-nostdin", "-f", "lavfi", "-i", graph, "-f", "null", "-"],
        stderr=subprocess.PIPE,
        env={**os.environ, "VMAFX_CPU": "each"},
    )
    found = re.search(rb"use one of: (.*)", done.stderr)
    if not found:
        raise SystemExit("check.py: the filter does not say which CPU levels there are: " + done.stderr.decode())
    return found[1].decode().strip().split(", ")


def environments(arguments, clip_number):
    """Returns [(label, variables)] of the environments to run in."""
    if arguments.emulator:
        widths = ("32", "64")[clip_number % 2 :][:1] if arguments.alternate else ("32", "64")
        return [(f" {lanes} lanes", emulated(arguments.emulator, lanes)) for lanes in widths]
    levels = cpu_levels(arguments.ffmpeg, arguments.cpu)
    return [(f" VMAFX_CPU={level}", {"VMAFX_CPU": level}) if level else ("", {}) for level in levels]


def emulated(library, lanes):
    """Returns the variables for the emulator, with one host thread for each process: several cases run side by side.

    A large frame takes the emulator longer than any GPU.
    """
    settings = {"LANES": lanes, "THREADS": "1"}
    return {"VMAFX_HIP_RUNTIME": library, "VMAFX_HIP_DEADLINE": "600000"} | {
        f"VMAFX_HIP_EMULATOR_{name}": value for name, value in settings.items()
    }


def choose_clips(wanted):
    clips = [Clip(path) for path in sorted(here.glob("*.json"))]
    limit = {"all": 1 << 40, "most": 1280 * 720, "small": 353 * 288}.get(wanted)
    return [clip for clip in clips if (clip.pixels <= limit if limit else fnmatch.fnmatch(clip.name, wanted))]


def can_score(through, clip, case):
    """Returns whether the program can score the case: the tool misreads files of subsampled chroma and odd sizes, with
    any library, and FFmpeg's filter does not load collections.
    """
    odd = int(clip.width) % 2 or int(clip.height) % 2
    return not (through == "vmaf" and odd and clip.chroma != "444" or through == "ffmpeg" and "_b_" in case.name)


def is_chosen(name, texts):
    return not texts or any(name == text[1:] if text.startswith("=") else text in name for text in texts)


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("ffmpeg", nargs="?", default=str(here.parents[1] / "build/bin/ffmpeg"))
    parser.add_argument("--filter", default="vmafx=backend=cpu")
    parser.add_argument("--clips", default="all")
    parser.add_argument("--cpu")
    parser.add_argument("--emulator")
    parser.add_argument("--alternate", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--tolerance", type=float, default=0.0)
    parser.add_argument("--make-clip")
    parser.add_argument("--joint", action="store_true")
    parser.add_argument("--through", choices=["vmaf", "ffmpeg"])
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    passed, failed, worst = 0, 0, Comparison()
    with tempfile.TemporaryDirectory(prefix="vmafx-golden-") as folder, ThreadPoolExecutor(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    ) as pool:
        folder = Path(folder)
        make_clip = arguments.make_clip or folder / "make_clip"
        if not arguments.make_clip:
            subprocess.run(["cc", "-O2", "-o", make_clip, here / "make_clip.c"], check=True)
        for number, clip in enumerate(choose_clips(arguments.clips)):
            clip.write(make_clip, folder)
            chosen = [
                case
                for case in clip.cases()
                if is_chosen(case.name, arguments.only) and can_score(arguments.through, clip, case)
            ]
            runs = joint(chosen) if arguments.joint else [[case] for case in chosen]
            for where, variables in environments(arguments, number):
                environment = {**os.environ, **variables} | ({"VMAFX_SCORE_FMT": "%.17g"} if arguments.through else {})
                check = lambda cases: check_run(arguments, environment, clip, cases)
                for label, comparison in itertools.chain.from_iterable(pool.map(check, runs)):
                    if comparison.complaint:
                        failed += 1
                        print(f"FAIL {label}{where}: {comparison.complaint}", flush=True)
                    else:
                        passed += 1
                    if comparison.largest > worst.largest:
                        worst.largest, worst.at = comparison.largest, f"{label}, {comparison.at}"
            clip.ref.unlink()
            clip.dist.unlink()
    print(f"largest difference {worst.largest:.3g}" + (f": {worst.at}" if worst.at else ""))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
