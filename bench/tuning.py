#!/usr/bin/env python3
"""Measures `vmafx crf` beside a search by the method of ab-av1 0.11.7 (bench/tuning_peer.py).

Makes clips (bench/tuning_clips.py), and for each clip, encoder and target searches both ways, one after the other,
then encodes the whole clip with each CRF that was found, and all options that the method tells, and scores it. Such
cases run side by side, each on processors of its own (--processors). Adds a line of JSON for each search to --results,
in which lines that are there are not measured again: so the work can be stopped (--minutes) and continued. Cases of the
first target come first, so that what was measured in a short time has all clips and encoders. bench/tuning_tables.py
makes the tables of docs/tuning.md.

Needs python3 with NumPy, an ffmpeg with libx264, libx265, libsvtav1 and the filter vmafx, and what `vmafx crf` needs.
"""

import argparse
import datetime
import itertools
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import tuning_clips
import tuning_peer as peer
import tuning_slots

TOP = Path(__file__).resolve().parents[1]
PRESETS = {"libx264": "medium", "libx265": "medium", "libsvtav1": "8"}
TARGETS = 90, 95, 80
SIZE = 960, 540


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--results", type=Path, required=True, help="a file of JSON lines to add to")
    add("--clips", type=names_of(tuning_clips.KINDS), default=tuning_clips.PAINTED, help="names, separated by commas")
    add("--encoders", type=names_of(PRESETS), default=tuple(PRESETS), help="names, separated by commas")
    add("--targets", type=lambda text: tuple(map(float, text.split(","))), default=TARGETS, help="VMAF scores")
    add("--seconds", type=float, default=40.0, help="length of a clip (default: %(default)s)")
    add("--size", type=size_of, default=SIZE, help="of painted clips (default: 960x540)")
    add("--folder", type=Path, help="where the clips are kept (default: a temporary folder)")
    add("--processors", type=int, default=4, help="of each case; others run beside it (default: %(default)s)")
    add("--minutes", type=float, default=1e4, help="end after this time; searches that run then are not measured")
    add("--ffmpeg", default=str(TOP / "build/bin/ffmpeg"), help="encodes, and has the filter vmafx")
    add("--libvmaf-ffmpeg", help="scores ab-av1's probes by its filter libvmaf (default: that of --ffmpeg)")
    add("--methods", type=names_of(METHODS), default=tuple(METHODS), help="ab-av1, vmafx (default: both)")
    add("--crf-option", action="append", default=[], help="a further word for vmafx crf")
    add("--python", type=Path, default=TOP / "python", help="the folder of the module vmafx")
    add("--check-early", action="store_true", help="score all frames of probes of vmafx that ended early, too")
    add("--only-clips", action="store_true", help="make the clips, and end")
    return parser.parse_args()


def names_of(known):
    def parse(text):
        names = tuple(text.split(","))
        if unknown := set(names) - set(known):
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)} is not known: choose of {', '.join(known)}")
        return names

    return parse


def size_of(text):
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) % 2 == 0 and int(height) % 2 == 0):
        raise argparse.ArgumentTypeError(f"'{text}' is not a size of even numbers, such as 960x540")
    return int(width), int(height)


# -- Clips -------------------------------------------------------------------------------------------------------------


def source_of(path):
    entries = "stream=width,height,pix_fmt,r_frame_rate,nb_read_packets:format=duration"
    command = ["ffprobe", *"-v error -count_packets -select_streams v:0 -of json -show_entries".split(), entries, path]
    said = json.loads(subprocess.run([*map(str, command)], capture_output=True, text=True, check=True).stdout)
    stream, rate = said["streams"][0], Fraction(said["streams"][0]["r_frame_rate"])
    size = stream["width"], stream["height"], stream["pix_fmt"]
    return peer.Source(path, float(said["format"]["duration"]), float(rate), int(stream["nb_read_packets"]), *size)


