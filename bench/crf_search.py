#!/usr/bin/env python3
"""A search for a CRF with a reference that stays (examples/crf_search.py), and the same search with ffmpeg, which
encodes into a file and scores that file against the source in each probe. Prints wall time, processor time, the frames
of the source that were decoded, and the CRF that was found.

Needs the Python modules vmafx and av, and an ffmpeg with the filter vmafx.
"""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

top = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(top / "examples"))

import crf_search  # noqa: E402


def run(command):
    """Runs a command and returns its output."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr[-500:]}")
    return done.stdout + done.stderr


def searched_in_memory(arguments, crfs):
    """Returns (the CRF, probes, frames of the source that were decoded)."""
    options = [
        "--encoder",
        arguments.encoder,
        "--target",
        str(arguments.target),
        "--crf-range",
        ":".join(map(str, crfs)),
    ]
    said = run([sys.executable, top / "examples/crf_search.py", arguments.source, *options])
    decoded, probes = re.search(r"^decoded: (\d+) frames of the reference, \d+ of (\d+) probes$", said, re.M).groups()
    return int(re.search(r"^found: crf (\d+)", said, re.M)[1]), int(probes), int(decoded)


def searched_by_ffmpeg(arguments, crfs):
    """Returns the same for a search with ffmpeg."""
    decoded = []
    encoder = ["-c:v", arguments.encoder, "-preset", crf_search.ENCODERS[arguments.encoder].preset]
    ffmpeg = [arguments.ffmpeg, "-nostdin", "-nostats", "-v", "verbose", "-y"]

    def count(said, number):
        decoded.append(int(re.search(rf"Input stream #{number}:\d+ \(video\): .* (\d+) frames decoded", said)[1]))
        return said

    def probe(crf):
        with tempfile.TemporaryDirectory() as folder:
            encode = Path(folder) / "encode.mp4"
            count(run([*ffmpeg, "-i", arguments.source, "-an", *encoder, "-crf", str(crf), encode]), 0)
            said = count(
                run(
                    [
                        *ffmpeg,
                        "-i",
                        encode,
                        "-i",
                        arguments.source,
                        "-lavfi",
                        "[0:v][1:v]vmafx",
                        "-an",
                        "-f",
                        "null",
                        "-",
                    ]
                ),
                1,
            )
        return float(re.search(r"VMAF score: (\S+)", said)[1])

    found = crf_search.search(probe, arguments.target, *crfs)
    return found, len(decoded) // 2, sum(decoded)


def measured(name, search, *arguments):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    found, probes, decoded = search(*arguments)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{name:10} {wall:8.1f} s wall {processor:8.1f} s processor {decoded:6} frames decoded, {probes} probes: crf "
        f"{found}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--target", type=float, default=95)
    parser.add_argument("--encoder", choices=crf_search.ENCODERS, default="libx264", help="(default %(default)s)")
    parser.add_argument("--crf-range", type=crf_search.crf_range, metavar="FIRST:LAST", help="default: the encoder's")
    parser.add_argument(
        "--ffmpeg", default=top / "build/bin/ffmpeg", help="with the filter vmafx (default %(default)s)"
    )
    parser.add_argument("--runs", type=int, default=3, help="of each, in turns (default %(default)s)")
    arguments = parser.parse_args()
    crfs = arguments.crf_range or crf_search.ENCODERS[arguments.encoder].crf_range
    for _ in range(arguments.runs):
        measured("in memory", searched_in_memory, arguments, crfs)
        measured("by ffmpeg", searched_by_ffmpeg, arguments, crfs)


if __name__ == "__main__":
    main()
