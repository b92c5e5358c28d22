#!/usr/bin/env python3
"""Measures the cost of scoring on top of decoding: ffmpeg decodes two files alone and with each filter graph, in turns.

usage: bench/files.py [--runs N] [--json FILE] FFMPEG DISTORTED REFERENCE [GRAPH…]

  GRAPH  a filter graph of two inputs (default: vmafx=backend=cpu); FFMPEG=GRAPH runs another ffmpeg, such as one with
         libvmaf, which must decode as the first one does

Prints wall and processor time in seconds, the fastest of N runs each (default: 3), what is left of them without the
decoding, and the score line. With many threads decoding and scoring overlap, so that the wall time that is left is not
that of scoring alone.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time

DECODE = "decoding alone"


def parsed():
    parser = argparse.ArgumentParser(description="What scoring takes on top of decoding.")
    parser.add_argument("--runs", type=int, default=3, help="of each command (3)")
    parser.add_argument("--json", help="add a line of JSON for each command to this file")
    parser.add_argument("ffmpeg")
    parser.add_argument("distorted")
    parser.add_argument("reference")
    parser.add_argument("graph", nargs="*", default=["vmafx=backend=cpu"])
    return parser.parse_args()


def command(arguments, graph):
    """Returns ffmpeg's command; with the graph DECODE it only decodes, and both files go nowhere."""
    ffmpeg = arguments.ffmpeg
    if other := re.match(r"(\S*ffmpeg)=(.*)", graph):
        ffmpeg, graph = other.groups()
    outputs = ["-map", "0:v", "-map", "1:v"] if graph == DECODE else ["-lavfi", graph]
    return [
        ffmpeg,
        "-hide_banner",
        "-nostats",
        "-i",
        arguments.distorted,
        "-i",
        arguments.reference,
        *outputs,
        "-f",
        "null",
        "-",
    ]


def run(words):
    """Returns (wall time, processor time, the last score line)."""
    start, process = time.monotonic(), subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status:
        sys.exit(f"files.py: {' '.join(words)} failed:\n{said[-1000:]}")
    scores = re.findall(r"\] (\S+ score: \S+)", said)
    return wall, usage.ru_utime + usage.ru_stime, scores[-1] if scores else ""


def measured(arguments):
    """Returns {graph: (wall time, processor time, score)}, the fastest of each."""
    graphs, best = [DECODE, *arguments.graph], {}
    for _ in range(arguments.runs):
        for graph in graphs:
            wall, cpu, score = run(command(arguments, graph))
            if graph in best:
                wall, cpu = min(wall, best[graph][0]), min(cpu, best[graph][1])
            best[graph] = wall, cpu, score
    return best


def main():
    arguments = parsed()
    best = measured(arguments)
    width = max(map(len, best))
    print(f"{'':{width}} {'wall':>8} {'cpu':>8}   without decoding")
    for graph, (wall, cpu, score) in best.items():
        left = "" if graph == DECODE else f"{wall - best[DECODE][0]:8.2f} {cpu - best[DECODE][1]:8.2f}  {score}"
        print(f"{graph:{width}} {wall:8.2f} {cpu:8.2f} {left}")
    if arguments.json:
        with open(arguments.json, "a", encoding="utf-8") as file:
            for graph, (wall, cpu, score) in best.items():
                file.write(json.dumps({"graph": graph, "wall_s": wall, "cpu_s": cpu, "score": score}) + "\n")


if __name__ == "__main__":
    main()
