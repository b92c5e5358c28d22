#!/usr/bin/env python3
"""Measures what `vmafx encode --per-scene` saves on long clips of unlike scenes, at equal worst-scene scores.

For each clip and encoder, encodes with a quantizer for each scene, then the whole with single CRFs, until two
neighboring ones have a worst scene that is better and worse than that of the first encode. The bits of one CRF with an
equal worst scene lie between theirs. Adds a line of JSON for each case to --results, of which bench/tuning_tables.py
makes a table.

Needs what bench/tuning.py does.
"""

import argparse
import datetime
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tuning
import tuning_clips
import tuning_peer as peer
import tuning_slots

ENCODERS = "libx264", "libx265", "libsvtav1"
MOST_WHOLES = 9  # encodes with one CRF


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--results", type=Path, required=True, help="a file of JSON lines to add to")
    add("--encoders", type=tuning.names_of(ENCODERS), default=ENCODERS, help="names, separated by commas")
    add("--target", type=float, default=90.0, help="the VMAF score of each scene (default: %(default)s)")
    add("--seconds", type=float, default=120.0, help="length of a clip (default: %(default)s)")
    add("--size", type=tuning.size_of, default=tuning.SIZE, help="of the clips (default: 960x540)")
    add("--folder", type=Path, required=True, help="where the clips are kept")
    add("--processors", type=int, default=6, help="of each case; others run beside it (default: %(default)s)")
    add("--minutes", type=float, default=1e6, help="end after this time; cases that run then are not measured")
    add("--ffmpeg", default=str(tuning.TOP / "build/bin/ffmpeg"), help="encodes, and has the filter vmafx")
    add("--python", type=Path, default=tuning.TOP / "python", help="the folder of the module vmafx")
    return parser.parse_args()


def encoded_per_scene(arguments, clip, encoder, target, output):
    """Returns what `vmafx encode --per-scene` says of its encode."""
    words = ["encode", str(clip), "-o", str(output), "-e", encoder, "--preset", tuning.PRESETS[encoder], "--per-scene"]
    words += ["--target", f"vmaf={target:g}", "--no-cache", "--json", "--force", "--ffmpeg", arguments.ffmpeg]
    words += [word for pair in peer.own_options(encoder) for word in ("--enc", "=".join(pair))]
    done = subprocess.run(
        [sys.executable, "-m", "vmafx.command", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=tuning.module_environment(arguments.python),
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    told = next((line["encode"] for line in lines if "encode" in line), None)
    if told is None:
        raise RuntimeError(f"vmafx {' '.join(words)}: {done.stderr[-800:]}")
    return told


def worst_with(arguments, source, encoder, crf, scenes, folder):
    """Encodes the whole with one CRF. Returns (the worst mean score of a scene, bytes, in the container whose bytes
    `vmafx encode` tells).
    """
    encode, log = folder / "one.nut", folder / "one.json"
    words = peer.encoder_words(encoder, tuning.PRESETS[encoder], crf, source)
    passed = ["-fps_mode", "passthrough", "-an"]
    peer.run([arguments.ffmpeg, "-y", "-i", source.path, *words, *passed, encode])
    graph = peer.score_graph(
        source,
        peer.pix_fmt_for(encoder, source),
        f"vmafx=check=off:backend=cpu:n_threads={len(os.sched_getaffinity(0))}:log_fmt=json:log_path={log}",
    )
    inputs = ["-r", peer.SCORED_RATE, "-i", encode, "-r", peer.SCORED_RATE, "-i", source.path]
    peer.run([arguments.ffmpeg, *inputs, "-filter_complex", graph, *"-an -sn -f null -".split()])
    scores = [frame["metrics"]["vmaf"] for frame in json.loads(log.read_text())["frames"]]
    means = [sum(part) / len(part) for first, last in scenes if (part := scores[first : last + 1])]
    return min(means), encode.stat().st_size


def with_one(arguments, source, encoder, start, worst, scenes, folder):
    """Returns [(CRF, worst scene, bytes)] of encodes with one CRF; the last two are neighbors around `worst`, if they
    were found.
    """
    step = 0.5 if encoder != "libsvtav1" else 1.0
    tried = {}
    crf, way = round(start / step) * step, 0.0
    while len(tried) < MOST_WHOLES and crf not in tried:
        tried[crf] = worst_with(arguments, source, encoder, crf, scenes, folder)
        good = [q for q, (score, _) in tried.items() if score >= worst]
        bad = [q for q, (score, _) in tried.items() if score < worst]
        if good and bad and min(bad) - max(good) <= step:
            break
        if good and bad:
            crf = math.floor((max(good) + min(bad)) / 2 / step) * step
        else:
            way = max(2 * way, 2.0)
            crf += way if good else -way
    return [(q, *tried[q]) for q in sorted(tried)]


def between(tried, worst):
    """Returns the bytes that one CRF with this worst scene would need; None where it was not found."""
    for (_, better, more), (_, worse, less) in zip(tried, tried[1:]):
        if better >= worst > worse:
            part = (better - worst) / (better - worse)
            return math.exp(math.log(more) * (1 - part) + math.log(less) * part)
    return None


def main():
    arguments = parse_arguments()
    end = time.monotonic() + 60 * arguments.minutes
    there = arguments.results.read_text().splitlines() if arguments.results.exists() else []
    done = {(row["clip"], row["encoder"], row["target"]) for row in map(json.loads, there)}
    workers = len(os.sched_getaffinity(0))
    made = tuning_clips.make(
        tuple(tuning_clips.MIXED), arguments.folder, arguments.seconds, arguments.size, arguments.ffmpeg, workers
    )
    sources = {clip: tuning.source_of(path) for clip, path in made.items()}
    slots = tuning_slots.slots_of(arguments.processors)
    facts = {"processor": f"{tuning.processor_name()}, {len(slots[0])} processors", "version": tuning.version()}
    facts["date"] = f"{datetime.date.today()}"
    cases = [(c, e) for c in made for e in arguments.encoders if (c, e, arguments.target) not in done]

    def measure(case):
        clip, encoder = case
        source = sources[clip]
        with tempfile.TemporaryDirectory(prefix="vmafx-tuning-") as name:
            folder = Path(name)
            start = time.monotonic()
            told = encoded_per_scene(arguments, source.path, encoder, arguments.target, folder / "scenes.mkv")
            seconds = time.monotonic() - start
            scenes = [(scene["first_frame"], scene["last_frame"]) for scene in told["scenes"]["list"]]
            worst = min(scene["scores"]["vmaf"] for scene in told["scenes"]["list"])
            first = told["scenes"]["one_quantizer"]
            tried = with_one(arguments, source, encoder, first, worst, scenes, folder)
        one = between(tried, worst)
        row = {"clip": clip, "encoder": encoder, "preset": tuning.PRESETS[encoder], "target": arguments.target}
        row |= {"frames": source.frames, "scenes": len(scenes), "worst": worst, "bytes": told["video_bytes"]}
        row |= {"one_bytes": one, "tried": tried, "missed": told["missed"], "wall_s": seconds}
        row["saved_percent"] = 100 * (1 - told["video_bytes"] / one) if one else None
        tuning.append(arguments.results, {**row, **facts})
        print(f"scenes: {clip} {encoder}: {len(scenes)} scenes, saved {row['saved_percent']} %", flush=True)

    is_whole = tuning_slots.run(measure, cases, slots, end) if cases else True
    print("scenes: all is measured" if is_whole else "scenes: the time is up: run the same again for the rest")


if __name__ == "__main__":
    main()