def module_environment(folder):
    """Returns the environment for the command vmafx of a folder, with other modules where they are."""
    path = [str(folder), os.environ.get("PYTHONPATH")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


# -- The two methods ---------------------------------------------------------------------------------------------------


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.scoring = arguments.libvmaf_ffmpeg or arguments.ffmpeg
        self.ranges = {}  # of CRFs, by encoder
        self.wholes = {}  # (score, seconds, per cent) of encodes, by clip, encoder and CRF

    def range_of(self, encoder):
        """Returns the first and the last CRF that ab-av1 tries, and its step; as far as the encoder takes them: SVT-AV1
        before 3.0 ends at 63, and takes no parts of a number.
        """
        if encoder not in self.ranges:
            first, last, step = peer.RANGES[encoder]
            if self.size_of_trial(encoder, 33) == self.size_of_trial(encoder, 33 + step):
                step = 1.0
            try:
                self.size_of_trial(encoder, last)
            except RuntimeError:
                last = 63.0
            self.ranges[encoder] = first, last, step
        return self.ranges[encoder]

    def size_of_trial(self, encoder, crf):
        """Returns the bytes of an encode of some frames. Raises RuntimeError if the encoder fails."""
        source = peer.Source(Path("none"), 1, 25, 10, 640, 360, "yuv420p")
        words = peer.encoder_words(encoder, PRESETS[encoder], crf, source)
        encode = self.folder / "trial.mkv"
        pictures = ["-f", "lavfi", "-i", "testsrc2=s=320x180:d=0.4,noise=alls=20"]
        peer.run([self.arguments.ffmpeg, "-y", *pictures, *words, encode])
        return encode.stat().st_size

    def by_ab_av1(self, source, encoder, target):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            programs = self.arguments.ffmpeg, self.scoring
            search = peer.Search(
                source, encoder, PRESETS[encoder], target, programs, Path(folder), self.range_of(encoder)
            )
            crf, score, seconds, failure = peer.measured(search)
        work = search.work
        return {
            "crf": crf,
            "promised": score,
            "wall_s": seconds,
            "failure": failure,
            "decoded": work.decoded,
            "encoded": work.encoded,
            "scored": work.scored,
            "probes": work.probes,
            "arguments": None,
        }

    def by_vmafx(self, source, encoder, target):
        done, seconds = self.vmafx_crf(source, encoder, target)
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        facts = facts_of_vmafx(done.stdout)
        if "samples" not in facts:
            raise RuntimeError(f"the search did not come to its end: {said}")
        return {"wall_s": seconds, "failure": said if done.returncode else None, **facts}

    def vmafx_crf(self, source, encoder, target, more=()):
        """Returns (the command that has ended, seconds)."""
        words = ["crf", str(source.path), "--target", f"vmaf={target:g}", "--encoder", encoder, "--no-cache", "--json"]
        words += ["--preset", PRESETS[encoder], "--pix-format", peer.pix_fmt_for(encoder, source)]
        words += [word for pair in peer.own_options(encoder) for word in ("--enc", "=".join(pair))]
        words += ["--ffmpeg", self.arguments.ffmpeg, *self.arguments.crf_option, *more]
        start = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "vmafx.command", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=module_environment(self.arguments.python),
        )
        return done, time.monotonic() - start

    def whole(self, source, encoder, words):
        """Encodes the whole clip with these options and scores it. Returns (score, seconds of encoding, per cent of the
        source's size).
        """
        if (known := self.wholes.get((source.path, *words))) is not None:
            return known
        encode = self.folder / f"whole{os.getpid()}.mkv"
        start = time.monotonic()
        peer.run([self.arguments.ffmpeg, "-y", "-i", source.path, *words, "-fps_mode", "passthrough", "-an", encode])
        seconds = time.monotonic() - start
        graph = peer.score_graph(source, peer.pix_fmt_for(encoder, source), "vmafx=check=off:backend=cpu")
        inputs = ["-r", peer.SCORED_RATE, "-i", encode, "-r", peer.SCORED_RATE, "-i", source.path]
        said = peer.run([self.arguments.ffmpeg, *inputs, "-filter_complex", graph, *"-an -sn -f null -".split()])
        score = float(said.rpartition("VMAF score: ")[2].split()[0])
        told = score, seconds, 100 * encode.stat().st_size / source.path.stat().st_size
        self.wholes[source.path, *words] = told
        return told


METHODS = {"ab-av1": Bench.by_ab_av1, "vmafx": Bench.by_vmafx}


def facts_of_vmafx(text):
    """Returns what the lines of `vmafx crf --json` tell of the search."""
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    probes = [line["probe"] for line in lines if "probe" in line]
    found = next((line["result"] for line in lines if "result" in line), None)
    encoded = sum(probe["frames"] for probe in probes)
    facts = {"crf": None, "encoded": encoded, "probes": probes, "arguments": None}
    if found is None:
        return facts
    score, *interval = (found["scores"]["vmaf"][name] for name in ("value", "low", "high"))
    # The samples of the source are decoded once, an encode to be scored.
    facts |= {"decoded": found["frames"] + encoded, "samples": found["samples"], "sampled": found["frames"]}
    facts["arguments"] = found["arguments"]
    return facts | ({"crf": found["quantizer"], "promised": score, "interval": interval} if found["reached"] else {})


