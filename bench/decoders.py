#!/usr/bin/env python3
"""Measures `vmafx score` and `vmafx library` with the decoders of an NVIDIA GPU and with those of the CPU.

usage: bench/decoders.py [--loops N] [--runs N] [--pairs N] [--only TEXT] [--work FOLDER] [--json FILE] [ROOT]

  ROOT    a folder that bench/pack-decoders made (default: the one with this file)
  --loops how often a clip of 150 frames is repeated, without decoding it (default: 80, which is 12,000 frames)
  --runs  of each command; the fastest counts (default: 2)
  --pairs of `vmafx library`, each of 600 frames of 1080p (default: 100; 0: none)
  --only  measure the cases whose name contains TEXT

In each case the filter alone reads all files from NVDEC in one ffmpeg, then `vmafx score` runs with `--hwaccel none`
and with `auto`. Prints pairs a second of the whole command, for `auto` also those that a longer file has more in the
time that it takes more, and the largest difference of the pooled scores from those of the CPU's decoders. A case that
scales also has `--scale-on gpu`. Ends with 1 if scores differ that must be equal.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FRAMES = 150  # of a clip
LIBRARY_LOOPS = 4
LONGER = 3  # times, of a second run with the GPU's decoders, whose difference is free of what each command begins with
CASES = {  # name: (distorted, how many of it, reference, whether it is scaled)
    "1080p H.264": ("h264-dis.mp4", 1, "h264-ref.mp4", False),
    "1080p H.264, 4 encodes": ("h264-dis.mp4", 4, "h264-ref.mp4", False),
    "1080p HEVC, 10 bits": ("hevc-dis.mp4", 1, "hevc-ref.mp4", False),
    "1080p AV1, 10 bits": ("av1-dis.mp4", 1, "av1-ref.mp4", False),
    "480p against 1080p": ("h264-480.mp4", 1, "h264-ref.mp4", True),
}
GPU = ["-hwaccel", "cuda", "-hwaccel_device", "gpu", "-hwaccel_output_format", "cuda"]


def parsed():
    parser = argparse.ArgumentParser(description="vmafx score and library with the decoders of a GPU and of the CPU.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--loops", type=int, default=80, help="of a clip of 150 frames (80)")
    parser.add_argument("--runs", type=int, default=2, help="of each command (2)")
    parser.add_argument("--pairs", type=int, default=100, help="of vmafx library; 0: none (100)")
    parser.add_argument("--only", default="", help="the cases whose name contains this")
    parser.add_argument("--work", type=Path, help="a folder for the long clips")
    parser.add_argument("--json", type=Path, help="add a line for each measurement to this file")
    return parser.parse_args()


class Failed(Exception):
    """A command has failed."""


class Bench:
    def __init__(self, arguments, work):
        self.root, self.work, self.runs, self.json = arguments.root.resolve(), work, arguments.runs, arguments.json
        self.ffmpeg = str(self.root / "bin/ffmpeg")
        self.equal = True

    # -- Commands ------------------------------------------------------------------------------------------------------

    def run(self, words):
        """Runs a command as often as asked; returns the least wall time, and the output of that run."""
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(self.root / "python"), os.environ.get("PYTHONPATH")])),
            "VMAFX_FFMPEG": self.ffmpeg,
            "VMAFX_LIBRARY": str(self.root / "lib/vmafx/libvmafx.so.0"),
        }
        best = None
        for _ in range(self.runs):
            start = time.monotonic()
            done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            wall = time.monotonic() - start
            if done.returncode:
                raise Failed(f"{' '.join(map(str, words))} failed:\n{done.stderr[-2000:]}")
            if best is None or wall < best[0]:
                best = wall, done
        return best

    def vmafx(self, *words):
        return self.run([sys.executable, "-m", "vmafx.command", *map(str, words)])

    def repeated(self, name, loops):
        """Returns a clip that repeats another one this often."""
        path = self.work / f"{loops}-{name}"
        if not path.exists():
            clip = self.root / "clips" / name
            words = [self.ffmpeg, "-v", "error", "-nostdin", "-stream_loop", loops - 1, "-i", clip, "-c", "copy", path]
            subprocess.run(list(map(str, words)), check=True)
        return path

    def tell(self, case, what, pairs, wall, **more):
        texts = [f"{key} {value}" for key, value in more.items() if value not in ("", None)]
        print(f"{case:22} {what:34} {wall:7.2f} s {pairs / wall:8.0f} pairs/s  {', '.join(texts)}", flush=True)
        if self.json:
            line = {"case": case, "what": what, "pairs": pairs, "wall_s": round(wall, 3), **more}
            with self.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    # -- Cases ---------------------------------------------------------------------------------------------------------

    def files(self, dis, count, ref, loops):
        """Returns the encodes, each under a name of its own, and the reference."""
        path = self.repeated(dis, loops)
        links = [self.work / f"{number}-{path.name}" for number in range(count)]
        for link in links:
            if not link.exists():
                os.link(path, link)
        return [*links, self.repeated(ref, loops)]

    def alone(self, case, paths, pairs):
        """Measures the filter, which reads all files from NVDEC."""
        *dists, _ = range(len(paths))
        pads, outputs = "".join(f"[{number}:v]" for number in range(len(paths))), "".join(f"[s{n}]" for n in dists)
        graph = f"{pads}vmafx=backend=hip:encodes={len(dists)}{outputs}"
        inputs = [word for path in paths for word in (*GPU, "-i", str(path))]
        head = [self.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-init_hw_device", "cuda=gpu", *inputs]
        sinks = [word for number in dists for word in ("-map", f"[s{number}]", "-f", "null", "-")]
        try:
            wall, done = self.run([*head, "-filter_complex", graph, *sinks])
        except Failed as failure:  # decoders that this GPU lacks; the command then takes those of the CPU
            print(f"{case:22} the filter alone fails: {str(failure).splitlines()[-1]}", flush=True)
            return
        counts = re.search(r"frames: reference: .*", done.stderr)
        self.tell(case, "the filter alone, one ffmpeg", pairs, wall, frames=counts[0] if counts else "")

    def longer(self, case, files, loops, pairs, wall):
        """Measures a longer file with the GPU's decoders, without what each command begins with."""
        longer, _ = self.vmafx("score", *self.files(*files, LONGER * loops), "--json")
        self.tell(case, "--hwaccel auto, only what is longer", (LONGER - 1) * pairs, longer - wall)

    def score(self, case, dis, count, ref, scaled, loops):
        paths, pairs = self.files(dis, count, ref, loops), count * loops * FRAMES
        if not scaled:
            self.alone(case, paths, pairs)
        wanted = None
        ways = [("--hwaccel", "none"), ("--hwaccel", "auto"), ("--hwaccel", "auto", "--jobs", "1")]
        for way in [*ways, ("--hwaccel", "auto", "--scale-on", "gpu")] if scaled else ways:
            wall, done = self.vmafx("score", *paths, *way, "--json")
            pooled = json.loads(done.stdout)["encodes"][-1]["pooled"]
            wanted = wanted or pooled
            difference = largest_difference(wanted, pooled)
            if difference and "gpu" not in way:
                self.equal = False
            said = [line for line in done.stderr.splitlines() if "decode" in line]
            self.tell(case, " ".join(way), pairs, wall, difference=f"{difference:g}", said=" / ".join(said))
            if way == ("--hwaccel", "auto"):
                self.longer(case, (dis, count, ref), loops, pairs, wall)

    def library(self, pairs):
        paths = [self.repeated(f"h264-{name}.mp4", LIBRARY_LOOPS) for name in ("dis", "ref")]
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            rows = ["distorted,reference"]
            for number in range(pairs):
                own = [Path(folder) / f"{number}-{path.name}" for path in paths]
                for link, path in zip(own, paths):
                    link.symlink_to(path)
                rows.append(",".join(map(str, own)))
            listed = Path(folder) / "list.csv"
            listed.write_text("\n".join(rows) + "\n")
            runs, self.runs = self.runs, 1  # a second run would find all results
            for way in ("none", "auto"):
                results = Path(folder) / f"{way}.jsonl"
                wall, _ = self.vmafx("library", listed, "-o", results, "--together", 1, "--hwaccel", way)
                records = [json.loads(line) for line in results.read_text().splitlines()]
                by_gpu = sum(any("the GPU decodes" in text for text in record["notes"]) for record in records)
                means = {record["pooled"]["vmaf"]["mean"] for record in records}
                self.equal = self.equal and len(means) == 1
                frames = pairs * LIBRARY_LOOPS * FRAMES
                self.tell(f"library of {pairs}", f"--hwaccel {way}", frames, wall, by_gpu=by_gpu, scores=len(means))
            self.runs = runs


def largest_difference(one, other):
    return max(
        abs(values[name] - other[key][name])
        for key, values in one.items()
        for name in values
        if isinstance(values[name], (int, float)) and isinstance(other[key][name], (int, float))
    )


def main():
    arguments = parsed()
    with tempfile.TemporaryDirectory(prefix="decoders-") as folder:
        bench = Bench(arguments, arguments.work or Path(folder))
        for case, files in CASES.items():
            if arguments.only in case:
                bench.score(case, *files, arguments.loops)
        if arguments.pairs and arguments.only in "library":
            bench.library(arguments.pairs)
    return 0 if bench.equal else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"decoders.py: {failure}")