def check_early_ends(bench, source, encoder, target, row):
    """Has all frames of probes that ended early scored. Returns the quantizers whose score is outside of the interval
    that the probe told.
    """
    wrong = []
    for probe in row["probes"]:
        if probe["frames"] >= probe["of_frames"]:
            continue
        number = f"{probe['quantizer']:g}"
        more = ["--all-frames", "--min-crf", number, "--max-crf", number]
        if row["sampled"] < source.frames:
            more += ["--samples", str(row["samples"])]
        done, _ = bench.vmafx_crf(source, encoder, target, more)
        whole = facts_of_vmafx(done.stdout)["probes"]
        low, high = (probe["scores"]["vmaf"][bound] for bound in ("low", "high"))
        if not whole or None not in (low, high) and not low <= whole[0]["scores"]["vmaf"]["value"] <= high:
            wrong.append(probe["quantizer"])
    return wrong


def measure(bench, method, source, encoder, target):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    row = METHODS[method](bench, source, encoder, target)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row["processor_s"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if method == "vmafx" and bench.arguments.check_early and "samples" in row:
        row["wrong_early"] = check_early_ends(bench, source, encoder, target, row)
    if row["crf"] is not None:
        words = row["arguments"] or peer.encoder_words(encoder, PRESETS[encoder], row["crf"], source)
        row["true"], row["whole_encode_s"], row["percent"] = bench.whole(source, encoder, words)
        if row["encoded"]:
            row["encoder_alone_s"] = row["encoded"] * row["whole_encode_s"] / source.frames
    return row


# -- The file of results -----------------------------------------------------------------------------------------------


def key_of(row):
    return row["method"], row["clip"], row["encoder"], float(row["target"])


def version():
    """Returns the commit that is measured: what VMAFX_COMMIT says, else what git tells."""
    if named := os.environ.get("VMAFX_COMMIT"):
        return named
    done = subprocess.run(["git", "-C", TOP, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def processor_name():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def libvmaf_of(ffmpeg):
    said = subprocess.run([ffmpeg, "-hide_banner", "-filters"], capture_output=True, text=True).stdout
    line = next((line for line in said.splitlines() if " libvmaf " in line), None)
    if line is None:
        sys.exit(f"tuning: {ffmpeg} has no filter libvmaf: name one that has it with --libvmaf-ffmpeg")
    return "vmafx's" if "by vmafx" in line else "libvmaf's"


def append(path, row):
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
        file.flush()
        os.fsync(file.fileno())


def main():
    arguments = parse_arguments()
    start = time.monotonic()
    end = start + 60 * arguments.minutes
    with tempfile.TemporaryDirectory(prefix="vmafx-tuning-") as temporary:
        folder = Path(temporary)
        workers = len(os.sched_getaffinity(0))
        made = tuning_clips.make(
            arguments.clips, arguments.folder or folder, arguments.seconds, arguments.size, arguments.ffmpeg, workers
        )
        print(f"tuning: {len(made)} clips are there after {time.monotonic() - start:.0f} s", flush=True)
        if not arguments.only_clips:
            run_all(arguments, Bench(arguments, folder), made, end)


def run_all(arguments, bench, made, end):
    slots = tuning_slots.slots_of(arguments.processors)
    facts = {"processor": f"{processor_name()}, {len(slots[0])} processors", "beside": len(slots)}
    facts |= {"date": f"{datetime.date.today()}", "version": version(), "libvmaf": libvmaf_of(bench.scoring)}
    there = arguments.results.read_text().splitlines() if arguments.results.exists() else []
    done = {key_of(json.loads(line)) for line in there}
    sources = {clip: source_of(path) for clip, path in made.items()}
    for encoder in arguments.encoders:
        bench.range_of(encoder)

    def measure_case(case):
        target, encoder, clip = case
        for method in arguments.methods:
            key = {"method": method, "clip": clip, "encoder": encoder, "target": target}
            if key_of(key) not in done:
                row = measure(bench, method, sources[clip], encoder, target)
                own = {"preset": PRESETS[encoder], "frames": sources[clip].frames}
                append(arguments.results, {**key, **own, **row, **facts})
                print(f"tuning: {' '.join(map(str, key.values()))}: {told(row)}", flush=True)

    cases = list(itertools.product(arguments.targets, arguments.encoders, made))
    is_whole = tuning_slots.run(measure_case, cases, slots, end)
    print("tuning: all is measured" if is_whole else "tuning: the time is up: run the same again for the rest")


def told(row):
    if row["crf"] is None:
        return f"no CRF ({row['failure']}), {row['wall_s']:.1f} s"
    return f"crf {row['crf']:g} in {row['wall_s']:.1f} s, promised {row['promised']}, true {row['true']:.3f}"


if __name__ == "__main__":
    if not shutil.which("ffprobe"):
        sys.exit("tuning: cannot find ffprobe: put it into PATH")
    main()
